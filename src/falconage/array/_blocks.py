"""A matrix in memory → row blocks the kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["block_rows", "describe", "row_blocks"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def describe(x: Any) -> str:
    """Name the container in words for the record, e.g. ``"dense C"`` or ``"CSR"``."""
    if sparse.issparse(x):
        return str(x.format).upper()
    return "dense F" if x.flags.f_contiguous and not x.flags.c_contiguous else "dense C"


def block_rows(n_scores: int, batch_size: int) -> int:
    """Rows a block, so that what a pass returns for it stays below about 64 MB."""
    if batch_size > 0:
        return batch_size
    return max(256, int(64e6 / (48 * max(1, n_scores))))


def row_blocks(x: Any, columns: NDArray[np.int64], rows: int) -> Iterator[tuple[slice, Any, NDArray[np.int64]]]:
    """Yield ``(rows, block, columns)``; ``block`` is float and dense or CSR, ``columns`` are its columns to gather.

    A dense float matrix is passed as a view. Integers and other types are widened block by block and only in
    the columns asked for; CSC is cut to these columns before it is turned.
    """
    n = x.shape[0]
    if sparse.issparse(x) and x.format != "csr":
        x = sparse.csc_matrix(x)[:, columns].tocsr()
        columns = np.arange(x.shape[1])
    for start in range(0, n, rows):
        part = slice(start, min(start + rows, n))
        block = x[part]
        if block.dtype in _FLOATS:
            yield part, block, columns
        elif sparse.issparse(block):
            yield part, block.astype(np.float64), columns
        else:
            yield part, block[:, columns].astype(np.float64), np.arange(len(columns))
