"""One answer: the same sample gives the same bits however the matrix is stored, cut, ordered or accompanied."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import falconage as fa
from falconage.clocks import _catalog

few = settings(max_examples=12)

# Each kind of arithmetic once: links, mean, division, squared terms, M-values, a sample's own median.
CLOCKS = [
    "hannum",
    "horvath2013",
    "epitoc1",
    "epitoc2",
    "hypoclock",
    "bernabeu_cage",
    "depression_barbu",
    "vidalbralo",
    "cts_liver",
]
N = 37


@pytest.fixture(scope="module")
def gaps(make):
    """37 samples (more than one block of the kernel, no multiple of it), 2 % of cells and 1 % of features missing."""
    adata = make(CLOCKS, n=N)
    rng = np.random.default_rng(1)
    # Scores of the cohort clock below 20 are NaN; a constant predictor keeps the comparison of bits meaningful.
    adata.X[rng.random(adata.shape) < 0.02] = np.nan
    adata.X[:4] = np.nan_to_num(adata.X[:4], nan=0.4)
    return adata[:, rng.random(adata.n_vars) > 0.01].copy()


@pytest.fixture(scope="module")
def expected(gaps, score, bits):
    """Bits of scores, coverage and bounds of the plain object."""
    return found(score(gaps, CLOCKS), bits)


def found(adata, bits):
    parts = adata.obsm["clock_scores"], adata.obsm["clock_scores_coverage"], adata.obsm["clock_scores_missing_bound"]
    assert list(parts[0].columns) == CLOCKS
    return np.stack([bits(p) for p in parts])


def with_x(adata, x):
    return AnnData(x, obs=adata.obs.copy(), var=adata.var.copy())


def test_the_data_exercise_both_loops_and_every_policy(gaps, score):
    scored = score(gaps, CLOCKS)
    coverage = scored.obsm["clock_scores_coverage"]
    assert scored.obsm["clock_scores"].notna().sum().min() > N // 2
    assert (coverage == 1).any()
    assert (coverage < 1).any()


# ---- against the definition


# The link of each clock in plain scalars; those with species values are tested with the species.
LINKS = {
    "identity": lambda y: y,
    "horvath20": lambda y: 21 * math.exp(y) - 1 if y < 0 else 21 * y + 20,
    "horvath48m": lambda y: (49 * math.exp(y) - 1 if y < 0 else 49 * y + 48) / 12,
    "div7": lambda y: y / 7,
    "div30.5": lambda y: y / 30.5,
    "sigmoid": lambda y: 1 / (1 + math.exp(-y)),
    "ensemble_anti": lambda y: math.exp(y) - 0.06 if y <= math.log(1.26) else 1.26 * y - 1.26 * math.log(1.26) + 1.2,
    "exp_minus2": lambda y: math.exp(y) - 2,
    "bernabeu": lambda y: y if y >= 20 else math.nan,
    "petkovich": lambda y: (max(y + 1.712, 0) / 0.1666) ** (1 / 0.4185) / 30.5,
    "two_power": lambda y: 2.0**y / 30.5,
}
EXACT = {"identity", "horvath20", "horvath48m", "div7", "div30.5", "bernabeu"}


@pytest.mark.parametrize(("species", "build"), [("human", None), ("mouse", None), ("mouse", "mm10")])
def test_every_linear_clock_equals_the_plain_loop(species, build, make, score, loop, bits):
    table = fa.clocks.table()
    rows = table[(table["status"] == "shipped") & (table["form"] == "linear")]
    clocks = [
        c
        for c in _catalog.load(list(rows.index))
        if c.link in LINKS
        and c.expects == "beta"
        and not c.covariates
        and (species in c.species or "mammals" in c.species)
        and (c.genome_build or None) == build
        and c.tissue != "plasma cfDNA"
    ]
    assert len(clocks) > 3
    adata = make([c.id for c in clocks], n=2)
    scored = score(adata, [c.id for c in clocks], species=species, genome_build=build)
    frame = adata.to_df()
    for clock in clocks:
        y = loop(frame, clock.terms[0])
        want = np.array([LINKS[clock.link](v) for v in y.tolist()])
        got = scored.obsm["clock_scores"][clock.id].to_numpy()
        if clock.link in EXACT:
            assert np.array_equal(bits(got), bits(want)), clock.id
        np.testing.assert_allclose(got, want, rtol=1e-14, err_msg=clock.id)


def test_missing_cells_take_the_reference_in_the_same_loop(make, score, loop, bits):
    adata = make("horvath2013", n=40, seed=3)
    adata.X[np.random.default_rng(0).random(adata.shape) < 0.05] = np.nan
    y = loop(adata.to_df(), fa.clocks.get("horvath2013").terms[0])
    want = np.array([LINKS["horvath20"](v) for v in y.tolist()])
    assert np.array_equal(bits(score(adata, "horvath2013").obsm["clock_scores"]["horvath2013"]), bits(want))


def test_squared_terms_of_a_missing_feature_square_its_reference(make, score, loop, bits):
    adata = make("bernabeu_cage", n=8)
    terms = fa.clocks.get("bernabeu_cage").terms[0]
    assert terms.squared.sum() > 10
    both = str(terms.features[terms.squared][0])
    adata.X[:, adata.var_names.get_loc(both)] = np.nan
    y = loop(adata.to_df(), terms)
    want = np.where(y < 20, np.nan, y)
    assert np.array_equal(bits(score(adata, "bernabeu_cage").obsm["clock_scores"]["bernabeu_cage"]), bits(want))


@pytest.mark.parametrize("clock", ["epitoc1", "hypoclock", "epicmit_hyper", "epicmit_hypo"])
def test_mean_clocks_sum_in_table_order_and_divide_by_what_is_there(clock, make, score, bits):
    adata = make(clock, n=5)
    adata.X[1, :7] = np.nan
    frame, acc, k = adata.to_df(), np.zeros(5), np.zeros(5)
    for name in fa.clocks.get(clock).terms[0].features:
        x = frame[name].to_numpy()
        acc = acc + np.nan_to_num(x)
        k = k + ~np.isnan(x)
    mean = acc / k
    want = 1 - mean if clock in ("hypoclock", "epicmit_hypo") else mean
    assert np.array_equal(bits(score(adata, clock).obsm["clock_scores"][clock]), bits(want))


@pytest.mark.parametrize("clock", ["epitoc2", "epitoc3"])
def test_divisions_follow_the_published_formula_over_what_is_there(clock, make, score):
    adata = make(clock, n=5)
    adata.X[1, :7] = np.nan
    terms = fa.clocks.get(clock).terms[0]
    x = adata.to_df()[list(terms.features)].to_numpy()
    delta, beta0 = terms.weights, terms.second
    want = 2 * np.nanmean((x - beta0) / (delta * (1 - beta0)), axis=1)
    np.testing.assert_allclose(score(adata, clock).obsm["clock_scores"][clock], want, rtol=1e-13)


def test_m_values_are_log2_of_beta_over_one_minus_beta_clipped_at_a_millionth(make, score):
    adata = make("depression_barbu", n=5)
    adata.X[0, :20], adata.X[1, :20] = 0.0, 1.0
    terms = fa.clocks.get("depression_barbu").terms[0]
    b = np.clip(adata.to_df()[list(terms.features)].to_numpy(), 1e-6, 1 - 1e-6)
    want = np.full(5, terms.intercept)
    for j, w in enumerate(terms.weights):
        want = want + w * np.log2(b[:, j] / (1 - b[:, j]))
    np.testing.assert_allclose(
        score(adata, "depression_barbu").obsm["clock_scores"]["depression_barbu"], want, rtol=1e-14
    )


@pytest.mark.parametrize("clock", ["dnamfit_grip_wage", "dnamfit_gait_noage"])
def test_covariate_terms_and_the_table_of_each_sex(clock, make, score, loop, bits):
    sex = ["female", "male", "female", "male", "male", "female"]
    age = np.array([20.0, 30.5, 41.0, 52.0, 63.3, 74.0])
    adata = make(clock, sex=sex, age=age)
    terms = {t.part: t for t in fa.clocks.get(clock).terms}
    frame = adata.to_df()
    y = {part: loop(frame, t) + t.covariates.get("age", 0.0) * age for part, t in terms.items()}
    want = np.where(np.array(sex) == "female", y["female"], y["male"])
    got = score(adata, clock).obsm["clock_scores"][clock]
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert np.array_equal(bits(got), bits(want))


def test_two_replicates_of_an_epicv2_probe_are_averaged_never_summed_twice(make, score, loop, bits):
    adata = make("hannum")
    name = "cg04875128"
    assert name in adata.var_names
    at = adata.var_names.get_loc(name)
    twin = np.random.default_rng(5).uniform(0, 1, adata.n_obs)
    names = [*adata.var_names[:at], f"{name}_TC21", *adata.var_names[at + 1 :], f"{name}_BC11"]
    doubled = AnnData(np.column_stack([adata.X, twin]), var=pd.DataFrame(index=pd.Index(names)))
    frame = adata.to_df()
    frame[name] = (frame[name] + twin) / 2
    want = loop(frame, fa.clocks.get("hannum").terms[0])
    assert np.array_equal(bits(score(doubled, "hannum").obsm["clock_scores"]["hannum"]), bits(want))


def test_replicates_with_a_gap_average_what_was_measured(make, score, loop, bits):
    adata = make("hannum")
    names = list(adata.var_names)
    extra = [f"{names[0]}_TC{i}1" for i in (1, 2, 3)]
    x = np.column_stack([adata.X, np.random.default_rng(0).uniform(0, 1, (6, 2)), np.full(6, np.nan)])
    wide = AnnData(x[:, 1:], var=pd.DataFrame(index=pd.Index([*names[1:], *extra])))
    frame = adata.to_df()
    frame[names[0]] = (x[:, -3] + x[:, -2]) / 2
    scored = score(wide, "hannum")
    want = loop(frame, fa.clocks.get("hannum").terms[0])
    assert np.array_equal(bits(scored.obsm["clock_scores"]["hannum"]), bits(want))
    assert (scored.obsm["clock_scores_coverage"] == 1).all()


def test_replicates_all_missing_are_a_missing_feature(make, score, bits):
    adata = make("hannum")
    names = list(adata.var_names)
    wide = AnnData(
        np.column_stack([adata.X[:, 1:], np.full((6, 2), np.nan)]),
        var=pd.DataFrame(index=pd.Index([*names[1:], f"{names[0]}_TC11", f"{names[0]}_TC12"])),
    )
    without = score(adata[:, 1:].copy(), "hannum")
    assert np.array_equal(found_one(score(wide, "hannum"), bits), found_one(without, bits))


def found_one(adata, bits):
    return np.stack([bits(adata.obsm["clock_scores" + s]) for s in ("", "_coverage", "_missing_bound")])


# ---- order, company, cuts


@few
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_the_samples(gaps, expected, score, bits, seed):
    order = np.random.default_rng(seed).permutation(N)
    assert np.array_equal(found(score(gaps[order].copy(), CLOCKS), bits), expected[:, order])


@few
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_the_features(gaps, expected, score, bits, seed):
    order = np.random.default_rng(seed).permutation(gaps.n_vars)
    assert np.array_equal(found(score(gaps[:, order].copy(), CLOCKS), bits), expected)


@few
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_three_replicates(make, score, bits, seed):
    adata = make("vidalbralo", n=7)
    names = list(adata.var_names)
    rng = np.random.default_rng(11)
    x = np.column_stack([adata.X, rng.uniform(0, 1, (7, 2))])
    x[2, -1] = np.nan
    wide = AnnData(x, var=pd.DataFrame(index=pd.Index([f"{names[0]}_TC11", *names[1:], f"{names[0]}_BO12", names[0]])))
    order = np.random.default_rng(seed).permutation(wide.n_vars)
    assert np.array_equal(
        found_one(score(wide[:, order].copy(), "vidalbralo"), bits), found_one(score(wide, "vidalbralo"), bits)
    )


@few
@given(size=st.integers(1, N + 3))
def test_batch_size(gaps, expected, score, bits, size):
    assert np.array_equal(found(score(gaps, CLOCKS, batch_size=size), bits), expected)


@few
@given(rows=st.lists(st.integers(0, N - 1), min_size=1, max_size=N))
def test_company_of_other_samples(gaps, expected, score, bits, rows):
    part = AnnData(gaps.X[rows], var=gaps.var.copy())
    assert np.array_equal(found(score(part, CLOCKS), bits), expected[:, rows])


def test_other_samples_full_of_gaps(gaps, expected, score, bits):
    bad = np.full((40, gaps.n_vars), np.nan)
    bad[::2, ::2] = 0.3
    bad[::2, 1] = 0.4
    x = np.empty((N + 40, gaps.n_vars))
    x[0::2][:N], x[1::2][:N], x[2 * N :] = gaps.X, bad[:N], bad[N:]
    mixed = AnnData(x, var=gaps.var.copy())
    assert np.array_equal(found(score(mixed, CLOCKS), bits)[:, 0 : 2 * N : 2], expected)


def test_company_of_other_clocks(gaps, expected, score, bits):
    for i, clock in enumerate(CLOCKS):
        assert np.array_equal(found_one(score(gaps, clock), bits)[:, :, 0], expected[:, :, i]), clock


def test_features_nobody_needs(gaps, expected, score, bits):
    x = np.column_stack([np.full((N, 3), 7.5), gaps.X, np.full((N, 2), np.nan)])
    names = ["cg99999991", "rs_1", "gene_name_x", *gaps.var_names, "cg99999992", "other"]
    assert np.array_equal(found(score(AnnData(x, var=pd.DataFrame(index=pd.Index(names))), CLOCKS), bits), expected)


# ---- storage


@pytest.mark.parametrize(
    "store",
    [
        pytest.param(np.asfortranarray, id="Fortran order"),
        pytest.param(lambda x: x.astype(">f8"), id="big-endian"),
        pytest.param(sparse.csr_matrix, id="CSR"),
        pytest.param(sparse.csc_matrix, id="CSC"),
        pytest.param(sparse.csr_array, id="CSR array"),
        pytest.param(sparse.csc_array, id="CSC array"),
        pytest.param(lambda x: x[::-1][::-1], id="view of memory"),
    ],
)
def test_storage(store, gaps, expected, score, bits):
    assert np.array_equal(found(score(with_x(gaps, store(gaps.X)), CLOCKS), bits), expected)


def test_storage_read_only(gaps, expected, warned, bits):
    adata = with_x(gaps, gaps.X.copy())
    adata.X.flags.writeable = False
    before = adata.X.copy()
    warned(adata, CLOCKS)
    assert np.array_equal(found(adata, bits), expected)
    assert np.array_equal(adata.X, before, equal_nan=True)


def test_the_input_is_never_changed(gaps, warned):
    for x in (gaps.X.copy(), sparse.csr_matrix(gaps.X), sparse.csc_matrix(gaps.X)):
        adata = with_x(gaps, x)
        before = x.copy()
        warned(adata, CLOCKS)
        after = adata.X
        assert type(after) is type(before)
        a, b = (m.toarray() if sparse.issparse(m) else m for m in (after, before))
        assert np.array_equal(a, b, equal_nan=True)


def test_csr_with_unsorted_columns(gaps, expected, score, bits):
    x = sparse.csr_matrix(gaps.X)
    for i in range(N):
        part = slice(x.indptr[i], x.indptr[i + 1])
        x.indices[part], x.data[part] = x.indices[part][::-1].copy(), x.data[part][::-1].copy()
    x.has_sorted_indices = False
    adata = with_x(gaps, x)
    assert np.array_equal(found(score(adata, CLOCKS), bits), expected)


def test_csr_zeros_stored_or_not_are_beta_zero(gaps, score, bits):
    dense = np.where(np.random.default_rng(0).random(gaps.shape) < 0.3, 0.0, gaps.X)
    stored = sparse.csr_matrix(dense)
    stored.data[::5] = 0.0
    plain = found(score(with_x(gaps, stored.toarray()), CLOCKS), bits)
    assert np.array_equal(found(score(with_x(gaps, stored), CLOCKS), bits), plain)
    assert np.array_equal(found(score(with_x(gaps, stored.tocsc()), CLOCKS), bits), plain)


@pytest.mark.parametrize(
    ("dtype", "store"),
    [
        *(("float32", s) for s in (np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csc_matrix)),
        *(("float16", s) for s in (np.asarray, np.asfortranarray)),
    ],
)
def test_short_floats_give_the_bits_of_the_same_numbers_in_float64(dtype, store, gaps, score, bits):
    short = gaps.X.astype(dtype)
    wide = found(score(with_x(gaps, short.astype(np.float64)), CLOCKS), bits)
    assert np.array_equal(found(score(with_x(gaps, store(short)), CLOCKS), bits), wide)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_methylation_as_whole_numbers(dtype, store, gaps, score, bits):
    whole = np.random.default_rng(2).integers(0, 2, gaps.shape)
    plain = found(score(with_x(gaps, whole.astype(np.float64)), CLOCKS), bits)
    assert np.array_equal(found(score(with_x(gaps, store(whole.astype(dtype))), CLOCKS), bits), plain)


def test_dtype_float32_is_still_summed_in_float64(gaps, expected, score, bits):
    assert np.array_equal(found(score(gaps, CLOCKS, dtype="float32"), bits), expected)


# ---- where in the object


def test_layer(gaps, expected, score, bits):
    adata = with_x(gaps, np.full(gaps.shape, 0.5))
    adata.layers["beta"] = gaps.X
    assert np.array_equal(found(score(adata, CLOCKS, layer="beta"), bits), expected)


def test_use_raw(gaps, expected, score, bits):
    adata = gaps.copy()
    adata.raw = adata.copy()
    adata = adata[:, :5].copy()
    assert np.array_equal(found(score(adata, CLOCKS, use_raw=True), bits), expected)


def test_feature_key(gaps, expected, score, bits):
    adata = gaps.copy()
    adata.var["probe"] = adata.var_names
    adata.var_names = [f"row{i}" for i in range(adata.n_vars)]
    assert np.array_equal(found(score(adata, CLOCKS, feature_key="probe"), bits), expected)


def test_feature_key_as_a_categorical(gaps, expected, score, bits):
    adata = gaps.copy()
    adata.var["probe"] = pd.Categorical(adata.var_names)
    adata.var_names = [f"row{i}" for i in range(adata.n_vars)]
    assert np.array_equal(found(score(adata, CLOCKS, feature_key="probe"), bits), expected)


def test_upper_case_and_suffixed_ids(gaps, expected, score, bits):
    adata = gaps.copy()
    adata.var_names = [n.upper() if i % 2 else f"{n}_BC21" for i, n in enumerate(adata.var_names)]
    assert np.array_equal(found(score(adata, CLOCKS), bits), expected)


def test_views_of_objects(gaps, expected, score, bits):
    rows, columns = np.arange(N)[::-2], np.random.default_rng(0).permutation(gaps.n_vars)
    assert np.array_equal(found(score(gaps[rows, columns], CLOCKS), bits), expected[:, rows])


# ---- threads


def test_a_worker_thread_gives_the_answer_of_the_main_thread(gaps, expected, bits):
    def run(size):
        return found(fa.tl.score_clocks(gaps, CLOCKS, copy=True, batch_size=size), bits)

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(run, [1, 5, 16, 37, None, 2, 30, 8]))
    for answer in answers:
        assert np.array_equal(answer, expected)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_number_of_threads(store, gaps, expected, score, bits):
    times = 40
    adata = AnnData(store(np.tile(gaps.X, (times, 1))), var=gaps.var.copy())
    most = numba.get_num_threads()
    try:
        for threads in {1, most}:
            numba.set_num_threads(threads)
            assert np.array_equal(found(score(adata, CLOCKS), bits), np.tile(expected, (1, times, 1)))
    finally:
        numba.set_num_threads(most)


# ---- absent, NaN, or the reference written in

OWN = ["horvath2013", "cortical", "bernabeu_cage"]
PLATFORM = ["hannum", "dnamphenoage", "skinandblood", "dunedinpoam38", "zhang2017_mortality10", "depression_barbu"]


@pytest.mark.parametrize("clock", [*OWN, *PLATFORM])
def test_absent_or_nan_or_the_reference_written_in(clock, make, score, bits):
    adata = make(clock, n=34)
    record = fa.clocks.get(clock)
    own = dict(zip(record.terms[0].features, record.terms[0].reference, strict=True))
    platform = pd.read_parquet(data_file("reference_450k.parquet"))
    platform = dict(zip(platform.iloc[:, 0], platform.iloc[:, 1], strict=True))
    heavy = pd.Series(np.abs(record.terms[0].weights), index=record.terms[0].features).groupby(level=0).max()
    gone = heavy.sort_values().index[: max(1, len(heavy) // 10)].tolist()
    at = [adata.var_names.get_loc(f) for f in gone]
    written = adata.copy()
    written.X[:, at] = [own[f] if clock in OWN else platform[f] for f in gone]
    hole = adata.copy()
    hole.X[:, at] = np.nan
    absent = adata[:, ~adata.var_names.isin(gone)].copy()
    # One sample without the gap makes the kernel look cell by cell; the other samples must not change.
    partly = adata.copy()
    partly.X[1:, at] = np.nan
    a, b, c, d = (score(x, clock).obsm["clock_scores"][clock].to_numpy() for x in (written, hole, absent, partly))
    assert np.array_equal(bits(b), bits(c))
    assert np.array_equal(bits(d[1:]), bits(b[1:]))
    assert np.array_equal(bits(b), bits(a))


@pytest.mark.parametrize("clock", ["epitoc1", "epitoc2", "hypoclock"])
def test_absent_or_nan_for_clocks_that_drop(clock, make, score, bits):
    adata = make(clock, n=34)
    hole = adata.copy()
    hole.X[:, 3:9] = np.nan
    absent = AnnData(
        np.delete(adata.X, np.s_[3:9], axis=1), var=pd.DataFrame(index=adata.var_names.delete(range(3, 9)))
    )
    assert np.array_equal(found_one(score(hole, clock), bits), found_one(score(absent, clock), bits))


def test_absent_or_nan_where_the_median_of_the_sample_stands_in(make, score, bits):
    adata = make("bohlin96", n=34)
    w = pd.Series(np.abs(fa.clocks.get("bohlin96").terms[0].weights), index=fa.clocks.get("bohlin96").features)
    light = w.sort_values().index[:3]
    hole = adata.copy()
    hole.X[:, [adata.var_names.get_loc(f) for f in light]] = np.nan
    absent = adata[:, ~adata.var_names.isin(light)].copy()
    written = adata.copy()
    at = [adata.var_names.get_loc(f) for f in light]
    written.X[:, at] = np.median(np.delete(adata.X, at, axis=1), axis=1)[:, None]
    assert np.array_equal(found_one(score(hole, "bohlin96"), bits), found_one(score(absent, "bohlin96"), bits))
    a, b = (score(x, "bohlin96").obsm["clock_scores"]["bohlin96"] for x in (written, hole))
    assert np.array_equal(bits(a), bits(b))
    assert b.notna().all()


def test_absent_or_nan_for_each_sex(make, score, bits):
    clock = "dnamfit_grip_noage"
    adata = make(clock, n=6, sex=["F", "M"] * 3)
    terms = {t.part: t for t in fa.clocks.get(clock).terms}
    shared = [f for f in terms["female"].features if f in set(terms["male"].features)][:4]
    only = [f for f in terms["female"].features if f not in set(terms["male"].features)][:3]
    gone = shared + only
    at = [adata.var_names.get_loc(f) for f in gone]
    written = adata.copy()
    for part, rows in (("female", [0, 2, 4]), ("male", [1, 3, 5])):
        own = dict(zip(terms[part].features, terms[part].reference, strict=True))
        written.X[np.ix_(rows, at)] = [own.get(f, 0.5) for f in gone]
    hole = adata.copy()
    hole.X[:, at] = np.nan
    absent = adata[:, ~adata.var_names.isin(gone)].copy()
    a, b, c = (score(x, clock).obsm["clock_scores"][clock] for x in (written, hole, absent))
    assert np.array_equal(bits(b), bits(c))
    assert np.array_equal(bits(a), bits(b))


def data_file(name):
    from importlib.resources import files

    return files("falconage.clocks") / "data" / name
