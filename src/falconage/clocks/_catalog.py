"""The catalogue: names → clocks, with the weights that are in the package."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, cast

import pandas as pd

from falconage._errors import InputError
from falconage.clocks._clock import Clock
from falconage.clocks._names import resolve_names
from falconage.clocks._scales import check_unit
from falconage.clocks._store import read_rows, reference_450k, species_table, terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from falconage.clocks._clock import Status

__all__ = [
    "by_id",
    "facts",
    "get",
    "load",
    "reference_450k",
    "resolve",
    "search",
    "species_table",
    "table",
]

_SEARCHED = ("id", "name", "aliases", "group", "tissue", "species", "target", "unit", "doi", "modality")


@cache
def facts() -> tuple[Clock, ...]:
    """Return every clock of the catalogue, without weights, in catalogue order."""
    return tuple(_clock(row) for row in read_rows("catalog.tsv"))


@cache
def by_id() -> dict[str, Clock]:
    """Return the clocks of :func:`facts` by id."""
    return {clock.id: clock for clock in facts()}


def get(name: str) -> Clock:
    """Look a clock up by its name.

    Parameters
    ----------
    name
        An id or an alias, in upper or lower case: the names of methylclock, methylCIPHER, biolearn and pyaging work.

    Returns
    -------
    The clock, with weights where they are in the package (:attr:`~falconage.clocks.Clock.status` says so).

    Raises
    ------
    UnknownClockError
        No clock has the name; the message lists the nearest.
    AmbiguousClockError
        The name is in use for several clocks; the message lists them.
    InputError
        The name stands for several clocks (a wildcard or a group).

    Examples
    --------
    >>> import falconage as fa
    >>> fa.clocks.get("Horvath1")
    Clock('horvath2013', 'Horvath pan-tissue clock', 353 features, unit 'years', shipped)
    """
    ids = resolve([name])
    if len(ids) != 1:
        msg = f"{name!r} stands for {len(ids)} clocks; give one name, or list them with falconage.clocks.search()"
        raise InputError(msg)
    return load(ids)[0]


def resolve(names: Sequence[str]) -> list[str]:
    """Turn names into ids.

    Parameters
    ----------
    names
        Ids, aliases, wildcards (``"ying_*"``), groups (``"@age"``, ``"@mitotic"``) or ``"all"``. Wildcards and groups
        stand for the clocks that can be scored; for every match where none can, so that the reasons show.

    Returns
    -------
    Ids in the order asked for, each once.

    Raises
    ------
    UnknownClockError, AmbiguousClockError
        One error that lists every name without a clock.
    """
    return resolve_names(names, facts(), read_rows("ambiguous.tsv"))


def load(ids: Sequence[str]) -> list[Clock]:
    """Return clocks by id with their weights (none where the package has none), in the order asked for."""
    return [_loaded(clock) for clock in ids]


def table() -> pd.DataFrame:
    """Show every clock of the catalogue, one row each.

    Returns
    -------
    One column per fact (unit, scale, tissue, form, status and its reason, licence, …), index ``id``.

    Examples
    --------
    >>> import falconage as fa
    >>> int((fa.clocks.table()["status"] == "shipped").sum()) > 100
    True
    """
    rows = [{name: _cell(getattr(clock, name)) for name in _FACTS} for clock in facts()]
    frame = pd.DataFrame(rows, columns=_FACTS).set_index("id")
    return frame.astype({"year": "Int64", "n_features": "Int64"})


def search(query: str) -> pd.DataFrame:
    """Find clocks by words over id, name, aliases, group, tissue, species, target, unit, DOI and modality.

    Parameters
    ----------
    query
        Words in any order and case; a clock must contain all of them.

    Returns
    -------
    The matching rows of :func:`table`.

    Examples
    --------
    >>> import falconage as fa
    >>> "zhang2017_mortality10" in fa.clocks.search("blood mortality").index
    True
    """
    frame = table()
    words = query.lower().split()
    text = frame.reset_index()[list(_SEARCHED)].agg(" ".join, axis="columns").str.lower()
    return frame[[all(word in line for word in words) for line in text]]


def _clock(row: dict[str, str]) -> Clock:
    if row["scale"]:
        check_unit(row["scale"], row["unit"])
    return Clock(**{name: _READERS.get(name, str)(row[name]) for name in _FACTS})  # type: ignore[arg-type]


def _number(text: str) -> float:
    return float(text) if text else float("nan")


def _count(text: str) -> int | None:
    return int(text) if text else None


def _yes(text: str) -> bool:
    return text == "yes"


def _split(separator: str) -> Callable[[str], tuple[str, ...]]:
    return lambda text: tuple(part.strip() for part in text.split(separator)) if text else ()


_FACTS = [field.name for field in fields(Clock) if field.name != "terms"]
_READERS: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("year", "n_features"), _count),
    **dict.fromkeys(("core", "cohort_dependent", "age_range_confirmed"), _yes),
    **dict.fromkeys(("age_min", "age_max", "author_floor"), _number),
    **dict.fromkeys(("species", "covariates", "aliases"), _split(";")),
    "missing": _split(">"),
    "status": lambda text: cast("Status", text),
}


def _cell(value: object) -> object:
    return ", ".join(value) if isinstance(value, tuple) else value


@cache
def _loaded(clock: str) -> Clock:
    return replace(by_id()[clock], terms=terms_of(clock))
