"""Find scores, and the record that belongs to them, in an AnnData."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import FalconageWarning, InputError, UnknownClockError
from falconage._keys import BOUND_SUFFIX, COVERAGE_SUFFIX, ROOT

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["companion", "names", "record", "scores"]


def scores(adata: AnnData, key: str) -> pd.DataFrame:
    """Return ``obsm[key]`` as it lies there, n_obs × n_scores; change it and you change the object.

    Raises
    ------
    InputError
        There is no data frame of that name; the message lists those there are.
    """
    if not hasattr(adata, "obsm"):
        msg = f"Expected an AnnData with scores, got {type(adata).__name__}. Type fa.tl.score_clocks(adata) first."
        raise InputError(msg)
    if not isinstance(key, str):
        msg = f"key={key!r}; expected the key_added of the scores, as in key='clock_scores'."
        raise InputError(msg)
    found = adata.obsm.get(key)
    if isinstance(found, pd.DataFrame):
        return found
    got = "is missing" if found is None else f"is a {type(found).__name__}, not a DataFrame of scores"
    msg = f"adata.obsm[{key!r}] {got}. {_advice(adata)}"
    raise InputError(msg)


def record(adata: AnnData, key: str) -> Mapping[str, Any]:
    """Return the manifest of ``obsm[key]`` as it lies in ``uns``.

    Raises
    ------
    InputError
        There are no such scores, or they lost their manifest.
    """
    scores(adata, key)
    found = _records(adata).get(key)
    if isinstance(found, Mapping) and isinstance(found.get("clocks"), pd.DataFrame):
        return found
    msg = (
        f"adata.uns[{ROOT!r}]['scores'] has no record of {key!r}: something dropped it (anndata.concat does, by "
        f"default). Join objects with fa.get.combine([a, b]) instead, or score again: fa.tl.score_clocks(adata)."
    )
    raise InputError(msg)


def companion(adata: AnnData, key: str, suffix: str) -> pd.DataFrame:
    """Return the array beside the scores (coverage, bound) with the labels of the scores, as a copy.

    Raises
    ------
    InputError
        It is not there, or its shape is not that of the scores.
    """
    frame = scores(adata, key)
    found = adata.obsm.get(key + suffix)
    if found is None or np.shape(found) != frame.shape:
        got = "is missing" if found is None else f"has shape {np.shape(found)}, the scores {frame.shape}"
        msg = f"adata.obsm[{key + suffix!r}] {got}. Score again: fa.tl.score_clocks(adata, key_added={key!r})."
        raise InputError(msg)
    return pd.DataFrame(np.array(found), index=frame.index.copy(), columns=frame.columns.copy())


def names(adata: AnnData, key: str, asked: str | Iterable[str]) -> list[str]:
    """Turn names of clocks into columns of ``obsm[key]``, each once, in the order asked for.

    Parameters
    ----------
    adata, key
        Where the scores are.
    asked
        Columns, or what the catalogue resolves to them: aliases; wildcards, groups and ``"all"`` stand for those
        of their clocks that have scores.

    Raises
    ------
    UnknownClockError, AmbiguousClockError
        A name is neither a column nor in the catalogue.
    InputError
        A clock has no scores here, or no clock was named.
    """
    columns = list(map(str, scores(adata, key).columns))
    if not isinstance(asked, Iterable):
        msg = f"clocks={asked!r}; expected a name or a list of names, as in clocks=['horvath2013']."
        raise InputError(msg)
    listed = [asked] if isinstance(asked, str) else list(asked)
    if not listed:
        msg = f"clocks is empty. Type one or more of {', '.join(columns)}; None takes all."
        raise InputError(msg)
    found = [column for name in listed for column in ([name] if name in columns else _resolve(name, columns))]
    if unscored := [column for column in dict.fromkeys(found) if column not in columns]:
        shown = ", ".join(map(repr, unscored[:5])) + (f" and {len(unscored) - 5} more" if len(unscored) > 5 else "")
        msg = (
            f"No scores of {shown} in obsm[{key!r}]; it has {', '.join(columns)}. "
            f"Type one of these, or fa.tl.score_clocks(adata, {unscored[:5]!r}) first."
        )
        raise InputError(msg)
    return list(dict.fromkeys(found))


def _resolve(name: str, columns: list[str]) -> list[str]:
    """Ask the catalogue; its notices were given when the clock was scored."""
    from falconage.clocks._catalog import resolve

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FalconageWarning)
            ids = resolve([name])
    except UnknownClockError as error:
        msg = f"{error}. The scores here: {', '.join(columns)}"
        raise type(error)(msg) from error
    return [clock for clock in ids if clock in columns] or ids


def _records(adata: AnnData) -> Mapping[str, Any]:
    room = adata.uns.get(ROOT, {})
    found = room.get("scores", {}) if isinstance(room, Mapping) else {}
    return found if isinstance(found, Mapping) else {}


def _advice(adata: AnnData) -> str:
    beside = (COVERAGE_SUFFIX, BOUND_SUFFIX)
    known = [k for k, v in adata.obsm.items() if isinstance(v, pd.DataFrame) and not k.endswith(beside)]
    scored = [k for k in known if k in _records(adata) or k + COVERAGE_SUFFIX in adata.obsm]
    if scored:
        return f"Scores are under {', '.join(map(repr, scored))}: type key={scored[0]!r}."
    return "This object holds no scores: type fa.tl.score_clocks(adata) first."
