"""The defaults of a session: from the environment, by assignment, and what neither may hold."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest

import falconage as fa
from falconage._settings import Settings

VARIABLES = ("FALCONAGE_DEVICE", "FALCONAGE_BATCH_SIZE", "FALCONAGE_PROGRESS", "FALCONAGE_CACHE")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the machine that runs the tests."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def test_defaults():
    settings = Settings()
    assert (settings.device, settings.batch_size, settings.progress) == ("auto", 0, "auto")
    assert "falconage" in settings.cache_dir.parts
    assert repr(settings).startswith("Settings(device='auto', batch_size=0, progress='auto', cache_dir=")


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_variable_is_none(monkeypatch, empty):
    for variable in VARIABLES:
        monkeypatch.setenv(variable, empty)
    test_defaults()


def test_variables(monkeypatch):
    for variable, value in zip(VARIABLES, ("cpu", "500", "off", "/some/where"), strict=True):
        monkeypatch.setenv(variable, value)
    settings = Settings()
    assert (settings.device, settings.batch_size, settings.progress) == ("cpu", 500, "off")
    assert settings.cache_dir == Path("/some/where")


def test_assignment_goes_before_variables(monkeypatch):
    monkeypatch.setenv("FALCONAGE_BATCH_SIZE", "abc")
    settings = Settings()
    settings.batch_size = 7
    settings.cache_dir = "/some/where"  # type: ignore[assignment]
    assert (settings.batch_size, settings.cache_dir) == (7, Path("/some/where"))
    assert copy.copy(settings).batch_size == 7


@pytest.mark.parametrize("value", ["abc", "1.5", "-1", "1e3"])
def test_a_wrong_batch_size_in_the_environment(monkeypatch, value):
    monkeypatch.setenv("FALCONAGE_BATCH_SIZE", value)
    with pytest.raises(fa.InputError, match=rf"^FALCONAGE_BATCH_SIZE={value}: .* Type FALCONAGE_BATCH_SIZE=1000\.$"):
        _ = Settings().batch_size


def test_a_wrong_progress_in_the_environment(monkeypatch):
    monkeypatch.setenv("FALCONAGE_PROGRESS", "yes")
    with pytest.raises(fa.InputError, match=r"^FALCONAGE_PROGRESS=yes: expected one of auto, on, off\. Type FALC"):
        _ = Settings().progress


@pytest.mark.parametrize(
    ("name", "value"), [("batch_size", "many"), ("batch_size", -1), ("batch_size", 1.5), ("batch_size", True),
                        ("batch_size", None), ("batch_size", float("nan")), ("progress", True), ("progress", "loud")]
)  # fmt: skip
def test_wrong_values_are_refused_at_once(name, value):
    settings = Settings()
    with pytest.raises(fa.InputError, match=rf"^settings\.{name} = {value!r}: expected .* Type settings\.{name} = "):
        setattr(settings, name, value)
    assert getattr(settings, name) in (0, "auto")


def test_there_are_no_others():
    with pytest.raises(AttributeError, match="the settings are device, batch_size, progress, cache_dir; there is no"):
        _ = fa.settings.bath_size
    with pytest.raises(AttributeError):
        fa.settings.bath_size = 3


@pytest.mark.parametrize("command", [["info"], ["score", "toy"]])
@pytest.mark.parametrize("variable", ["FALCONAGE_BATCH_SIZE", "FALCONAGE_PROGRESS"])
def test_on_the_command_line(tmp_path, command, variable):
    done = subprocess.run(
        [sys.executable, "-m", "falconage", *command],
        env={**os.environ, variable: "abc"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"falconage: error: {variable}=abc: expected ")
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
