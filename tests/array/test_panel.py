"""The fixed-order panel against a loop over samples and terms in plain Python."""

from __future__ import annotations

import itertools
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from falconage.array import _blocks, _device
from falconage.array._panel import Panel, run_panel

NAN = math.nan
SQUARE, SHIFT, M_VALUE = 1, 2, 3


def make_panel(rng, *, n_raw=9, n_groups=2, n_derived=4, n_constant=3, n_scores=5):
    """A panel in which scores mix gathered columns, replicate groups, derived rows and absent features."""
    group_sizes = rng.integers(2, 4, n_groups)
    base = rng.integers(0, n_raw + n_groups, n_derived)
    op = rng.integers(1, 4, n_derived)
    constant = rng.uniform(0, 1, n_constant)
    constant[-1] = NAN  # absent, and only the sample's median can stand in
    fixed = n_raw + n_groups + n_derived
    lengths = rng.integers(2, 12, n_scores)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    t = int(indptr[-1])
    row = rng.integers(0, fixed + n_constant, t)
    absent = row >= fixed
    reference = rng.uniform(0, 1, t)
    reference[rng.random(t) < 0.2] = NAN
    reference[absent] = constant[row[absent] - fixed]
    owner = np.repeat(np.arange(n_scores), lengths)
    none = np.isnan(reference)
    return Panel(
        n_raw=n_raw,
        fixed=fixed,
        longest=int(max(lengths.max(), group_sizes.max())),
        group_ptr=np.concatenate([[0], np.cumsum(group_sizes)]).astype(np.int64),
        group_row=rng.integers(0, n_raw, group_sizes.sum()).astype(np.int64),
        base=base.astype(np.int64),
        op=op.astype(np.int64),
        param=np.where(op == SHIFT, 0.03, 0.0),
        constant=constant,
        indptr=indptr,
        row=row.astype(np.int64),
        weight=rng.normal(size=t),
        reference=reference,
        low=np.zeros(t),
        high=np.ones(t),
        intercept=rng.normal(size=n_scores),
        weak=np.bincount(owner[none], minlength=n_scores) > 0,
        weak_absent=np.bincount(owner[none & absent], minlength=n_scores) > 0,
    )


def transform(v, op, param):
    if op == SQUARE:
        return v * v
    if op == SHIFT:
        return v - param
    if math.isnan(v):
        return v
    kept = min(max(v, 1e-6), 1.0 - 1e-6)
    return math.log2(kept / (1.0 - kept))


class Hand(NamedTuple):
    predictor: np.ndarray
    missing: np.ndarray
    low: np.ndarray
    high: np.ndarray
    seen: np.ndarray
    holes: np.ndarray


def by_hand(x, columns, p):
    """What the panel means, sample by sample."""
    n, k = x.shape[0], len(p.intercept)
    found = Hand(
        np.empty((n, k)),
        np.zeros((5, n, k)),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.int64),
        np.zeros(p.fixed, np.int64),
    )
    for i in range(n):
        raw = [float(x[i, c]) for c in columns]
        values = list(raw)
        for g in range(len(p.group_ptr) - 1):
            seen = sorted(v for v in (raw[r] for r in p.group_row[p.group_ptr[g] : p.group_ptr[g + 1]]) if v == v)
            total = 0.0
            for v in seen:
                total = total + v
            values.append(total / len(seen) if seen else NAN)
        values += [transform(values[b], o, q) for b, o, q in zip(p.base, p.op, p.param, strict=True)]
        found.holes[:] += np.isnan(values)
        known = [v for v in raw if v == v]
        found.low[i], found.high[i] = (min(known), max(known)) if known else (math.inf, -math.inf)
        found.seen[i] = len(known)
        for j in range(k):
            terms = range(p.indptr[j], p.indptr[j + 1])
            there = [values[p.row[t]] for t in terms if p.row[t] < p.fixed and values[p.row[t]] == values[p.row[t]]]
            median = float(np.median(there)) if there else NAN
            acc = float(p.intercept[j])
            for t in terms:
                w = float(p.weight[t])
                v = values[p.row[t]] if p.row[t] < p.fixed else NAN
                if v != v:
                    v = float(p.reference[t])
                    if v != v:
                        v = median
                        found.missing[4, i, j] += abs(w)
                    found.missing[0, i, j] += 1
                    found.missing[1, i, j] += abs(w)
                    down, up = sorted([w * (p.low[t] - v), w * (p.high[t] - v)])
                    found.missing[2, i, j] += down
                    found.missing[3, i, j] += up
                acc = acc + w * v
            found.predictor[i, j] = acc
    return found


def same(a, b):
    """To the bit, and in every part."""
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


