"""The fixed-order panel product on the CPU, compiled by numba.

Samples are innermost: a block of 16 rows is turned so that each feature is one short contiguous run, and every
score is ``acc = acc + w * x`` over its terms in table order, multiply then add, one float64 accumulator. LLVM may
not contract or reorder that without fastmath, so the bits depend on nothing but the sample's own values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

BLOCK = 16
"""Rows turned at once, a multiple of 8: 16 float64 are two cache lines, and 2,000 features of them fit L2."""

M_CLIP = 1e-6
"""Methylation is kept this far from 0 and 1 before the logit."""

SQUARE, SHIFT, M_VALUE = 1, 2, 3


_options: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
# Called from compiled code only: without the wrappers for Python, compilation takes half as long.
_inner = njit(**_options, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]  # its stub lacks them


class Work(NamedTuple):
    """Scratch space of one thread."""

    holes: object
    low: object
    high: object
    seen: object
    acc: object
    tmp: object
    fill: object
    miss: object


@_inner
def _sort(values, n):
    """Shell sort in place: short, so that it compiles fast; np.sort costs seconds of compilation."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, n):
            v = values[k]
            j = k
            while j >= gap and values[j - gap] > v:
                values[j] = values[j - gap]
                j -= gap
            values[j] = v
        gap //= 3


@_inner
def _replicates(buf, group_ptr, group_row, first, m, tmp):
    """Mean over the measured replicates of a feature, summed in ascending order."""
    for g in range(group_ptr.shape[0] - 1):
        for i in range(m):
            c = 0
            for q in range(group_ptr[g], group_ptr[g + 1]):
                v = buf[group_row[q], i]
                if v == v:
                    tmp[c] = v
                    c += 1
            _sort(tmp, c)
            s = 0.0
            for j in range(c):
                s += tmp[j]
            buf[first + g, i] = s / c if c else np.nan


@_inner
def _derived(buf, base, op, param, first, m):
    for d in range(base.shape[0]):
        for i in range(m):
            v = buf[base[d], i]
            if op[d] == SQUARE:
                v = v * v
            elif op[d] == SHIFT:
                v = v - param[d]
            elif v == v:
                v = min(max(v, M_CLIP), 1.0 - M_CLIP)
                v = np.log2(v / (1.0 - v))
            buf[first + d, i] = v


@_inner
def _plain(buf, n_raw):
    """Whether every value lies between 0 and 1 and no sample starts with 20 equal ones: nothing to look into."""
    odd = 0
    for u in range(n_raw):
        v = buf[u]
        for i in range(BLOCK):
            odd |= not (v[i] >= 0.0 and v[i] <= 1.0)
    if odd:
        return False
    for i in range(BLOCK):
        u = 1
        while u < min(n_raw, 20) and buf[u, i] == buf[0, i]:
            u += 1
        if u == min(n_raw, 20):
            return False
    return True


@_inner
def _row_facts(buf, n_raw, m, holes, low, high, seen):
    """Which rows have a hole, and how many values each sample has and in which range.

    Blocks of plain fractions are told by one look; their range is given as 0 to 1.
    """
    if m == BLOCK and _plain(buf, n_raw):
        holes[:n_raw] = False
        low[:] = 0.0
        high[:] = 1.0
        seen[:] = n_raw
        return
    low[:] = np.inf
    high[:] = -np.inf
    seen[:] = 0
    for u in range(n_raw):
        holes[u] = False
        for i in range(BLOCK):
            v = buf[u, i]
            if v == v:
                seen[i] += 1
                low[i] = min(low[i], v)
                high[i] = max(high[i], v)
            else:
                holes[u] = True


@_inner
def _median_fill(buf, row, lo, hi, i, fixed, tmp):
    """The sample's own median over the measured features of one score; NaN where nothing was measured."""
    c = 0
    for t in range(lo, hi):
        if row[t] < fixed:
            v = buf[row[t], i]
            if v == v:
                tmp[c] = v
                c += 1
    if c == 0:
        return np.nan
    _sort(tmp, c)
    h = c // 2
    return tmp[h] if c % 2 else (tmp[h - 1] + tmp[h]) / 2.0


