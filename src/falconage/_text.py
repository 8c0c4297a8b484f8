"""Words as people write them, and lists as messages show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["UNKNOWN", "few", "number", "plain_word"]

UNKNOWN = frozenset(
    {"", "nan", "na", "n/a", "none", "unknown", "unk", "u", "not available", "not known", "missing", "?", "<na>", "-"}
)
"""What stands for a missing word in tables, in lower case."""

_SHOWN = 4


def plain_word(value: object) -> str:
    """Lower case, single blanks, underscores as blanks; what stands for missing becomes ``""``."""
    text = " ".join(str(value).strip().lower().replace("_", " ").split())
    return "" if text in UNKNOWN else text


def few(items: Sequence[str]) -> str:
    """The first four items, and how many more there are."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def number(count: int, noun: str, verb: tuple[str, str] = ("", "")) -> str:
    """Count and noun with the right ending, e.g. ``"1 clock is"``, ``"3 clocks are"``."""
    one = count == 1
    text = f"{count} {noun if one else noun + 's'}"
    return f"{text} {verb[0 if one else 1]}".rstrip()
