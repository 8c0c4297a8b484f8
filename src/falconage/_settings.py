"""Choices that hold for a whole session: ``fa.settings``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Settings", "settings"]


def _from_env(name: str, default: str) -> str:
    return os.environ.get(f"FALCONAGE_{name}", default)


def _cache_dir() -> Path:
    if given := os.environ.get("FALCONAGE_CACHE"):
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("falconage")


@dataclass(slots=True)
class Settings:
    """Defaults of every call; each can be set here, by an argument, or by a ``FALCONAGE_*`` variable.

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

    Examples
    --------
    >>> import falconage as fa
    >>> fa.settings.device
    'auto'
    """

    device: str = field(default_factory=lambda: _from_env("DEVICE", "auto"))
    batch_size: int = field(default_factory=lambda: int(_from_env("BATCH_SIZE", "0")))
    progress: str = field(default_factory=lambda: _from_env("PROGRESS", "auto"))
    cache_dir: Path = field(default_factory=_cache_dir)


settings = Settings()