@_inner
def _account(miss, p, t, v):
    """Count a missing term: 1, its weight, and how far the true value could move the sum down and up."""
    w = p.weight[t]
    up, down = w * (p.high[t] - v), w * (p.low[t] - v)
    miss[0] += 1.0
    miss[1] += abs(w)
    miss[2] += min(up, down)
    miss[3] += max(up, down)


@_inner
def _one_score(buf, k, p, holes, fixed, fill, tmp, acc, miss):
    """The whole rule for one score and one block: ``acc`` 16, ``miss`` 5 × 16."""
    lo, hi = p.indptr[k], p.indptr[k + 1]
    for i in range(BLOCK):
        acc[i] = p.intercept[k]
        for j in range(5):
            miss[j, i] = 0.0
    if p.weak[k]:
        for i in range(BLOCK):
            fill[i] = np.nan
            for t in range(lo, hi):
                if p.reference[t] != p.reference[t] and buf[p.row[t], i] != buf[p.row[t], i]:
                    fill[i] = _median_fill(buf, p.row, lo, hi, i, fixed, tmp)
                    break
    for t in range(lo, hi):
        u, w = p.row[t], p.weight[t]
        if u < fixed and not holes[u]:
            for i in range(BLOCK):
                acc[i] += w * buf[u, i]
            continue
        for i in range(BLOCK):
            v = buf[u, i]
            if u >= fixed or v != v:
                v = p.reference[t]
                if v != v:
                    v = fill[i]
                    miss[4, i] += abs(w)
                _account(miss[:, i], p, t, v)
            acc[i] += w * v


@_inner
def _short_sum(buf, row, weight, lo, hi, intercept, acc):
    """One score where nothing is missing: eight samples at a time stay in registers."""
    for i in range(0, BLOCK, 8):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = intercept
        for t in range(lo, hi):
            w = weight[t]
            v = buf[row[t]]
            a0 += w * v[i]
            a1 += w * v[i + 1]
            a2 += w * v[i + 2]
            a3 += w * v[i + 3]
            a4 += w * v[i + 4]
            a5 += w * v[i + 5]
            a6 += w * v[i + 6]
            a7 += w * v[i + 7]
        acc[i], acc[i + 1], acc[i + 2], acc[i + 3] = a0, a1, a2, a3
        acc[i + 4], acc[i + 5], acc[i + 6], acc[i + 7] = a4, a5, a6, a7


@_inner
def _scores(buf, p, m, i0, static, found, work):
    """Every score of one block: the short loop where nothing is missing, the whole rule elsewhere."""
    for k in range(p.indptr.shape[0] - 1):
        lo, hi = p.indptr[k], p.indptr[k + 1]
        full = not p.weak_absent[k]
        for t in range(lo, hi):
            if p.row[t] < p.fixed and work.holes[p.row[t]]:
                full = False
                break
        if full:
            _short_sum(buf, p.row, p.weight, lo, hi, p.intercept[k], work.acc)
            if static[0, k] == 0.0:
                # nothing to account for: the zeros that are there need not be touched
                for i in range(m):
                    found.predictor[i0 + i, k] = work.acc[i]
                continue
            for j in range(5):
                work.miss[j, :] = static[j, k]
        else:
            _one_score(buf, k, p, work.holes, p.fixed, work.fill, work.tmp, work.acc, work.miss)
        for i in range(m):
            found.predictor[i0 + i, k] = work.acc[i]
            for j in range(5):
                found.missing[j, i0 + i, k] = work.miss[j, i]


@_inner
def _block(buf, p, m, i0, static, found, work):
    """From gathered columns to scores, for one block of at most 16 rows."""
    n_raw, n_groups = p.n_raw, p.group_ptr.shape[0] - 1
    for u in range(n_raw):
        for i in range(m, BLOCK):
            buf[u, i] = 0.0
    _replicates(buf, p.group_ptr, p.group_row, n_raw, BLOCK, work.tmp)
    _derived(buf, p.base, p.op, p.param, n_raw + n_groups, BLOCK)
    _row_facts(buf, n_raw, m, work.holes, work.low, work.high, work.seen)
    for u in range(n_raw, p.fixed):
        work.holes[u] = False
        for i in range(BLOCK):
            if buf[u, i] != buf[u, i]:
                work.holes[u] = True
    for u in range(p.fixed):
        if work.holes[u]:
            found.holes[u] = True
    for i in range(m):
        found.low[i0 + i], found.high[i0 + i], found.seen[i0 + i] = work.low[i], work.high[i], work.seen[i]
    _scores(buf, p, m, i0, static, found, work)


