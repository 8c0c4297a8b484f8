"""Join scored objects: samples one below the other, records merged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
import pandas as pd

from falconage import _scored
from falconage._errors import InputError
from falconage._keys import BOUND_SUFFIX, COVERAGE_SUFFIX, ROOT, SCORES
from falconage.get._merge import merge_records
from falconage.tl._record import hash_array, hash_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData

__all__ = ["combine"]


def combine(adatas: Iterable[AnnData], *, key: str = SCORES) -> AnnData:
    """Join scored objects of different samples into one, with one record.

    Clocks are the union, in order of appearance; where an object lacks a clock its samples get NaN.

    Parameters
    ----------
    adatas
        Scored objects, in memory or read from files. They are not changed.
    key
        Their ``key_added``, the same in all.

    Returns
    -------
    A new AnnData without ``X``: all ``obs`` columns, the scores with coverage and bound in ``obsm``, and in
    ``uns`` the merged record. There, ``n_scored``, ``n_cells_filled``, ``n_cells_imputed``, ``fills`` and
    ``n_samples_median_filled`` are sums; ``n_present``, ``coverage_min`` and ``floor`` are the lowest and
    ``floor_max``, ``n_absent_filled``, ``median_filled_share_max`` and ``share_below_ground`` the highest of the
    parts; what else differs (device, layer …) reads ``"mixed"``; and ``parts`` keeps each part's own input, output,
    params, versions, calls and time.

    Raises
    ------
    InputError
        A sample name occurs twice, an object has no scores under ``key``, or a clock was scored with
        different weights or in different units.

    Examples
    --------
    >>> import falconage as fa
    >>> a, b = fa.datasets.toy(), fa.datasets.toy()
    >>> b.obs_names = "b_" + b.obs_names
    >>> for x in (a, b):
    ...     fa.tl.score_clocks(x, "horvath2013")
    >>> both = fa.get.combine([a, b])
    >>> both.n_obs == a.n_obs + b.n_obs
    True
    """
    parts = _checked(adatas, key)
    scores = _stack([part.obsm[key] for part in parts])
    layers = {suffix: _stack([_scored.companion(p, key, suffix) for p in parts]) for suffix in _SUFFIXES}
    record = merge_records([_scored.record(part, key) for part in parts], layers[COVERAGE_SUFFIX])
    joined = ad.AnnData(obs=_obs(parts))
    joined.obsm[key] = scores
    for suffix, frame in layers.items():
        joined.obsm[key + suffix] = frame.to_numpy(dtype=np.float32)
    record["output"] = {"scores_sha256": hash_array(scores.to_numpy()), "scores": scores.columns.to_numpy(object)}
    record["input"]["obs_names_sha256"] = hash_names(joined.obs_names)
    joined.uns[ROOT] = {"scores": {key: record}}
    return joined


_SUFFIXES = (COVERAGE_SUFFIX, BOUND_SUFFIX)


def _checked(adatas: Iterable[AnnData], key: str) -> list[AnnData]:
    if isinstance(adatas, ad.AnnData):
        adatas = [adatas]
    if not isinstance(adatas, Iterable):
        msg = f"combine takes a list of scored objects, got {type(adatas).__name__}. Type fa.get.combine([a, b])."
        raise InputError(msg)
    parts: list[AnnData] = list(adatas)
    if len(parts) < 2:
        msg = f"combine joins two or more scored objects, got {len(parts)}. Type fa.get.combine([a, b])."
        raise InputError(msg)
    for i, part in enumerate(parts):
        try:
            _scored.record(part, key)
        except InputError as err:
            msg = f"Object {i} of {len(parts)}: {err}"
            raise InputError(msg) from err
    names = pd.Index(np.concatenate([part.obs_names.to_numpy(dtype=object) for part in parts]), dtype=object)
    if twice := list(dict.fromkeys(names[names.duplicated()])):
        shown = ", ".join(map(repr, twice[:3])) + (", …" if len(twice) > 3 else "")
        msg = (
            f"{len(twice)} sample names occur more than once ({shown}). If they are different samples, rename them: "
            'b.obs_names = "b_" + b.obs_names (or .obs_names_make_unique() within one object). If they are the same '
            "samples with other clocks, score these into one object: fa.tl.score_clocks(a, [...]) adds to those there."
        )
        raise InputError(msg)
    return parts


def _stack(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Rows one below the other, columns the union in order of appearance, NaN where there is none."""
    columns = pd.Index(list(dict.fromkeys(c for frame in frames for c in frame.columns)), dtype=object)
    values = np.concatenate([frame.reindex(columns=columns).to_numpy(dtype=np.float64) for frame in frames])
    names = np.concatenate([frame.index.to_numpy(dtype=object) for frame in frames])
    return pd.DataFrame(values, index=pd.Index(names, dtype=object), columns=columns)


def _obs(parts: Sequence[AnnData]) -> pd.DataFrame:
    """Let anndata reconcile the types, so that the result can be written."""
    tables: list[Any] = [part.obs.copy() for part in parts]
    joined: Any = ad.concat([ad.AnnData(obs=table) for table in tables], join="outer").obs
    return pd.DataFrame(joined)
