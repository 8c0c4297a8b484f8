"""Choices that hold for a whole session: ``fa.settings``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from falconage._errors import InputError

__all__ = ["Settings", "settings"]

_VARIABLES = {
    "device": "FALCONAGE_DEVICE",
    "batch_size": "FALCONAGE_BATCH_SIZE",
    "progress": "FALCONAGE_PROGRESS",
    "cache_dir": "FALCONAGE_CACHE",
}
_PROGRESS = ("auto", "on", "off")


class Settings:
    """Defaults of a session.

    Each can be set here or by a ``FALCONAGE_*`` variable, which is read when the value is first needed. ``device``,
    ``batch_size`` and ``progress`` can also be given as arguments of a call, which go before these.

    Attributes
    ----------
    device
        ``"auto"`` or ``"cpu"`` (``FALCONAGE_DEVICE``).
    batch_size
        Rows a block of a matrix that is not read in one piece; 0 = chosen by size (``FALCONAGE_BATCH_SIZE``).
    progress
        ``"auto"`` shows a bar when a run is long and standard error is a terminal; ``"on"``, ``"off"``
        (``FALCONAGE_PROGRESS``).
    cache_dir
        Folder for files that are fetched once (``FALCONAGE_CACHE``).

    Raises
    ------
    InputError
        A value is set, or a variable read, that cannot be used.

    Examples
    --------
    >>> import falconage as fa
    >>> fa.settings.device
    'auto'
    """

    __slots__ = tuple(_VARIABLES)
    device: str
    batch_size: int
    progress: str
    cache_dir: Path

    def __getattr__(self, name: str) -> Any:
        """Read what was not set yet: an error at import could not be caught, nor shown as one line."""
        if name not in _VARIABLES:
            msg = f"the settings are {', '.join(_VARIABLES)}; there is no {name!r}"
            raise AttributeError(msg)
        variable = _VARIABLES[name]
        given = os.environ.get(variable, "").strip()
        setattr(self, name, _checked(name, given, f"{variable}={given}", variable) if given else _default(name))
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        source = f"settings.{name} = {value!r}"
        object.__setattr__(self, name, _checked(name, value, source, f"settings.{name}"))

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={getattr(self, name)!r}' for name in _VARIABLES)})"


def _default(name: str) -> Any:
    if name == "cache_dir":
        from platformdirs import user_cache_path

        return user_cache_path("falconage")
    return {"device": "auto", "batch_size": 0, "progress": "auto"}[name]


def _checked(name: str, value: Any, source: str, where: str) -> Any:
    """The value in its type; ``source`` is what was typed and ``where`` it can be typed again, for the message."""
    if name == "batch_size":
        return _rows(value, source, where)
    if name == "progress" and value not in _PROGRESS:
        msg = f"{source}: expected one of {', '.join(_PROGRESS)}. Type {_again(where, 'auto')}."
        raise InputError(msg)
    return Path(value) if name == "cache_dir" else value


def _rows(value: Any, source: str, where: str) -> int:
    try:
        rows = -1 if isinstance(value, bool) else int(value)
    except (TypeError, ValueError):
        rows = -1
    if rows < 0 or (isinstance(value, float) and rows != value):
        msg = f"{source}: expected a number of rows, 0 for a choice by size. Type {_again(where, 1000)}."
        raise InputError(msg)
    return rows


def _again(where: str, value: str | int) -> str:
    return f"{where} = {value!r}" if where.startswith("settings") else f"{where}={value}"


settings = Settings()
