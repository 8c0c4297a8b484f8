"""Cells that an imputation filled: their values are used, and they count as missing all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from falconage.array._panel import M_VALUE, SHIFT, SQUARE
from falconage.clocks._lines import logit2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from falconage.array._panel import Panel

__all__ = ["count_imputed"]


def _gathered(block: Any, columns: NDArray[np.int64], cells: Any) -> tuple[Any, NDArray[np.float64]]:
    """Flags and values of the gathered columns, n × n_raw; a cell that is still NaN is no imputed one."""
    x = block[:, columns]
    values = np.asarray(x.toarray() if sparse.issparse(x) else x, dtype=np.float64)
    return cells.toarray() & ~np.isnan(values), values


def _with_groups(
    flags: NDArray[np.bool_], values: NDArray[np.float64], panel: Panel
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Append the replicate groups: imputed where every replicate that has a value was."""
    starts = panel.group_ptr[:-1]
    if len(starts) == 0:
        return flags, values
    measured = ~np.isnan(values[:, panel.group_row])
    count = np.add.reduceat(measured, starts, axis=1, dtype=np.int64)
    filled = np.add.reduceat(flags[:, panel.group_row], starts, axis=1, dtype=np.int64)
    total = np.add.reduceat(np.nan_to_num(values[:, panel.group_row]), starts, axis=1)
    mean = total / np.maximum(count, 1)
    return np.hstack([flags, (count > 0) & (filled == count)]), np.hstack([values, mean])


def _with_derived(
    flags: NDArray[np.bool_], values: NDArray[np.float64], panel: Panel
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    base = values[:, panel.base]
    out = np.where(panel.op == SHIFT, base - panel.param, base)
    out = np.where(panel.op == SQUARE, base * base, out)
    if (panel.op == M_VALUE).any():
        out = np.where(panel.op == M_VALUE, logit2(base), out)
    return np.hstack([flags, flags[:, panel.base]]), np.hstack([values, out])


def count_imputed(
    block: Any, columns: NDArray[np.int64], cells: Any, panel: Panel, predictor: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Account of imputed cells as :class:`falconage.array._panel.Found` keeps one of missing cells.

    Parameters
    ----------
    block, columns
        Rows of the matrix, and those of its columns that the panel gathers.
    cells
        n × n_raw sparse booleans: filled by an imputation.
    panel, predictor
        The terms, and the predictor that each belongs to.

    Returns
    -------
    4 × n × c: terms imputed, their absolute weight, how far the true values could move the predictor down and up.
    None if no cell of these rows was imputed.
    """
    if cells.nnz == 0:
        return None
    flags, values = _with_derived(*_with_groups(*_gathered(block, columns, cells), panel), panel)
    s = sparse.csr_matrix(flags, dtype=np.float64)
    v = sparse.csr_matrix(np.where(flags, values, 0.0))
    there = panel.row < panel.fixed
    shape = (panel.fixed, len(panel.intercept))
    at = (panel.row[there], predictor[there])
    w = panel.weight

    def sums(cell: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = (cell @ sparse.csr_matrix((weight[there], at), shape=shape)).toarray()
        return found

    moved = sums(v, w)
    ends = w * panel.low, w * panel.high
    down, up = sums(s, np.minimum(*ends)) - moved, sums(s, np.maximum(*ends)) - moved
    return np.stack([sums(s, np.ones_like(w)), sums(s, np.abs(w)), down, up])
