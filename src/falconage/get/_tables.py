"""Scores, coverage, bounds and the manifest, as labelled copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage import _scored
from falconage._keys import BOUND_SUFFIX, COVERAGE_SUFFIX, SCORES
from falconage._sanitise import sanitise

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["coverage", "manifest", "missing_bound", "scores"]


def scores(adata: AnnData, *, key: str = SCORES, tidy: bool = False) -> pd.DataFrame:
    """Return the scores of every sample.

    Parameters
    ----------
    adata
        An object that :func:`falconage.tl.score_clocks` scored.
    key
        Its ``key_added``.
    tidy
        One row for each sample and clock instead of one column for each clock.

    Returns
    -------
    A copy: n_obs × n_scores, each column in its clock's unit; or, tidy, the columns ``sample``, ``clock``,
    ``value``, ``unit``, ``scale``, ``group`` and ``coverage``, all clocks of a sample together.

    Raises
    ------
    InputError
        There are no scores under ``key``; the message lists the keys there are.
    """
    wide = _scored.scores(adata, key)
    if not tidy:
        return wide.copy()
    n, k = wide.shape
    facts = _scored.record(adata, key)["clocks"].reindex(wide.columns)
    columns: dict[str, Any] = {
        "sample": np.repeat(wide.index.to_numpy(dtype=object), k),
        "clock": np.tile(wide.columns.to_numpy(dtype=object), n),
        "value": wide.to_numpy(dtype=np.float64).ravel(),
    }
    for name in ("unit", "scale", "group"):
        columns[name] = np.tile(facts[name].astype(object).fillna("").to_numpy(), n)
    columns["coverage"] = coverage(adata, key=key).to_numpy().ravel()
    return pd.DataFrame(columns)


def coverage(adata: AnnData, *, key: str = SCORES) -> pd.DataFrame:
    """Return how much of each clock was measured in each sample, 0 to 1.

    The smaller of two shares: of the features measured, and of the absolute weights on them.

    Parameters
    ----------
    adata
        An object that :func:`falconage.tl.score_clocks` scored.
    key
        Its ``key_added``.

    Returns
    -------
    A copy: n_obs × n_scores, float32, same rows and columns as :func:`scores`.

    Raises
    ------
    InputError
        There are no scores under ``key``; the message lists the keys there are.
    """
    return _scored.companion(adata, key, COVERAGE_SUFFIX)


def missing_bound(adata: AnnData, *, key: str = SCORES) -> pd.DataFrame:
    """Return the most that the unmeasured features can move each score, in the score's unit.

    Parameters
    ----------
    adata
        An object that :func:`falconage.tl.score_clocks` scored.
    key
        Its ``key_added``.

    Returns
    -------
    A copy: n_obs × n_scores, float32, same rows and columns as :func:`scores`; 0 where all was measured.

    Raises
    ------
    InputError
        There are no scores under ``key``; the message lists the keys there are.
    """
    return _scored.companion(adata, key, BOUND_SUFFIX)


def manifest(adata: AnnData, *, key: str = SCORES) -> dict[str, Any]:
    """Return the record of a scoring: what was computed, from what, with what, on what.

    Parameters
    ----------
    adata
        An object that :func:`falconage.tl.score_clocks` scored, in memory or read from a file.
    key
        Its ``key_added``.

    Returns
    -------
    A copy of ``uns["falconage"]["scores"][key]``: ``schema``, ``created`` (ISO time), ``params``, ``input``,
    ``output``, ``versions``, ``clocks`` (one row for each score; ``call`` names the call that made it), ``refused``
    (clock and reason), ``absent`` (clock, feature and where its value came from), ``warnings``, ``samples`` (what
    was understood of sex, tissue and species), ``device``, and ``calls``: for every call under the key that a score
    is left of, its own ``params``, ``input``, ``samples``, ``warnings`` and ``created``, where those at the top are
    the latest call's. After :func:`combine`, ``parts`` has one record for each object, with its ``calls``.
    Types are the same before and after a file.

    Raises
    ------
    InputError
        There are no scores under ``key``, or they lost their record.
    """
    found: dict[str, Any] = sanitise(_scored.record(adata, key), name=f"the record of {key!r}")
    for table in ("clocks", "refused"):
        if isinstance(found.get(table), pd.DataFrame):
            found[table].index.name = "clock"
    return found
