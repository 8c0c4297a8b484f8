"""Fixtures and options every test can use."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("local", deadline=None, max_examples=50)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--network", action="store_true", help="also run the tests that use the package index")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what this machine cannot run, and say why."""
    reasons = {}
    if not (config.getoption("--network") or os.environ.get("FALCONAGE_NETWORK") == "1"):
        reasons["network"] = "uses the package index: give --network or set FALCONAGE_NETWORK=1"
    if find_spec("torch") is None:
        reasons["torch"] = "torch is not installed"
    for item in items:
        for mark, reason in reasons.items():
            if mark in item.keywords:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def oracles() -> Path:
    """The folder of expected values from outside, which lies beside the checkout where there is one."""
    path = ROOT.parent / "shared" / "oracles"
    if not path.is_dir():
        pytest.skip(f"no folder of outside truth at {path}")
    return path


@pytest.fixture
def rng() -> np.random.Generator:
    """A random generator with a fixed seed."""
    return np.random.default_rng(20260101)
