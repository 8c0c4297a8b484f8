"""Tables for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["aligned", "number", "share"]


def aligned(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> list[str]:
    """Lines of a table with columns of equal width; those named in ``right`` are set to the right."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = [">" if name in right else "<" for name in header]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in table
    ]


def number(value: float) -> str:
    """Two decimals from 10 upwards, four below, powers of ten for the very small."""
    if math.isnan(value):
        return "NaN"
    size = abs(value)
    return f"{value:.2f}" if size >= 10 else f"{value:.4f}" if size >= 1e-3 or size == 0 else f"{value:.2e}"


def share(value: float) -> str:
    """Three decimals; 1.000 only where nothing is missing."""
    return "NaN" if math.isnan(value) else f"{value if value == 1 else min(value, 0.999):.3f}"
