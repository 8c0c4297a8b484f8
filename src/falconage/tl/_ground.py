"""How much of a division clock lies below its ground state, where a site would count negative divisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from falconage.array._panel import SHIFT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from falconage.array._panel import Panel

__all__ = ["count_below_ground"]


def count_below_ground(
    block: Any, columns: NDArray[np.int64], panel: Panel, predictor: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count measured values, and those below the ground state of their site, for each predictor: 2 × c.

    Only sites that one column carries are looked at; predictors without a ground state have zeros.
    """
    out = np.zeros((2, len(panel.intercept)), dtype=np.int64)
    first = panel.fixed - len(panel.op)
    derived = panel.row - first
    shifted = (panel.row < panel.fixed) & (derived >= 0)
    shifted[shifted] &= panel.op[derived[shifted]] == SHIFT
    shifted[shifted] &= panel.base[derived[shifted]] < panel.n_raw
    terms = np.flatnonzero(shifted)
    if len(terms) == 0:
        return out
    x = block[:, columns[panel.base[derived[terms]]]]
    values = np.asarray(x.toarray() if sparse.issparse(x) else x, dtype=np.float64)
    below = values < panel.param[derived[terms]]
    np.add.at(out[0], predictor[terms], (~np.isnan(values)).sum(axis=0))
    np.add.at(out[1], predictor[terms], below.sum(axis=0))
    return out
