"""The fixed-order panel product on the CPU, compiled by numba.

Samples are innermost: a block of 8 rows is turned so that each feature is one short contiguous run, and every
score is ``acc = acc + w * x`` over its terms in table order, multiply then add, one float64 accumulator. LLVM may
not contract or reorder that without fastmath, so the bits depend on nothing but the sample's own values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from falconage.array._panel import M_CLIP, SHIFT, SQUARE

BLOCK = 8
"""Rows turned at once: 8 float64 are one cache line, and 4,000 features of them still fit half of a 512 KB L2."""

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
def _row_facts(buf, n_raw, holes, low, high, seen):
    """Which rows have a hole, and how many values each sample has and in which range."""
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
    """The whole rule for one score and one block: ``acc`` 8, ``miss`` 5 × 8."""
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
    """One score where nothing is missing: the eight samples stay in registers."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = intercept
    for t in range(lo, hi):
        w = weight[t]
        v = buf[row[t]]
        a0 += w * v[0]
        a1 += w * v[1]
        a2 += w * v[2]
        a3 += w * v[3]
        a4 += w * v[4]
        a5 += w * v[5]
        a6 += w * v[6]
        a7 += w * v[7]
    acc[0], acc[1], acc[2], acc[3], acc[4], acc[5], acc[6], acc[7] = a0, a1, a2, a3, a4, a5, a6, a7


@_inner
def _is_full(p, k, holes):
    """Whether no row of a score has a hole in this block."""
    full = True
    for t in range(p.indptr[k], p.indptr[k + 1]):
        full &= p.row[t] >= p.fixed or not holes[p.row[t]]
    return full


@_inner
def _scores(buf, p, m, i0, clean, static, found, work):
    """Every score of one block: the short loop where nothing is missing, the whole rule elsewhere."""
    for k in range(p.indptr.shape[0] - 1):
        if not p.weak_absent[k] and (clean or _is_full(p, k, work.holes)):
            _short_sum(buf, p.row, p.weight, p.indptr[k], p.indptr[k + 1], p.intercept[k], work.acc)
            for i in range(m):
                found.predictor[i0 + i, k] = work.acc[i]
                if static[0, k] > 0.0:  # else the zeros that are there need not be touched
                    for j in range(5):
                        found.missing[j, i0 + i, k] = static[j, k]
        else:
            _one_score(buf, k, p, work.holes, p.fixed, work.fill, work.tmp, work.acc, work.miss)
            for i in range(m):
                found.predictor[i0 + i, k] = work.acc[i]
                for j in range(5):
                    found.missing[j, i0 + i, k] = work.miss[j, i]


@_inner
def _block(buf, p, m, i0, chunk, clean, static, found, work):
    """From gathered columns to scores, for one block of at most 8 rows.

    ``clean``: nothing gathered is missing, and the range of each sample is known; nor can a derived row lack a value.
    """
    n_raw, n_groups = p.n_raw, p.group_ptr.shape[0] - 1
    if m < BLOCK:
        buf[:n_raw, m:] = 0.0
    _replicates(buf, p.group_ptr, p.group_row, n_raw, BLOCK, work.tmp)
    _derived(buf, p.base, p.op, p.param, n_raw + n_groups, BLOCK)
    if clean:
        work.seen[:] = n_raw
    else:
        _row_facts(buf, n_raw, work.holes, work.low, work.high, work.seen)
        for u in range(n_raw, p.fixed):
            work.holes[u] = False
            for i in range(BLOCK):
                if buf[u, i] != buf[u, i]:
                    work.holes[u] = True
        for u in range(p.fixed):
            if work.holes[u]:
                for i in range(m):
                    found.holes[chunk, u] += buf[u, i] != buf[u, i]
    for i in range(m):
        found.low[i0 + i], found.high[i0 + i], found.seen[i0 + i] = work.low[i], work.high[i], work.seen[i]
    _scores(buf, p, m, i0, clean, static, found, work)


@_inner
def _buffers(p):
    """The turned block, with the rows of absent features filled once, and the scratch space beside it."""
    n_rows = p.fixed + p.constant.shape[0]
    buf = np.empty((n_rows, BLOCK))
    for c in range(p.constant.shape[0]):
        buf[p.fixed + c] = p.constant[c]
    work = Work(
        np.zeros(n_rows, np.bool_),
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
def _turn(x, columns, i0, m, buf, low, high):
    """Gather one block; True if it is whole and without a hole, and then each sample's range is known too.

    Four rows at a time: as many as the prefetcher follows and as their ranges stay in registers.
    """
    if m < BLOCK:
        for i in range(m):
            for u in range(columns.shape[0]):
                buf[u, i] = x[i0 + i, columns[u]]
        return False
    bad = False
    for i in range(0, BLOCK, 4):
        p, q, r, s = x[i0 + i], x[i0 + i + 1], x[i0 + i + 2], x[i0 + i + 3]
        low_a = low_b = low_c = low_d = np.inf
        high_a = high_b = high_c = high_d = -np.inf
        for u in range(columns.shape[0]):
            j = columns[u]
            a, b, c, d = p[j], q[j], r[j], s[j]
            buf[u, i], buf[u, i + 1], buf[u, i + 2], buf[u, i + 3] = a, b, c, d
            bad |= (a != a) | (b != b) | (c != c) | (d != d)
            low_a, high_a = (a if a < low_a else low_a), (a if a > high_a else high_a)
            low_b, high_b = (b if b < low_b else low_b), (b if b > high_b else high_b)
            low_c, high_c = (c if c < low_c else low_c), (c if c > high_c else high_c)
            low_d, high_d = (d if d < low_d else low_d), (d if d > high_d else high_d)
        low[i], low[i + 1], low[i + 2], low[i + 3] = low_a, low_b, low_c, low_d
        high[i], high[i + 1], high[i + 2], high[i + 3] = high_a, high_b, high_c, high_d
    return not bad


@_inner
def _dense_chunk(x, columns, p, static, found, chunk, n_chunks):
    n = x.shape[0]
    buf, work = _buffers(p)
    for b in range(chunk, (n + BLOCK - 1) // BLOCK, n_chunks):
        i0 = b * BLOCK
        m = min(BLOCK, n - i0)
        clean = _turn(x, columns, i0, m, buf, work.low, work.high)
        _block(buf, p, m, i0, chunk, clean, static, found, work)


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
        clean = False
        _block(buf, p, m, i0, chunk, clean, static, found, work)


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
