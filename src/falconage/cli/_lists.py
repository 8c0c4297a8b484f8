"""``falconage clocks`` and ``falconage info``."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from falconage._text import number
from falconage.cli._parser import falconage_version
from falconage.cli._text import aligned

if TYPE_CHECKING:
    from argparse import Namespace

__all__ = ["clocks", "info"]

_COLUMNS = {
    "clock": "id",
    "group": "group",
    "unit": "unit",
    "species": "species",
    "tissue": "tissue",
    "features": "n_features",
    "status": "status",
}
_WIDEST = 36
_PACKAGES = ("anndata", "numpy", "scipy", "pandas", "pyarrow", "numba", "zarr", "scanpy", "torch")


def clocks(args: Namespace) -> None:
    """Print the clocks that contain all words."""
    from falconage.clocks import search

    words = " ".join(args.words)
    found = search(words).reset_index()
    if len(found) == 0:
        print(f"falconage: no clock contains all of: {words}", file=sys.stderr)
        return
    rows = found[list(_COLUMNS.values())].astype(object).where(found[list(_COLUMNS.values())].notna(), "")
    cells = [[_short(str(cell)) for cell in row] for row in rows.itertuples(index=False)]
    print("\n".join(aligned(list(_COLUMNS), cells, right=["features"])))
    print(
        f"falconage: {number(len(found), 'clock')}, {int((found['status'] == 'shipped').sum())} shipped",
        file=sys.stderr,
    )


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def info(_args: Namespace) -> None:
    """Print versions, devices, settings and folders."""
    from falconage import settings
    from falconage.array._device import available
    from falconage.clocks import table

    frame = table()
    shipped = frame.loc[frame["status"] == "shipped", "group"].value_counts()
    lines = [
        ("falconage", falconage_version()),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        ("system", platform.platform()),
        *((name, _version(name)) for name in _PACKAGES),
        ("devices", f"{', '.join(available())} ({os.cpu_count()} cores)"),
        ("shipped scores", ", ".join(f"{group} {count}" for group, count in shipped.items())),
        ("device setting", settings.device),
        ("batch size", str(settings.batch_size) if settings.batch_size else "by size"),
        ("progress", settings.progress),
        ("cache folder", str(settings.cache_dir)),
    ]
    width = max(len(name) for name, _ in lines)
    print("\n".join(f"{name:<{width}}  {value}" for name, value in lines))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
