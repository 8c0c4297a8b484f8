"""The exceptions and warnings a user can catch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
]


class FalconageError(Exception):
    """Base of every error falconage raises on purpose."""


class InputError(FalconageError, ValueError):
    """An argument or the data cannot be used; the message says what to type instead."""


class UnknownClockError(FalconageError, LookupError):
    """No clock has this name."""


class AmbiguousClockError(UnknownClockError):
    """The name is in use for several clocks."""


class RefusedError(FalconageError, ValueError):
    """A clock that was asked for cannot be computed on these data.

    Attributes
    ----------
    reasons
        Clock id → the reason, as a sentence.
    """

    def __init__(self, message: str, reasons: Mapping[str, str]) -> None:
        super().__init__(message)
        self.reasons = dict(reasons)


class DeviceError(FalconageError, RuntimeError):
    """The device asked for is not there or cannot be used."""


class FalconageWarning(UserWarning):
    """Base of every warning falconage gives."""


class CoverageWarning(FalconageWarning):
    """Part of a clock's features was not measured."""


class MismatchWarning(FalconageWarning):
    """A clock is used outside the tissue or the ages it was made for."""


class CovariateWarning(FalconageWarning):
    """Age, sex or species is missing or was interpreted."""
