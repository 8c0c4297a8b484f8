"""Biological-age scores on AnnData: many clocks in one pass, every number with its coverage and provenance."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._errors import (
    AmbiguousClockError,
    CovariateWarning,
    CoverageWarning,
    DeviceError,
    FalconageError,
    FalconageWarning,
    InputError,
    MismatchWarning,
    RefusedError,
    UnknownClockError,
)
from ._settings import settings

if TYPE_CHECKING:
    from . import clocks, datasets, get, io, pl, pp, tl

__all__ = [
    "AmbiguousClockError",
    "CovariateWarning",
    "CoverageWarning",
    "DeviceError",
    "FalconageError",
    "FalconageWarning",
    "InputError",
    "MismatchWarning",
    "RefusedError",
    "UnknownClockError",
    "__version__",
    "clocks",
    "datasets",
    "get",
    "io",
    "pl",
    "pp",
    "settings",
    "tl",
]

__version__ = "0.1.0"

_ROOMS = frozenset({"clocks", "datasets", "get", "io", "pl", "pp", "tl"})


def __getattr__(name: str) -> Any:
    """Import a room when it is first used, which keeps ``import falconage`` and the command line quick."""
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
