"""The text of the column ``fills``: how many cells were filled from where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["read_fills", "write_fills"]


def read_fills(texts: Iterable[Any]) -> dict[str, int]:
    """Sum ``"ref450k 12, sample_median 3"`` of several clocks or objects by source; what is not text is empty."""
    total: dict[str, int] = {}
    for text in texts:
        for entry in text.split(", ") if isinstance(text, str) and text else ():
            source, _, count = entry.rpartition(" ")
            total[source] = total.get(source, 0) + int(count)
    return total


def write_fills(fills: Mapping[str, int]) -> str:
    """Write what :func:`read_fills` reads."""
    return ", ".join(f"{source} {n}" for source, n in fills.items())
