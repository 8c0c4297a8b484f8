"""Find scores, and the record that belongs to them, in an AnnData."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage._keys import BOUND_SUFFIX, COVERAGE_SUFFIX, ROOT

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["companion", "record", "scores"]


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
