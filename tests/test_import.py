"""What `import falconage` costs and shows."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

import falconage as fa

HEAVY = {"annbatch", "cupy", "cupyx", "dask", "matplotlib", "numba", "pooch", "scanpy", "sklearn", "torch"}
ROOMS = ("clocks", "datasets", "get", "io", "pl", "pp", "tl")


def loaded_by(code: str) -> set[str]:
    """Top-level modules in memory after `code`, in a fresh interpreter."""
    report = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def with_anndata() -> set[str]:
    return loaded_by("import anndata")


def test_import_adds_nothing_heavy(with_anndata: set[str]) -> None:
    added = loaded_by("import anndata, falconage") - with_anndata
    assert not added & HEAVY


def test_rooms_add_nothing_heavy(with_anndata: set[str]) -> None:
    touch = ", ".join(f"fa.{room}" for room in ROOMS)
    added = loaded_by(f"import anndata, falconage as fa\n{touch}") - with_anndata
    assert not added & HEAVY


def test_every_public_name_is_there() -> None:
    assert set(fa.__all__) <= set(dir(fa))
    for name in fa.__all__:
        assert getattr(fa, name) is not None


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_keep_their_promises(room: str) -> None:
    module = getattr(fa, room)
    missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
    assert not missing
    assert module.__doc__


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = fa.nonsense


def test_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?[a-z]+\d*)?", fa.__version__)
    try:
        installed = version("falconage")
    except PackageNotFoundError:
        pytest.skip("falconage is on the path but not installed")
    assert fa.__version__ == installed