@_inner
def _buffers(p):
    """The turned block, with the rows of absent features filled once, and the scratch space beside it."""
    n_rows = p.fixed + p.constant.shape[0]
    buf = np.empty((n_rows, BLOCK))
    for c in range(p.constant.shape[0]):
        buf[p.fixed + c] = p.constant[c]
    work = Work(
        np.empty(n_rows, np.bool_),
        np.empty(BLOCK),
        np.empty(BLOCK),
        np.empty(BLOCK, np.int64),
        np.empty(BLOCK),
        np.empty(p.longest),
        np.empty(BLOCK),
        np.empty((5, BLOCK)),
    )
    return buf, work


@_inner
def _turn(x, columns, i0, m, buf):
    """Gather one block, eight rows at a time: as many streams as the prefetcher follows."""
    whole = m - m % 8
    for i in range(0, whole, 8):
        r = i0 + i
        for u in range(columns.shape[0]):
            c = columns[u]
            for j in range(8):
                buf[u, i + j] = x[r + j, c]
    for i in range(whole, m):
        for u in range(columns.shape[0]):
            buf[u, i] = x[i0 + i, columns[u]]


@_inner
def _dense_chunk(x, columns, p, static, found, chunk, n_chunks):
    n = x.shape[0]
    buf, work = _buffers(p)
    for b in range(chunk, (n + BLOCK - 1) // BLOCK, n_chunks):
        i0 = b * BLOCK
        m = min(BLOCK, n - i0)
        _turn(x, columns, i0, m, buf)
        _block(buf, p, m, i0, static, found, work)


@_inner
def _csr_chunk(x, slots, p, static, found, chunk, n_chunks):
    data, indices, indptr = x
    n = indptr.shape[0] - 1
    buf, work = _buffers(p)
    for b in range(chunk, (n + BLOCK - 1) // BLOCK, n_chunks):
        i0 = b * BLOCK
        m = min(BLOCK, n - i0)
        buf[: p.n_raw] = 0.0
        for i in range(m):
            for q in range(indptr[i0 + i], indptr[i0 + i + 1]):
                u = slots[indices[q]]
                if u >= 0:
                    buf[u, i] += data[q]
        _block(buf, p, m, i0, static, found, work)


# Four plain functions: numba's cache does not tell a parallel from a serial compilation of the same one.
@njit(**_options)
def dense_serial(x, columns, p, static, found, n_chunks):
    """All rows of a dense matrix, on this thread."""
    for chunk in range(n_chunks):
        _dense_chunk(x, columns, p, static, found, chunk, n_chunks)


@njit(**_options, parallel=True)
def dense_parallel(x, columns, p, static, found, n_chunks):
    """All rows of a dense matrix, one chunk a thread."""
    for chunk in prange(n_chunks):
        _dense_chunk(x, columns, p, static, found, chunk, n_chunks)


@njit(**_options)
def csr_serial(x, slots, p, static, found, n_chunks):
    """All rows of a CSR matrix ``(data, indices, indptr)``, on this thread."""
    for chunk in range(n_chunks):
        _csr_chunk(x, slots, p, static, found, chunk, n_chunks)


@njit(**_options, parallel=True)
def csr_parallel(x, slots, p, static, found, n_chunks):
    """All rows of a CSR matrix, one chunk a thread."""
    for chunk in prange(n_chunks):
        _csr_chunk(x, slots, p, static, found, chunk, n_chunks)


@njit(**_options)
def static_missing(p):
    """What absent features alone contribute to a sample's account, 5 × n_scores, in table order."""
    out = np.zeros((5, p.indptr.shape[0] - 1))
    for k in range(p.indptr.shape[0] - 1):
        for t in range(p.indptr[k], p.indptr[k + 1]):
            if p.row[t] >= p.fixed:
                _account(out[:, k], p, t, p.reference[t])
    return out
