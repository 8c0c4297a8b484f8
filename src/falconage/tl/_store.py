"""Put finished scores beside those of earlier calls, and write them with their record."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from falconage import _adata
from falconage._errors import FalconageWarning
from falconage._keys import BOUND_SUFFIX, COVERAGE_SUFFIX
from falconage._text import number
from falconage.tl._record import hash_array, make_record, merge_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData
    from numpy.typing import NDArray

    from falconage.array._device import Device
    from falconage.tl._plan import Plan
    from falconage.tl._run import Result

__all__ = ["store_scores"]


class _Before(NamedTuple):
    """What an earlier call left under the same key and this one does not replace."""

    scores: pd.DataFrame
    beside: dict[str, NDArray[Any]]
    record: Mapping[str, Any]


def _before(adata: AnnData, key: str, fresh: list[str]) -> _Before | None:
    """Scores of other clocks, with their coverage, bound and record; None unless all of them are there."""
    scores, record = adata.obsm.get(key), _adata.room(adata, "scores").get(key)
    if not isinstance(scores, pd.DataFrame) or not record:
        return None
    stay = ~scores.columns.isin(fresh)
    if not stay.any():
        return None
    beside = {}
    for suffix in (COVERAGE_SUFFIX, BOUND_SUFFIX):
        values = adata.obsm.get(key + suffix)
        if values is None or np.shape(values) != scores.shape:
            return None
        beside[suffix] = np.asarray(values)[:, stay]
    return _Before(scores.loc[:, stay], beside, record)


def store_scores(
    adata: AnnData,
    plan: Plan,
    result: Result,
    device: Device,
    *,
    params: Mapping[str, Any],
    described: Mapping[str, Any],
    key: str,
    to_obs: bool | None,
    stacklevel: int,
) -> None:
    """Warn once a kind, then write scores, coverage, bound, manifest and columns of obs."""
    ids = [c.id for c in plan.clocks]
    scores = pd.DataFrame(result.block.scores, index=adata.obs_names, columns=pd.Index(ids, dtype=object))
    beside = {COVERAGE_SUFFIX: result.block.coverage, BOUND_SUFFIX: result.block.bound}
    earlier = list(map(str, _adata.room(adata, "scores").get(key, {}).get("obs_columns", [])))
    asked = [i for i in ids if to_obs or (to_obs is None and i in plan.request.named)]
    # A column that an earlier call wrote is kept true to the scores.
    stale = [i for i in earlier if i in ids and i in adata.obs.columns]
    to_store = {i: result.block.scores[:, ids.index(i)] for i in dict.fromkeys([*asked, *stale])}
    before = _before(adata, key, ids)
    if before is not None:
        scores = pd.concat([before.scores, scores], axis=1)
        scores.columns = pd.Index([*before.scores.columns, *ids], dtype=object)
        beside = {suffix: np.hstack([before.beside[suffix], values]) for suffix, values in beside.items()}
    notes = [*plan.warnings, *result.warnings, *_notes(adata, plan, [i for i in asked if i not in earlier])]
    record = make_record(plan, result, device, params=params, described=described, warnings=[t for _, t in notes])
    record["output"] = {"scores_sha256": hash_array(scores.to_numpy()), "scores": list(map(str, scores.columns))}
    record["obs_columns"] = list(dict.fromkeys([*(i for i in earlier if i in scores.columns), *asked]))
    record = merge_records({} if before is None else before.record, record, list(map(str, scores.columns)))
    for category, text in notes:
        warnings.warn(text, category, stacklevel=stacklevel + 1)
    _adata.actualise(adata)
    obsm: dict[str, Any] = {key: scores, **{key + suffix: values for suffix, values in beside.items()}}
    _adata.store(adata, obsm=obsm, obs=to_store, room_name="scores", key=key, record=record)


def _notes(adata: AnnData, plan: Plan, new_columns: list[str]) -> list[tuple[type[Warning], str]]:
    notes: list[tuple[type[Warning], str]] = []
    refused = {i: r for i, r in plan.refused.items() if i in plan.request.named}
    if refused:
        lines = "; ".join(f"{i}: {r}" for i, r in refused.items())
        who = number(len(refused), "named clock", ("was", "were"))
        notes.append((FalconageWarning, f"{who} not computed: {lines}"))
    taken = [i for i in new_columns if i in adata.obs.columns]
    if taken:
        notes.append((FalconageWarning, f"columns of obs are replaced by scores: {', '.join(taken)}"))
    return notes
