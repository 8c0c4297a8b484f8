"""Are these values what the clocks expect? If not: the likely cause, and the line that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from falconage._errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["check_rows", "check_sample_of_values"]

_LOOK_ROWS, _LOOK_COLUMNS = 1000, 32
_SLACK = 0.1
"""Batch correction moves fractions a little out of [0, 1]; M-values and percentages leave it far behind."""
_ENOUGH = 20
"""Measured values from which a constant row is an error and no accident."""


def _cause(low: float, high: float, where: str, *, whole: bool) -> str:
    target = "adata.X" if where == "raw" else f"adata.{where}"
    first = "Type adata = adata.raw.to_adata(), then " if where == "raw" else "Type "
    if low < -_SLACK and high <= 1.0 + _SLACK:
        return (
            "negative values in what else are fractions: missing values written as a negative number? "
            f"{first}{target}[{target} < 0] = np.nan."
        )
    if low < -_SLACK:
        return (
            "negative values: these look like M-values, and the clocks need methylation fractions (beta). "
            f"{first}{target} = 2**{target} / (1 + 2**{target})."
        )
    if high <= 100.0 + _SLACK and not (whole and high < 50):
        return f"these look like percentages. {first}{target} = {target} / 100."
    if whole:
        return (
            "these look like counts; the clocks need methylation fractions (beta) between 0 and 1, for example "
            f"{target} = adata.layers['methylated'] / adata.layers['coverage']."
        )
    return "the clocks need methylation fractions (beta) between 0 and 1."


def _raise_if_outside(low: float, high: float, where: str, who: str, *, whole: bool) -> None:
    if np.isinf(low) or np.isinf(high):
        msg = (
            f"{where} holds infinite values ({who}). M-values of 0 and 1 are infinite; replace them, "
            "for example with np.nan, before scoring."
        )
        raise InputError(msg)
    if low < -_SLACK or high > 1.0 + _SLACK:
        msg = f"Values of {where} run from {low:.4g} to {high:.4g} ({who}): {_cause(low, high, where, whole=whole)}"
        raise InputError(msg)


def check_sample_of_values(x: Any, columns: NDArray[np.int64], where: str) -> None:
    """Look at up to 1,000 evenly spaced rows before anything is computed."""
    n = x.shape[0]
    if n == 0 or len(columns) == 0:
        return
    rows = np.unique(np.linspace(0, n - 1, min(n, _LOOK_ROWS)).astype(np.int64))
    picked = columns[np.unique(np.linspace(0, len(columns) - 1, min(len(columns), _LOOK_COLUMNS)).astype(np.int64))]
    if sparse.issparse(x):
        values = np.asarray(x[rows][:, picked].toarray(), dtype=np.float64)
    else:
        values = np.asarray(x[np.ix_(rows, picked)], dtype=np.float64)
    known = values[~np.isnan(values)]
    if len(known):
        whole = bool(np.isfinite(known).all() and (known == np.floor(known)).all())
        _raise_if_outside(float(known.min()), float(known.max()), where, f"{len(rows)} rows looked at", whole=whole)


def check_rows(
    low: NDArray[np.float64], high: NDArray[np.float64], seen: NDArray[np.int64], names: pd.Index, where: str
) -> list[str]:
    """Check the range of every sample's measured values after the pass; returns what deserves a warning.

    Raises
    ------
    InputError
        A value is infinite or far outside [0, 1], or a sample has the same value everywhere.
    """
    some = seen > 0
    out = some & ((low < -_SLACK) | (high > 1.0 + _SLACK))
    if out.any():
        first = int(np.flatnonzero(out)[0])
        who = f"sample {names[first]!r}" + (f" and {int(out.sum()) - 1} more" if out.sum() > 1 else "")
        _raise_if_outside(float(low[out].min()), float(high[out].max()), where, who, whole=False)
    constant = (seen >= _ENOUGH) & (low == high)
    if constant.any():
        first = int(np.flatnonzero(constant)[0])
        msg = (
            f"{int(constant.sum())} of {len(names)} samples have one value for every feature, the first is "
            f"{names[first]!r} (all {low[first]:.4g}): failed arrays or a broken merge. "
            "Leave them out, e.g. adata = adata[adata.obs_names != ...].copy()."
        )
        raise InputError(msg)
    notes = []
    if (~some).any():
        notes.append(f"{int((~some).sum())} of {len(names)} samples have no measured feature of these clocks: NaN")
    slight = some & ((low < 0.0) | (high > 1.0))
    if slight.any():
        notes.append(
            f"{int(slight.sum())} of {len(names)} samples have values slightly outside [0, 1]; used as they are"
        )
    return notes