def matrix(rng, n, m, share=0.1):
    x = rng.uniform(0, 1, (n, m))
    x[rng.random((n, m)) < share] = NAN
    return x


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40)
@given(seed=seeds, n=st.integers(1, 70), share=st.sampled_from([0.0, 0.02, 0.3, 1.0]))
def test_panel_equals_the_loop_by_hand(seed, n, share):
    rng = np.random.default_rng(seed)
    panel = make_panel(rng)
    x = matrix(rng, n, 14, share)
    columns = rng.permutation(14)[: panel.n_raw].astype(np.int64)
    got, want = run_panel(x, columns, panel), by_hand(x, columns, panel)
    m_values = set(np.flatnonzero(panel.op == M_VALUE) + panel.fixed - len(panel.op))
    exact = [
        j for j in range(len(panel.intercept)) if not m_values & set(panel.row[panel.indptr[j] : panel.indptr[j + 1]])
    ]
    np.testing.assert_array_equal(got.predictor[:, exact], want.predictor[:, exact])
    # The logarithm of C and of NumPy may differ by an ulp.
    np.testing.assert_allclose(got.predictor, want.predictor, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(got.missing[:2], want.missing[:2])
    np.testing.assert_array_equal(got.missing[4], want.missing[4])
    np.testing.assert_allclose(got.missing[2:4], want.missing[2:4], rtol=1e-12, atol=1e-12)
    for name in ("low", "high", "seen", "holes"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name), err_msg=name)


@settings(max_examples=20)
@given(seed=seeds, n=st.integers(1, 70))
def test_the_short_loop_gives_the_bits_of_the_long_one(seed, n):
    """A sample without a gap scores the same beside samples with gaps and beside samples without."""
    rng = np.random.default_rng(seed)
    panel = make_panel(rng)
    x = rng.uniform(0, 1, (n, panel.n_raw))
    columns = np.arange(panel.n_raw)
    clean = run_panel(x, columns, panel)
    mixed = np.repeat(x, 2, axis=0)
    mixed[1::2][rng.random((n, panel.n_raw)) < 0.4] = NAN
    again = run_panel(mixed, columns, panel)
    np.testing.assert_array_equal(again.predictor[::2], clean.predictor)
    np.testing.assert_array_equal(again.missing[:, ::2], clean.missing)


def wide_indices(x):
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    return x


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
    "CSR": sparse.csr_matrix,
    "CSR array": sparse.csr_array,
    "CSR of 64-bit indices": lambda x: wide_indices(sparse.csr_matrix(x)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [1, 33, 64])
def test_layouts_and_types(layout, dtype, n):
    rng = np.random.default_rng(n)
    panel = make_panel(rng)
    x = matrix(rng, n, 14).astype(dtype)
    x[rng.random(x.shape) < 0.2] = 0
    columns = np.array([13, 2, 5, 0, 7, 8, 1, 11, 4])
    want = run_panel(x.astype(np.float64), columns, panel)
    same(run_panel(LAYOUTS[layout](x), columns, panel), want)


@settings(max_examples=15)
@given(seed=seeds, cut=st.integers(1, 69))
def test_rows_may_be_cut_anywhere(seed, cut):
    rng = np.random.default_rng(seed)
    panel = make_panel(rng)
    x = matrix(rng, 70, panel.n_raw)
    columns = np.arange(panel.n_raw)
    whole, a, b = (run_panel(part, columns, panel) for part in (x, x[:cut], x[cut:]))
    np.testing.assert_array_equal(np.concatenate([a.predictor, b.predictor]), whole.predictor)
    np.testing.assert_array_equal(np.concatenate([a.missing, b.missing], axis=1), whole.missing)


@settings(max_examples=15)
@given(seed=seeds)
def test_replicates_in_any_order(seed):
    rng = np.random.default_rng(seed)
    panel = make_panel(rng)
    x = matrix(rng, 5, panel.n_raw)
    columns = np.arange(panel.n_raw)
    ptr = panel.group_ptr
    shuffled = np.concatenate([rng.permutation(panel.group_row[a:b]) for a, b in itertools.pairwise(ptr)])
    same(run_panel(x, columns, panel._replace(group_row=shuffled)), run_panel(x, columns, panel))


def simple(**change):
    """One score of three columns: 0.5 + 2·a − 3·b + 0.25·c."""
    panel = Panel(
        n_raw=3, fixed=3, longest=3, group_ptr=np.zeros(1, np.int64), group_row=np.empty(0, np.int64),
        base=np.empty(0, np.int64), op=np.empty(0, np.int64), param=np.empty(0), constant=np.empty(0),
        indptr=np.array([0, 3]), row=np.arange(3), weight=np.array([2.0, -3.0, 0.25]),
        reference=np.array([0.4, 0.1, 0.9]), low=np.zeros(3), high=np.ones(3), intercept=np.array([0.5]),
        weak=np.zeros(1, bool), weak_absent=np.zeros(1, bool),
    )  # fmt: skip
    return panel._replace(**change)


