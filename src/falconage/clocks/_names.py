"""Names people type → ids; a name in use for several clocks is refused, never guessed."""

from __future__ import annotations

import difflib
import warnings
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from falconage._errors import AmbiguousClockError, FalconageWarning, InputError, UnknownClockError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from falconage.clocks._clock import Clock

__all__ = ["resolve_names"]


class _Index(NamedTuple):
    clocks: Sequence[Clock]
    ids: dict[str, str]
    ambiguous: dict[str, Mapping[str, str]]


def resolve_names(names: Iterable[str], clocks: Sequence[Clock], ambiguous: Iterable[Mapping[str, str]]) -> list[str]:
    """Turn names into ids, each once, in the order asked for.

    Parameters
    ----------
    names
        Ids, aliases, wildcards, groups or ``"all"``.
    clocks
        The catalogue.
    ambiguous
        Rows with name, kind (``refuse`` or ``notice``), candidates and reason.

    Raises
    ------
    UnknownClockError, AmbiguousClockError
        After all names were looked at; the message has a line for each that failed.
    """
    index = _index(clocks, ambiguous)
    found: dict[str, None] = {}
    failed: list[UnknownClockError] = []
    for name in [names] if isinstance(names, str) else names:
        try:
            found.update(dict.fromkeys(_resolve(name, index)))
        except UnknownClockError as error:
            failed.append(error)
    if failed:
        only_ambiguous = all(isinstance(error, AmbiguousClockError) for error in failed)
        raise (AmbiguousClockError if only_ambiguous else UnknownClockError)("\n".join(map(str, failed)))
    return list(found)


def _index(clocks: Sequence[Clock], ambiguous: Iterable[Mapping[str, str]]) -> _Index:
    ids = {name.lower(): clock.id for clock in clocks for name in (clock.id, *clock.aliases)}
    return _Index(clocks, ids, {row["name"]: row for row in ambiguous})


def _resolve(name: str, index: _Index) -> list[str]:
    if not isinstance(name, str):
        msg = f"a clock is named by text, got {type(name).__name__} {name!r}"
        raise InputError(msg)
    key = name.strip().lower()
    if key == "all":
        return [c.id for c in index.clocks if c.status == "shipped" and not c.cohort_dependent]
    if key.startswith("@"):
        return _group(key[1:], index)
    if any(mark in key for mark in "*?["):
        return _several([c for c in index.clocks if fnmatchcase(c.id, key)], f"no clock id matches {name!r}")
    for known in (key, key.removeprefix("calc")):
        row = index.ambiguous.get(known)
        if row is not None and row["kind"] == "refuse":
            raise AmbiguousClockError(_ambiguity(name, row))
        if known in index.ids:
            if row is not None:
                warnings.warn(row["reason"], FalconageWarning, stacklevel=5)
            return [index.ids[known]]
    raise UnknownClockError(_unknown(name, key, index))


def _group(group: str, index: _Index) -> list[str]:
    groups = dict.fromkeys(c.group for c in index.clocks if c.group)
    return _several(
        [c for c in index.clocks if c.group == group],
        f"no group '@{group}'; the groups are {', '.join('@' + g for g in groups)}",
    )


def _several(clocks: list[Clock], nothing: str) -> list[str]:
    if not clocks:
        raise UnknownClockError(nothing)
    return [c.id for c in clocks if c.status == "shipped"] or [c.id for c in clocks]


def _ambiguity(name: str, row: Mapping[str, str]) -> str:
    candidates = row["candidates"].replace(";", ", ")
    return f"{name!r} is in use for several things ({row['reason']}): type one of {candidates}"


def _unknown(name: str, key: str, index: _Index) -> str:
    near = [word for word in index.ids if len(key) > 3 and key in word]
    near += difflib.get_close_matches(key, index.ids, n=3, cutoff=0.6)
    ids = list(dict.fromkeys(index.ids[word] for word in near))[:3]
    hint = f"did you mean {', '.join(ids)}?" if ids else "falconage.clocks.search() lists them"
    return f"no clock is called {name!r}; {hint}"
