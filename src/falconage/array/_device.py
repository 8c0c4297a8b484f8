"""Which device and number type a call uses."""

from __future__ import annotations

from typing import Literal, NamedTuple

from falconage._errors import DeviceError, InputError
from falconage._settings import settings

__all__ = ["Device", "available", "check_dtype", "resolve"]


class Device(NamedTuple):
    """Where the arithmetic runs: as asked for, and as used."""

    requested: str
    used: Literal["cpu"]


def resolve(device: str | None) -> Device:
    """Turn ``"auto"`` or ``"cpu"`` into a device; never a silent move to another one."""
    asked = settings.device if device is None or device == "auto" else device
    if asked in ("auto", "cpu"):
        return Device(asked, "cpu")
    if not isinstance(asked, str):
        msg = f"device={asked!r} is a {type(asked).__name__}; expected 'auto' or 'cpu'."
        raise DeviceError(msg)
    if asked == "cuda" or asked.startswith("cuda:"):
        msg = f"device={asked!r}: this version computes on the CPU only. Type device='cpu' or device='auto'."
        raise DeviceError(msg)
    msg = f"device={asked!r} is not known; expected 'auto' or 'cpu'."
    raise DeviceError(msg)


def check_dtype(dtype: str | None) -> str:
    """The type of the accumulators. Linear clocks are always summed in float64."""
    if dtype in (None, "float64"):
        return "float64"
    if dtype == "float32":
        return "float64"
    msg = f"dtype={dtype!r} is not known; expected None, 'float32' or 'float64'."
    raise InputError(msg)


def available() -> list[str]:
    """Devices a call can name now."""
    return ["cpu"]