def test_an_account_that_can_be_done_in_the_head():
    x = np.array([[0.5, 0.25, 1.0], [NAN, 0.25, 1.0], [NAN, NAN, NAN]])
    found = run_panel(x, np.arange(3), simple())
    np.testing.assert_allclose(found.predictor[:, 0], [1.0, 0.8, 0.5 + 0.8 - 0.3 + 0.225])
    np.testing.assert_array_equal(found.missing[0, :, 0], [0, 1, 3])
    np.testing.assert_allclose(found.missing[1, :, 0], [0, 2, 5.25])
    np.testing.assert_allclose(found.missing[2, :, 0], [0, -0.8, -0.8 - 2.7 - 0.225])
    np.testing.assert_allclose(found.missing[3, :, 0], [0, 1.2, 1.2 + 0.3 + 0.025])
    np.testing.assert_array_equal(found.seen, [3, 2, 0])
    np.testing.assert_array_equal(found.low[:2], [0.25, 0.25])
    np.testing.assert_array_equal(found.high[:2], [1.0, 1.0])


def test_multiply_then_add_and_never_a_fused_one():
    """Numbers for which a fused multiply-add gives another last bit."""
    rng = np.random.default_rng(0)
    differs = 0
    for _ in range(200):
        w, v = rng.uniform(1, 2, 3), rng.uniform(0, 1, 3)
        b = -float(w[0] * v[0])
        exact = b + math.fsum([float(w[0]) * float(v[0])])
        acc = b
        for wi, vi in zip(w.tolist(), v.tolist(), strict=True):
            acc = acc + wi * vi
        got = run_panel(v[None], np.arange(3), simple(weight=w, intercept=np.array([b]))).predictor[0, 0]
        assert got == acc
        differs += exact == 0.0
    assert differs == 200  # b + w·v cancels to 0 only where the product was rounded first


@pytest.mark.parametrize("n", [1, 2, 3, 8, 31, 32])
def test_padding_of_the_last_block_leaves_no_trace(n):
    x = np.full((n, 3), 0.5)
    x[-1, 0] = NAN
    found = run_panel(x, np.arange(3), simple())
    np.testing.assert_array_equal(found.missing[0, :, 0], [0] * (n - 1) + [1])
    np.testing.assert_array_equal(found.low, np.full(n, 0.5))


def test_infinities_and_values_out_of_range_are_seen():
    x = np.array([[np.inf, 0.5, 0.5], [0.5, -np.inf, NAN], [7.0, 0.1, -3.0]])
    found = run_panel(x, np.arange(3), simple())
    np.testing.assert_array_equal(found.high, [np.inf, 0.5, 7.0])
    np.testing.assert_array_equal(found.low, [0.5, -np.inf, -3.0])


@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sparse.csr_matrix])
def test_threads_give_the_bits_of_one(store):
    rng = np.random.default_rng(3)
    panel = make_panel(rng)
    x = matrix(rng, 1500, panel.n_raw)
    columns = np.arange(panel.n_raw)
    most = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = run_panel(store(x), columns, panel)
        numba.set_num_threads(most)
        same(run_panel(store(x), columns, panel), one)
    finally:
        numba.set_num_threads(most)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: run_panel(store(x), columns, panel), range(6)):
            same(found, one)


def test_threads_that_are_not_the_main_one_use_one_thread():
    from falconage.array import _panel

    seen = []
    thread = threading.Thread(target=lambda: seen.append(_panel._chunks(10**6)))
    thread.start()
    thread.join()
    assert seen == [1]


def test_the_input_is_read_only_for_the_kernel():
    rng = np.random.default_rng(0)
    panel = make_panel(rng)
    x = matrix(rng, 40, panel.n_raw)
    x.flags.writeable = False
    columns = np.arange(panel.n_raw)
    columns.flags.writeable = False
    found = run_panel(x, columns, panel)
    same(found, run_panel(x.copy(), columns.copy(), panel))


# ---- blocks of rows


@pytest.mark.parametrize(
    ("store", "words"),
    [(np.asarray, "dense C"), (np.asfortranarray, "dense F"), (sparse.csr_matrix, "CSR"), (sparse.csc_array, "CSC")],
)
def test_describe(store, words):
    assert _blocks.describe(store(np.ones((3, 4)))) == words


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool", "uint16"])
@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_blocks_hold_the_rows_and_columns_asked_for(store, dtype, rows):
    x = np.random.default_rng(0).integers(0, 2, (11, 7)).astype(dtype)
    columns = np.array([6, 0, 3])
    seen = 0
    for part, block, where in _blocks.row_blocks(store(x), columns, rows):
        assert block.dtype in (np.float32, np.float64)
        assert not sparse.issparse(block) or block.format == "csr"
        dense = block.toarray() if sparse.issparse(block) else block
        np.testing.assert_array_equal(dense[:, where], x[part][:, columns])
        seen += block.shape[0]
    assert seen == 11


def test_a_dense_float_matrix_is_not_copied():
    x = np.ones((5, 4), dtype=np.float32)
    (_, block, _), *_ = _blocks.row_blocks(x, np.arange(4), 3)
    assert np.shares_memory(block, x)


# ---- devices


def test_devices():
    import falconage as fa

    assert _device.resolve("auto").used == "cpu"
    assert _device.resolve("cpu").requested == "cpu"
    for name in ("cuda", "cuda:0"):
        with pytest.raises(fa.DeviceError, match="CPU only"):
            _device.resolve(name)
