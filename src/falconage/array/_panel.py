"""Many linear scores of one matrix in one pass: what the kernels take, and what they give back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

__all__ = ["M_CLIP", "M_VALUE", "SHIFT", "SQUARE", "Found", "Panel", "run_panel"]


SQUARE, SHIFT, M_VALUE = 1, 2, 3
"""What a derived row does to a value: square it, subtract a parameter, or take the M-value."""

M_CLIP = 1e-6
"""A fraction is kept this far from 0 and 1 before the logit."""


class Panel(NamedTuple):
    """Scores as terms over gathered rows; plain arrays, so that every kernel can take it.

    Row numbers: ``n_raw`` gathered columns, then replicate groups, then derived rows (together ``fixed``
    rows), then one row for each distinct value that stands in for an absent feature.
    """

    n_raw: int
    fixed: int
    longest: int
    group_ptr: NDArray[np.int64]
    group_row: NDArray[np.int64]
    base: NDArray[np.int64]
    op: NDArray[np.int64]
    param: NDArray[np.float64]
    constant: NDArray[np.float64]
    indptr: NDArray[np.int64]
    row: NDArray[np.int64]
    weight: NDArray[np.float64]
    reference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    intercept: NDArray[np.float64]
    weak: NDArray[np.bool_]
    weak_absent: NDArray[np.bool_]


class Found(NamedTuple):
    """What a pass found: n samples, k scores.

    ``predictor`` n × k; ``missing`` 5 × n × k: terms missing, their |weight|, how far the unmeasured values
    could move the predictor down and up, and the |weight| filled by the sample's own median; ``low``, ``high``
    and ``seen`` n: range and number of the measured values; ``holes`` ``fixed``: samples with a hole in each row.
    """

    predictor: NDArray[np.float64]
    missing: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    seen: NDArray[np.int64]
    holes: NDArray[np.int64]


def _empty(n: int, k: int, rows: int, n_chunks: int) -> Found:
    """Zeros where the kernels write only what there is to say; each thread counts holes in a row of its own."""
    missing, holes = np.zeros((5, n, k)), np.zeros((n_chunks, rows), np.int64)
    return Found(np.empty((n, k)), missing, np.empty(n), np.empty(n), np.empty(n, np.int64), holes)


def _chunks(n: int) -> int:
    """Threads to use: one off the main thread, where numba's default threading layer may abort."""
    import numba

    if threading.current_thread() is not threading.main_thread():
        return 1
    return max(1, min(int(numba.get_num_threads()), n // 256))


def run_panel(x: NDArray[np.floating] | sparse.csr_matrix, columns: NDArray[np.int64], panel: Panel) -> Found:
    """Score every row of one block.

    Parameters
    ----------
    x
        n × m, NumPy float32 or float64 of any memory order, or CSR of the same types.
    columns
        The ``panel.n_raw`` columns of ``x`` that the panel gathers.
    panel
        The scores.

    Returns
    -------
    The same bits for a row whatever the other rows, the block, the memory layout or the number of threads.
    """
    from falconage.array.kernels import _panel_cpu as kernels

    n = x.shape[0]
    n_chunks = _chunks(n)
    found = _empty(n, len(panel.intercept), panel.fixed, n_chunks)
    static = kernels.static_missing(panel)
    if isinstance(x, np.ndarray):
        run = kernels.dense_parallel if n_chunks > 1 else kernels.dense_serial
        run(x, columns, panel, static, found, n_chunks)
    else:
        slots = np.full(x.shape[1], -1, dtype=np.int64)
        slots[columns] = np.arange(len(columns))
        run = kernels.csr_parallel if n_chunks > 1 else kernels.csr_serial
        run((x.data, x.indices, x.indptr), slots, panel, static, found, n_chunks)
    return found._replace(holes=found.holes.sum(axis=0))
