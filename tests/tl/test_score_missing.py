"""What was not measured: the policy of each clock, coverage, floors, and the bound on what the gaps can do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import falconage as fa
from falconage.clocks import _catalog

COVERAGE, BOUND = "clock_scores_coverage", "clock_scores_missing_bound"


def terms_of(clock, part=0):
    return _catalog.load([clock])[0].terms[part]


def weights_of(clock):
    """|w| of each feature, lightest first."""
    terms = terms_of(clock)
    return pd.Series(np.abs(terms.weights), index=terms.features).sort_values()


def hole(adata, features, rows=slice(None)):
    out = adata.copy()
    for f in features:
        out.X[rows, out.var_names.get_loc(f)] = np.nan
    return out


def without(adata, features):
    return adata[:, ~adata.var_names.isin(list(features))].copy()


def platform():
    return _catalog.reference_450k()


# ---- coverage


def expected_coverage(x, clock):
    terms = terms_of(clock)
    names = list(terms.features)
    seen = ~np.isnan(x.reindex(columns=names).to_numpy())
    w = np.abs(terms.weights)
    return np.minimum(seen.mean(axis=1), (seen * w).sum(axis=1) / w.sum())


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 0.6))
def test_coverage_is_the_smaller_of_the_count_share_and_the_weight_share(make, score, seed, share):
    clocks = ["hannum", "dnamphenoage", "epitoc1"]
    adata = make(clocks, n=9)
    rng = np.random.default_rng(seed)
    adata.X[rng.random(adata.shape) < share] = np.nan
    adata.X[0] = 0.3 + 0.2 * rng.random(adata.n_vars)
    adata = adata[:, rng.random(adata.n_vars) > 0.05].copy()
    scored = score(adata, clocks, min_coverage=0.0)
    got = scored.obsm[COVERAGE]
    assert got.dtype == np.float32
    assert got.shape == (9, 3)
    for i, clock in enumerate(scored.obsm["clock_scores"].columns):
        np.testing.assert_allclose(got[:, i], expected_coverage(adata.to_df(), clock), rtol=1e-6)


def test_coverage_of_a_complete_matrix_is_exactly_one(make, score):
    scored = score(make(["hannum", "epitoc2", "horvath2013"]), ["hannum", "epitoc2", "horvath2013"])
    assert (scored.obsm[COVERAGE] == 1).all()
    assert (scored.obsm[BOUND] == 0).all()


def test_a_few_heavy_features_missing_lower_the_weight_share_below_the_count_share(make, score):
    heavy = weights_of("hannum").index[-10:]
    scored = score(hole(make("hannum"), heavy), "hannum", min_coverage=0.0)
    w = weights_of("hannum")
    want = w.iloc[:-10].sum() / w.sum()
    assert want < 61 / 71 - 0.1
    np.testing.assert_allclose(scored.obsm[COVERAGE][:, 0], want, rtol=1e-6)


def test_columns_that_are_all_nan_count_as_missing_and_not_as_present(make, score):
    adata = make("hannum")
    gone = list(adata.var_names[:6])
    a, b = score(hole(adata, gone), "hannum"), score(without(adata, gone), "hannum")
    assert np.array_equal(a.obsm[COVERAGE], b.obsm[COVERAGE])
    assert (a.obsm[COVERAGE] < 1).all()


# ---- floors


def test_66_of_71_hannum_probes_missing_in_one_sample_is_nan_and_not_48_years(make, score):
    adata = make("hannum")
    adata.X[2, :66] = np.nan
    scored = score(adata, "hannum")
    got = scored.obsm["clock_scores"]["hannum"]
    assert np.isnan(got.iloc[2])
    assert got.drop("s2").notna().all()
    assert 0 < scored.obsm[COVERAGE][2, 0] <= 5 / 71 + 1e-6


def test_1_of_71_probes_present_is_refused_with_counts_and_share(make):
    adata = make("hannum")[:, :1].copy()
    with pytest.raises(fa.RefusedError, match=r"(?s)hannum.*1 of its 71.*80%") as info:
        fa.tl.score_clocks(adata, ["hannum"])
    assert set(info.value.reasons) == {"hannum"}
    assert "clock_scores" not in adata.obsm


def test_floor_is_for_each_sample_and_moves_with_min_coverage(make, score):
    adata = make("hannum", n=3)
    light = weights_of("hannum").index
    adata = hole(hole(adata, light[:20], rows=[1]), light[:10], rows=[2])
    for floor, nan in ((0.8, [False, True, False]), (0.9, [False, True, True]), (0.7, [False, False, False])):
        scored = score(adata, "hannum", min_coverage=floor)
        assert scored.obsm["clock_scores"]["hannum"].isna().tolist() == nan, floor


def test_a_share_equal_to_the_floor_is_enough(make, score):
    light = weights_of("vidalbralo").index
    scored = score(hole(make("vidalbralo"), light[:2]), "vidalbralo", min_coverage=0.75)
    assert scored.obsm[COVERAGE][0, 0] == 0.75
    assert scored.obsm["clock_scores"]["vidalbralo"].notna().all()


def test_the_authors_floor_holds_against_a_lower_min_coverage(make, score):
    adata = make("dunedinpoam38")
    light = weights_of("dunedinpoam38").index
    scored = score(hole(adata, light[:12], rows=[0]), "dunedinpoam38", min_coverage=0.1)
    assert scored.obsm["clock_scores"]["dunedinpoam38"].isna().tolist() == [True] + [False] * 5
    assert fa.get.manifest(scored)["clocks"].loc["dunedinpoam38", "floor"] == 0.8
    with pytest.raises(fa.RefusedError, match=r"(?s)dunedinpoam38.*80%"):
        fa.tl.score_clocks(without(adata, light[:12]), "dunedinpoam38", min_coverage=0.1)


def test_min_coverage_above_the_authors_floor_holds_too(make):
    light = weights_of("dunedinpoam38").index
    with pytest.raises(fa.RefusedError, match="95%"):
        fa.tl.score_clocks(without(make("dunedinpoam38"), light[:3]), "dunedinpoam38", min_coverage=0.95)


def test_absent_and_nan_add_up_against_the_floor(make, score):
    light = weights_of("hannum").index
    adata = hole(without(make("hannum"), light[:8]), light[8:18], rows=[0])
    assert score(adata, "hannum").obsm["clock_scores"]["hannum"].isna().tolist() == [True] + [False] * 5


@pytest.mark.parametrize("bad", [-0.1, 1.2, math.nan])
def test_min_coverage_outside_0_to_1(make, bad):
    with pytest.raises(fa.InputError, match=r"min_coverage=.*between 0 and 1"):
        fa.tl.score_clocks(make("vidalbralo"), "vidalbralo", min_coverage=bad)


# ---- refusals


def test_refusal_of_a_named_clock_raises_and_writes_nothing(make):
    adata = make(["hannum", "epitoc1"])
    adata = without(adata, weights_of("hannum").index[:40])
    with pytest.raises(fa.RefusedError, match=r"(?s)hannum.*on_refusal='warn'"):
        fa.tl.score_clocks(adata, ["epitoc1", "hannum"])
    assert not adata.obsm
    assert not adata.uns
    assert not len(adata.obs.columns)


def test_refusal_of_a_named_clock_as_a_warning_computes_the_others(make, warned):
    adata = without(make(["hannum", "epitoc1"]), weights_of("hannum").index[:40])
    notes = warned(adata, ["epitoc1", "hannum"], on_refusal="warn")
    assert list(adata.obsm["clock_scores"].columns) == ["epitoc1"]
    said = [str(w.message) for w in notes if "hannum" in str(w.message)]
    assert len(said) == 1
    assert "31 of its 71" in said[0]
    assert "hannum" in fa.get.manifest(adata)["refused"].index


def test_refusals_within_a_group_are_listed_in_the_manifest_without_noise(make, warned):
    adata = make(["epitoc1", "epitoc2"])
    notes = warned(adata, "@mitotic")
    assert notes == []
    refused = fa.get.manifest(adata)["refused"]
    assert "replitali" in refused.index
    assert refused["reason"].str.len().min() > 20
    assert set(refused.index).isdisjoint(adata.obsm["clock_scores"].columns)


def test_nothing_left_to_compute_is_an_error_even_for_a_group(make):
    with pytest.raises(fa.RefusedError, match="No clock can be computed"):
        fa.tl.score_clocks(make("dnamtl")[:, :30].copy(), "@telomere", on_refusal="warn")


def test_a_clock_named_beside_its_group_is_still_named(make):
    adata = make(["epitoc1", "epitoc2"])
    with pytest.raises(fa.RefusedError, match="replitali"):
        fa.tl.score_clocks(adata, ["@mitotic", "replitali"])


# ---- the chain of policies


def test_own_reference_comes_before_the_platform_median(make, score, loop):
    light = list(weights_of("horvath2013").index[:30])
    adata = without(make("horvath2013"), light)
    terms = terms_of("horvath2013")
    own = pd.Series(terms.reference, index=terms.features)
    assert (own[light] != platform()[light]).all()
    y = loop(adata.to_df(), terms)
    want = [21 * math.exp(v) - 1 if v < 0 else 21 * v + 20 for v in y]
    np.testing.assert_array_equal(score(adata, "horvath2013").obsm["clock_scores"]["horvath2013"], want)
    # The other value gives another age, so that the test can tell them apart.
    other = loop(adata.to_df(), terms, platform().reindex(terms.features).to_numpy())
    assert (np.abs(other - y) > 1e-4).all()


def test_platform_median_where_the_clock_has_none_of_its_own(make, score, loop):
    light = list(weights_of("hannum").index[:12])
    adata = without(make("hannum"), light)
    want = loop(adata.to_df(), terms_of("hannum"), platform().reindex(terms_of("hannum").features).to_numpy())
    np.testing.assert_array_equal(score(adata, "hannum").obsm["clock_scores"]["hannum"], want)


def test_the_reference_of_the_user_wins_over_both_and_is_recorded_by_hash(make, score, loop):
    for clock in ("horvath2013", "hannum"):
        light = list(weights_of(clock).index[:5])
        adata = without(make(clock), light[:3])
        adata = hole(adata, light[3:], rows=[0, 2])
        mine = {f: 0.05 + 0.1 * i for i, f in enumerate(light)}
        terms = terms_of(clock)
        chain = pd.Series(mine).reindex(terms.features).fillna(pd.Series(terms.reference, index=terms.features))
        chain = chain.fillna(platform()).to_numpy()
        y = loop(adata.to_df(), terms, chain)
        want = y if clock == "hannum" else [21 * math.exp(v) - 1 if v < 0 else 21 * v + 20 for v in y]
        scored = score(adata, clock, reference=mine)
        np.testing.assert_array_equal(scored.obsm["clock_scores"][clock], want)
        record = fa.get.manifest(scored)
        assert len(record["params"]["reference_sha256"]) >= 64
        assert record["clocks"].loc[clock, "references_used"] == "reference="
        assert set(record["absent"]["filled_from"]) == {"reference="}
        again = fa.get.manifest(score(adata, clock, reference=pd.Series(mine)))
        assert again["params"]["reference_sha256"] == record["params"]["reference_sha256"]
        mine[light[0]] += 1e-9
        other = fa.get.manifest(score(adata, clock, reference=mine))
        assert other["params"]["reference_sha256"] != record["params"]["reference_sha256"]


def test_no_reference_is_recorded_as_none(make, score):
    assert fa.get.manifest(score(make("vidalbralo"), "vidalbralo"))["params"]["reference_sha256"] == ""


def test_the_reference_of_the_user_does_not_touch_measured_values(make, score):
    adata = make("hannum")
    mine = dict.fromkeys(adata.var_names, 0.99)
    a, b = (score(adata, "hannum", reference=r).obsm["clock_scores"] for r in (None, mine))
    assert a.equals(b)


def test_the_reference_of_the_user_does_not_raise_coverage(make, score):
    light = list(weights_of("hannum").index[:12])
    adata = without(make("hannum"), light)
    a, b = (score(adata, "hannum", reference=r).obsm[COVERAGE] for r in (None, dict.fromkeys(light, 0.4)))
    assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"cg00000029": "high"}, "numbers"),
        ({"cg00000029": math.inf}, "infinite"),
        (pd.Series([0.1, 0.2], index=["cg00000029", "cg00000029"]), "twice"),
    ],
)
def test_reference_that_is_no_table_of_betas(make, bad, words):
    with pytest.raises(fa.InputError, match=rf"reference=.*{words}"):
        fa.tl.score_clocks(make("vidalbralo"), "vidalbralo", reference=bad)


@pytest.mark.parametrize("bad", [61.0, -2.3])
def test_reference_in_percent_or_m_values_is_refused_like_such_data(make, bad):
    adata = make("vidalbralo")
    with pytest.raises(fa.InputError, match="reference="):
        fa.tl.score_clocks(adata[:, 1:].copy(), "vidalbralo", reference={adata.var_names[0]: bad})


def test_reference_for_features_that_no_clock_has_is_not_ignored_in_silence(make, warned):
    adata = make("vidalbralo")
    try:
        said = [str(w.message) for w in warned(adata[:, 1:].copy(), "vidalbralo", reference={"NOT_A_FEATURE": 0.5})]
    except fa.InputError as error:
        said = [str(error)]
    assert any("reference=" in s for s in said)


def test_reference_in_upper_case_finds_its_feature_as_data_do(make, score):
    adata = make("vidalbralo")
    name = adata.var_names[0]
    a = score(adata[:, 1:].copy(), "vidalbralo", reference={name: 0.123})
    b = score(adata[:, 1:].copy(), "vidalbralo", reference={name.upper(): 0.123})
    assert a.obsm["clock_scores"].equals(b.obsm["clock_scores"])


# ---- the sample's own median, at most 5 % of the weight


def test_sample_median_of_the_measured_features_of_the_clock(make, score, loop):
    clock = "bohlin96"
    w = weights_of(clock)
    light = list(w.index[:4])
    assert w.iloc[:4].sum() / w.sum() < 0.05
    adata = make([clock, "hannum"], n=7)
    adata = hole(adata, light[:2], rows=[0, 3, 4])
    adata = without(adata, light[2:])
    frame = adata.to_df()
    terms = terms_of(clock)
    mine = frame.reindex(columns=terms.features)
    want = []
    for _, row in mine.iterrows():
        filled = row.fillna(np.median(row.dropna()))
        want.append(loop(filled.to_frame().T, terms)[0] / 7)
    scored = score(adata, clock)
    np.testing.assert_array_equal(scored.obsm["clock_scores"][clock], want)
    assert fa.get.manifest(scored)["clocks"].loc[clock, "references_used"] == "sample_median"


def test_sample_median_of_an_odd_and_an_even_number_of_features(make, score, loop):
    # Weights far apart: the lightest feature of nine carries little.
    clock = "cts_hep"
    w = weights_of(clock)
    adata = make(clock, n=3)
    adata = hole(hole(adata, w.index[:1], rows=[0]), w.index[:2], rows=[1])
    assert w.iloc[:2].sum() / w.sum() < 0.05
    terms = terms_of(clock)
    mine = adata.to_df()[list(terms.features)]
    want = [loop(r.fillna(np.median(r.dropna())).to_frame().T, terms)[0] for _, r in mine.iterrows()]
    np.testing.assert_array_equal(score(adata, clock).obsm["clock_scores"][clock], want)


def five_percent(weights):
    """Features that carry just below, and just above, a twentieth of the weight; of middling weight, so few."""
    each = (weights / weights.sum())[::-1]
    each = each[each < 0.02]
    n = int((each.cumsum() <= 0.05).sum())
    assert 0 < n < len(weights) / 10
    return list(each.index[:n]), list(each.index[: n + 1])


def test_above_five_percent_of_the_weight_the_median_is_refused_for_that_sample(make, warned):
    clock = "bohlin96"
    w = weights_of(clock)
    within, beyond = five_percent(w)
    adata = hole(hole(make(clock), within, rows=[1]), beyond, rows=[2])
    notes = warned(adata, clock)
    assert adata.obsm["clock_scores"][clock].isna().tolist() == [False, False, True, False, False, False]
    assert np.isnan(adata.obsm[BOUND][2, 0])
    assert adata.obsm[COVERAGE][2, 0] > 0.8
    said = [str(w.message) for w in notes if "median" in str(w.message)]
    assert said
    assert any("NaN" in s and "1 of 6" in s for s in said)


def test_absent_features_above_five_percent_are_refused_and_reference_is_offered(make, score):
    clock = "bohlin96"
    w = weights_of(clock)
    _, beyond = five_percent(w)
    adata = without(make(clock), beyond)
    with pytest.raises(fa.RefusedError, match=r"(?s)5%.*reference="):
        fa.tl.score_clocks(adata, clock)
    assert score(adata, clock, reference=dict.fromkeys(beyond, 0.5)).obsm["clock_scores"][clock].notna().all()


def test_epic_only_features_of_a_blood_clock_take_the_median_and_the_others_the_platform(make, score, loop):
    clock = "abec"
    terms = terms_of(clock)
    ref = platform().reindex(terms.features).to_numpy()
    w = np.abs(terms.weights)
    order = np.argsort(w)
    epic = [j for j in order if np.isnan(ref[j])][:3]
    old = [j for j in order if not np.isnan(ref[j])][:3]
    gone = [terms.features[j] for j in [*epic, *old]]
    adata = without(make(clock, n=3), gone)
    mine = adata.to_df().reindex(columns=terms.features)
    want = []
    for _, row in mine.iterrows():
        own = np.where(np.isnan(ref), np.median(row.dropna()), ref)
        want.append(loop(row.to_frame().T, terms, own)[0])
    scored = score(adata, clock)
    np.testing.assert_array_equal(scored.obsm["clock_scores"][clock], want)
    absent = fa.get.manifest(scored)["absent"].set_index("feature")["filled_from"]
    assert (absent[[terms.features[j] for j in epic]] == "sample_median").all()
    assert (absent[[terms.features[j] for j in old]] == "ref450k").all()


def test_a_clock_that_refuses_without_its_own_reference_has_one_for_every_feature():
    clock = _catalog.load(["bernabeu_cage"])[0]
    assert clock.missing == ("ref_own", "refuse")
    assert not np.isnan(clock.terms[0].reference).any()


# ---- clocks that drop


def test_absent_cpgs_of_epitoc2_are_dropped_and_not_used_as_minus_one(make, score):
    for clock in ("epitoc2", "epitoc3"):
        adata = make(clock)
        gone = list(adata.var_names[:20])
        terms = terms_of(clock)
        frame = adata.to_df()[list(terms.features)].to_numpy()
        d, b = terms.weights, terms.second
        stay = ~np.isin(terms.features.astype(str), gone)
        want = 2 / stay.sum() * ((frame - b) / (d * (1 - b)))[:, stay].sum(axis=1)
        np.testing.assert_allclose(score(without(adata, gone), clock).obsm["clock_scores"][clock], want, rtol=1e-12)


def test_means_divide_by_the_cpgs_present(make, score):
    adata = make("epitoc1")
    adata.X[3, :50] = np.nan
    want = np.nanmean(adata.X[:, 5:], axis=1)
    scored = score(adata[:, 5:].copy(), "epitoc1")
    np.testing.assert_allclose(scored.obsm["clock_scores"]["epitoc1"], want, rtol=1e-12)
    assert fa.get.manifest(scored)["absent"]["filled_from"].unique().tolist() == ["dropped"]


def test_a_reference_of_the_user_does_not_fill_a_mean(make, score):
    adata = make("epitoc1")[:, 5:].copy()
    features = list(terms_of("epitoc1").features)
    a, b = (score(adata, "epitoc1", reference=r) for r in (None, dict.fromkeys(features, 1.0)))
    assert a.obsm["clock_scores"].equals(b.obsm["clock_scores"])


# ---- missing= "raise" and "nan"


def test_missing_raise_names_clock_sample_and_way_out(make):
    adata = make(["hannum", "epitoc1"])
    adata.X[4, adata.var_names.get_loc(terms_of("hannum").features[0])] = np.nan
    with pytest.raises(fa.InputError, match=r"(?s)missing='raise'.*hannum.*s4.*missing='catalogue'"):
        fa.tl.score_clocks(adata, ["epitoc1", "hannum"], missing="raise")
    assert not adata.obsm
    assert not adata.uns


def test_missing_raise_sees_absent_features_and_dropped_ones(make):
    for clock in ("hannum", "epitoc1"):
        with pytest.raises(fa.InputError, match="missing='raise'"):
            fa.tl.score_clocks(make(clock)[:, 1:].copy(), clock, missing="raise")


def test_missing_raise_is_silent_on_complete_data(make):
    adata = make("hannum")
    fa.tl.score_clocks(adata, "hannum", missing="raise")
    assert adata.obsm["clock_scores"]["hannum"].notna().all()


def test_missing_nan_leaves_every_incomplete_score_out(make, score, bits):
    adata = make(["hannum", "epitoc1"])
    full = score(adata, ["hannum", "epitoc1"]).obsm["clock_scores"]
    adata.X[4, adata.var_names.get_loc(terms_of("hannum").features[0])] = np.nan
    adata.X[1, adata.var_names.get_loc(terms_of("epitoc1").features[0])] = np.nan
    got = score(adata, ["hannum", "epitoc1"], missing="nan").obsm["clock_scores"]
    want = full.copy()
    want.loc["s4", "hannum"] = np.nan
    want.loc["s1", "epitoc1"] = np.nan
    assert np.array_equal(bits(got), bits(want))


def test_missing_nan_does_not_blame_the_floor(make, warned):
    adata = make("hannum")
    adata.X[4, 0] = np.nan
    said = [str(w.message) for w in warned(adata, "hannum", missing="nan")]
    assert any("NaN" in s for s in said)
    assert not any("floor" in s for s in said)


def test_missing_of_an_unknown_word(make):
    with pytest.raises(fa.InputError, match=r"missing='zero'.*'catalogue'.*'raise'.*'nan'"):
        fa.tl.score_clocks(make("vidalbralo"), "vidalbralo", missing="zero")


def test_on_refusal_of_an_unknown_word(make):
    with pytest.raises(fa.InputError, match=r"on_refusal='ignore'.*'raise'.*'warn'"):
        fa.tl.score_clocks(make("vidalbralo"), "vidalbralo", on_refusal="ignore")


# ---- cells that an imputation filled


def imputed(adata, cells, store=np.asarray):
    out = adata.copy()
    out.layers["falconage_imputed"] = store(cells)
    return out


@pytest.mark.parametrize(
    "store", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, lambda m: sparse.csr_matrix(m.astype(np.uint8))]
)
@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_imputed_cells_count_as_missing_for_coverage_and_leave_the_score_alone(store, matrix, make, score):
    clocks = ["hannum", "horvath2013", "epitoc1"]
    adata = make(clocks, n=8)
    cells = np.random.default_rng(0).random(adata.shape) < 0.1
    cells[0] = False
    gaps = adata.copy()
    gaps.X[cells] = np.nan
    adata.X = matrix(adata.X)
    plain, got, want = score(adata, clocks), score(imputed(adata, cells, store), clocks), score(gaps, clocks)
    assert plain.obsm["clock_scores"].equals(got.obsm["clock_scores"])
    np.testing.assert_allclose(got.obsm[COVERAGE], want.obsm[COVERAGE], rtol=1e-6)
    assert (got.obsm[COVERAGE][1:] < 1).any()


@pytest.mark.parametrize("clock", ["epitoc2", "depression_barbu", "bernabeu_cage"])
def test_imputed_cells_count_where_the_value_is_transformed_first(clock, make, score):
    adata = make(clock, n=8)
    cells = np.random.default_rng(0).random(adata.shape) < 0.1
    gaps = adata.copy()
    gaps.X[cells] = np.nan
    got, want = score(imputed(adata, cells), clock), score(gaps, clock)
    np.testing.assert_allclose(got.obsm[COVERAGE], want.obsm[COVERAGE], rtol=1e-6)


def test_imputed_replicates_of_an_epicv2_probe_count_as_missing(make, score):
    adata = make("vidalbralo")
    name = adata.var_names[0]
    x = np.column_stack([adata.X, adata.X[:, 0]])
    twin = AnnData(x, var=pd.DataFrame(index=pd.Index([f"{name}_TC11", *adata.var_names[1:], f"{name}_TC12"])))
    cells = np.zeros(twin.shape, bool)
    cells[:, [0, -1]] = True
    got = score(imputed(twin, cells), "vidalbralo", min_coverage=0)
    want = score(adata[:, 1:].copy(), "vidalbralo", min_coverage=0)
    np.testing.assert_allclose(got.obsm[COVERAGE], want.obsm[COVERAGE], rtol=1e-6)


def test_a_cell_flagged_as_imputed_that_is_nan_counts_once(make, score):
    adata = make("hannum")
    adata.X[1, :4] = np.nan
    cells = np.isnan(adata.X)
    a, b = score(imputed(adata, cells), "hannum"), score(adata, "hannum")
    assert np.array_equal(a.obsm[COVERAGE], b.obsm[COVERAGE])
    np.testing.assert_allclose(a.obsm[BOUND], b.obsm[BOUND], rtol=1e-6)
    assert a.obsm["clock_scores"].equals(b.obsm["clock_scores"])


def test_imputed_cells_count_against_the_floor(make, score):
    adata = make("hannum")
    cells = np.zeros(adata.shape, bool)
    cells[3, :30] = True
    assert score(imputed(adata, cells), "hannum").obsm["clock_scores"]["hannum"].isna().tolist() == [False] * 3 + [
        True,
        False,
        False,
    ]


def test_imputed_cells_do_not_depend_on_batch_size(make, score):
    clocks = ["hannum", "horvath2013"]
    adata = make(clocks, n=11)
    adata.X[np.random.default_rng(1).random(adata.shape) < 0.02] = np.nan
    cells = np.random.default_rng(0).random(adata.shape) < 0.1
    a, b = (score(imputed(adata, cells), clocks, batch_size=s) for s in (None, 3))
    for key in (COVERAGE, BOUND):
        assert np.array_equal(a.obsm[key], b.obsm[key], equal_nan=True)


def test_imputed_cells_widen_the_bound_as_unmeasured_ones(make, score, loop):
    adata = make("hannum", n=2)
    names = weights_of("hannum").index[-3:]
    at = [adata.var_names.get_loc(n) for n in names]
    cells = np.zeros(adata.shape, bool)
    cells[1, at] = True
    frame, terms = adata.to_df(), terms_of("hannum")
    y = loop(frame, terms)
    want = brute(frame.iloc[[1]], terms, names, lambda v: v, y[1], loop)
    got = score(imputed(adata, cells), "hannum", min_coverage=0.5).obsm[BOUND]
    assert got[0, 0] == 0
    np.testing.assert_allclose(got[1, 0], want, rtol=1e-5)


# ---- the bound


def brute(frame, terms, names, link, score, loop, options=(0.0, 1.0)):
    """The largest move of one sample's score over every choice of the unmeasured values."""
    worst = 0.0
    for choice in itertools.product(options, repeat=len(names)):
        row = frame.copy()
        for name, value in zip(names, choice, strict=True):
            row[name] = value
        moved = abs(link(loop(row, terms)[0]) - score)
        worst = max(worst, 0.0 if math.isnan(moved) else moved)
    return worst


def horvath20(y):
    return 21 * math.exp(y) - 1 if y < 0 else 21 * y + 20


@pytest.mark.parametrize(
    ("clock", "link"),
    [
        ("hannum", lambda y: y),
        ("horvath2013", horvath20),
        ("skinandblood", horvath20),
        ("wu", lambda y: (49 * math.exp(y) - 1 if y < 0 else 49 * y + 48) / 12),
        ("bohlin96", lambda y: y / 7),
    ],
)
def test_bound_is_the_largest_move_over_every_choice_of_the_missing_values(clock, link, make, score, loop):
    w = weights_of(clock)
    names = list(w.index[:2] if clock == "bohlin96" else [*w.index[-4:], *w.index[:2]])
    adata = hole(make(clock, n=5), names[1:], rows=[1])
    adata = hole(adata, names, rows=[3])
    scored = score(adata, clock, min_coverage=0.0)
    got, value = scored.obsm[BOUND][:, 0], scored.obsm["clock_scores"][clock]
    assert got.dtype == np.float32
    assert np.array_equal(got[[0, 2, 4]], [0, 0, 0])
    for i, gone in ((1, names[1:]), (3, names)):
        want = brute(adata.to_df().iloc[[i]], terms_of(clock), gone, link, value.iloc[i], loop)
        np.testing.assert_allclose(got[i], want, rtol=1e-5)
    # Absent in every sample is the same question.
    absent = score(without(make(clock, n=5), names), clock, min_coverage=0.0)
    np.testing.assert_allclose(absent.obsm[BOUND][3, 0], got[3], rtol=1e-5)


def test_bound_of_an_identity_clock_is_the_sum_in_closed_form(make, score):
    adata = make("hannum")
    names = list(adata.var_names[:8])
    w = pd.Series(terms_of("hannum").weights, index=terms_of("hannum").features)[names]
    r = platform()[names]
    up = np.maximum(w * (1 - r), -w * r).sum()
    down = np.minimum(w * (1 - r), -w * r).sum()
    got = score(without(adata, names), "hannum", min_coverage=0).obsm[BOUND]
    np.testing.assert_allclose(got[:, 0], max(up, -down), rtol=1e-5)


@pytest.mark.parametrize("clock", ["epitoc1", "hypoclock"])
def test_bound_of_a_mean_asks_what_the_full_mean_could_be(clock, make, score):
    adata = make(clock, n=3)
    adata.X[1, :9] = np.nan
    scored = score(adata, clock)
    k, total = adata.n_vars, np.nansum(adata.X[1])
    here = total / (k - 9)
    want = max(abs(total / k - here), abs((total + 9) / k - here))
    np.testing.assert_allclose(scored.obsm[BOUND][:, 0], [0, want, 0], rtol=1e-5)


def test_bound_of_divisions_asks_what_the_full_sum_could_be(make, score):
    clock = "epitoc2"
    terms = terms_of(clock)
    adata = make(clock, n=2)
    frame = adata.to_df()[list(terms.features)]
    frame.iloc[1, :6] = np.nan
    d, b = terms.weights, terms.second

    def value(x):
        return 2 * np.nanmean((x - b) / (d * (1 - b)))

    row = frame.iloc[1].to_numpy()
    moves = [abs(value(np.where(np.isnan(row), v, row)) - value(row)) for v in (0.0, 1.0)]
    holed = AnnData(frame.to_numpy(), obs=adata.obs, var=pd.DataFrame(index=frame.columns))
    np.testing.assert_allclose(score(holed, clock).obsm[BOUND][:, 0], [0, max(moves)], rtol=1e-5)


def test_bound_in_m_values_stops_at_the_clip(make, score):
    clock = "depression_barbu"
    terms = terms_of(clock)
    adata = make(clock, n=2)
    names = [terms.features[0], terms.features[5]]
    scored = score(hole(adata, names, rows=[1]), clock)
    end = math.log2((1 - 1e-6) / 1e-6)
    w = pd.Series(terms.weights, index=terms.features)[names]
    b = platform()[names]
    m = np.log2(b / (1 - b))
    up, down = (w * (end - m)), (w * (-end - m))
    want = max(np.maximum(up, down).sum(), -np.minimum(up, down).sum())
    np.testing.assert_allclose(scored.obsm[BOUND][:, 0], [0, want], rtol=1e-5)


def near_reference(clock, n=2):
    terms = terms_of(clock)
    own = pd.Series(terms.reference, index=terms.features).groupby(level=0).first()
    x = np.clip(own.to_numpy() + np.random.default_rng(0).normal(0, 0.005, (n, len(own))), 0, 1)
    return AnnData(x, obs=pd.DataFrame(index=pd.Index([f"s{i}" for i in range(n)])), var=pd.DataFrame(index=own.index))


def test_bound_where_a_feature_enters_plain_and_squared_is_exact(score, loop):
    clock = "bernabeu_cage"
    terms = terms_of(clock)
    both = ["cg04894619", "cg21865845"]
    for f in both:
        assert terms.squared[terms.features == f].tolist() == [False, True]
    adata = hole(near_reference(clock), both, rows=[1])
    scored = score(adata, clock)
    y = scored.obsm["clock_scores"][clock].iloc[1]
    assert y > 20
    # w·x + v·x² over 0 ≤ x ≤ 1: a grid is close enough to the extreme.
    want = brute(
        adata.to_df().iloc[[1]], terms, both, lambda v: v if v >= 20 else math.nan, y, loop, np.linspace(0, 1, 13)
    )
    np.testing.assert_allclose(scored.obsm[BOUND][1, 0], want, rtol=0.02)


def test_bound_of_each_sex(make, score, loop):
    clock = "dnamfit_grip_noage"
    adata = make(clock, n=4, sex=["female", "male", "female", "male"])
    parts = {t.part: t for t in _catalog.load([clock])[0].terms}
    name = next(f for f in parts["female"].features if f in set(parts["male"].features))
    scored = score(hole(adata, [name], rows=[2, 3]), clock)
    for i, part in ((2, "female"), (3, "male")):
        j = list(parts[part].features).index(name)
        w, r = parts[part].weights[j], parts[part].reference[j]
        np.testing.assert_allclose(scored.obsm[BOUND][i, 0], abs(w) * max(r, 1 - r), rtol=1e-5)
    assert (scored.obsm[BOUND][:2] == 0).all()


def test_true_value_always_lies_within_the_bound(make, score):
    clocks = ["hannum", "horvath2013", "epitoc1", "epitoc2", "skinandblood", "dunedinpoam38", "depression_barbu"]
    full = make(clocks, n=40, seed=9)
    gaps = full.copy()
    gaps.X[np.random.default_rng(4).random(full.shape) < 0.1] = np.nan
    a, b = score(full, clocks), score(gaps, clocks, min_coverage=0.0)
    move = (a.obsm["clock_scores"] - b.obsm["clock_scores"]).abs().to_numpy()
    seen = ~np.isnan(move)
    assert seen.mean() > 0.9
    assert (move <= b.obsm[BOUND] * (1 + 1e-6) + 1e-9)[seen].all()


# ---- samples with nothing, and warnings


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_an_all_nan_sample_is_nan_for_every_clock_and_no_crash(dtype, store, make, warned):
    clocks = ["hannum", "horvath2013", "epitoc1", "epitoc2", "hypoclock", "bohlin96", "cts_liver", "depression_barbu"]
    adata = make(clocks)
    x = adata.X.astype(dtype)
    x[2] = np.nan
    adata = AnnData(store(x), obs=adata.obs, var=adata.var)
    notes = warned(adata, clocks)
    assert adata.obsm["clock_scores"].loc["s2"].isna().all()
    assert adata.obsm["clock_scores"].drop("s2").notna().all(axis=None)
    assert (adata.obsm[COVERAGE][2] == 0).all()
    assert any("NaN" in str(w.message) for w in notes)


def test_all_samples_all_nan_is_told_from_a_mismatch_of_names(make):
    adata = make("hannum")
    adata.X[:] = np.nan
    try:
        import warnings

        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            fa.tl.score_clocks(adata, "hannum")
        said = " ".join(str(w.message) for w in notes)
        assert adata.obsm["clock_scores"]["hannum"].isna().all()
    except fa.FalconageError as error:
        said = str(error)
    assert "measured" in said or "NaN" in said
    assert "None of the" not in said


def test_every_human_clock_survives_one_gap(make, score):
    table = fa.clocks.table()
    rows = table[(table["status"] == "shipped") & table["species"].map(lambda s: "human" in str(s))]
    ids = [i for i in rows.index if rows.loc[i, "tissue"] != "plasma cfDNA"]
    adata = make(ids, n=3, sex=["m", "f", "f"], age=[30.0, 40.0, 50.0])
    gone = {i: weights_of(i).index[0] for i in ids}
    holes = hole(adata, set(gone.values()), rows=[1])
    scored = score(holes, ids, on_refusal="warn", species="human", min_coverage=0.5)
    assert list(scored.obsm["clock_scores"].columns) == ids
    assert (scored.obsm[COVERAGE][1] < 1).all()
    assert (scored.obsm[COVERAGE][[0, 2]] == 1).all()


def test_blood_medians_on_liver_warn_and_name_the_clock(make, warned):
    adata = make("horvath2013_shrunk", tissue=["liver"] * 6)[:, 1:].copy()
    notes = [w for w in warned(adata, "horvath2013_shrunk") if issubclass(w.category, fa.CoverageWarning)]
    said = [str(w.message) for w in notes if "blood" in str(w.message)]
    assert len(said) == 1
    assert "liver" in said[0]
    assert "horvath2013_shrunk" in said[0]


@pytest.mark.parametrize("tissue", ["whole blood", "PBMC", "Blood"])
def test_blood_medians_on_blood_are_silent(tissue, make, warned):
    adata = make("horvath2013_shrunk", tissue=[tissue] * 6)[:, 1:].copy()
    assert warned(adata, "horvath2013_shrunk") == []


def test_blood_medians_that_did_not_stand_in_do_not_warn(make, warned):
    assert warned(make("horvath2013_shrunk", tissue=["liver"] * 6), "horvath2013_shrunk") == []


def test_a_reference_of_the_user_on_liver_does_not_blame_blood_medians(make, warned):
    adata = make("horvath2013_shrunk", tissue=["liver"] * 6)
    notes = warned(adata[:, 1:].copy(), "horvath2013_shrunk", reference={adata.var_names[0]: 0.4})
    assert not [w for w in notes if "blood profile" in str(w.message)]


def test_coverage_below_95_percent_warns_once_for_many_clocks(make, warned):
    clocks = ["hannum", "epitoc1", "dnamphenoage", "skinandblood", "dunedinpoam38", "dnamtl"]
    adata = make(clocks)
    adata.X[0, np.random.default_rng(0).random(adata.n_vars) < 0.12] = np.nan
    notes = [w for w in warned(adata, clocks) if issubclass(w.category, fa.CoverageWarning)]
    assert len(notes) == 1
    text = str(notes[0].message)
    assert "6 clocks" in text
    assert "95%" in text
    assert "exceed" not in text


def test_coverage_above_95_percent_is_silent(make, warned):
    adata = make("dnamphenoage")
    adata.X[0, :3] = np.nan
    assert warned(adata, "dnamphenoage") == []


def test_the_warning_names_the_worst_coverage_that_the_array_holds(make, warned):
    adata = hole(make("hannum"), weights_of("hannum").index[:10], rows=[0])
    text = " ".join(str(w.message) for w in warned(adata, "hannum"))
    assert f"hannum {adata.obsm[COVERAGE][0, 0]:.0%}" in text


def test_warnings_are_aggregated_over_a_thousand_samples(make, warned):
    adata = make("hannum", n=1000)
    adata.X[::2, :40] = np.nan
    notes = warned(adata, "hannum")
    assert len(notes) <= 2
    assert any("500 of 1000" in str(w.message) for w in notes)


def test_warnings_point_at_the_line_of_the_caller(make):
    adata = make("hannum")
    adata.X[0, :30] = np.nan
    with pytest.warns(fa.CoverageWarning) as notes:
        fa.tl.score_clocks(adata, "hannum")
    assert [w.filename for w in notes] == [__file__] * len(notes)


def test_where_a_warning_is_an_error_nothing_is_written(make):
    adata = make("hannum")
    adata.X[0, :30] = np.nan
    with pytest.raises(fa.CoverageWarning):
        fa.tl.score_clocks(adata, "hannum")
    assert not adata.obsm
    assert not adata.uns


# ---- what users met


def test_hannum_and_phenoage_are_not_all_nan_when_85_percent_of_the_cpgs_are_there(make, score):
    ids = ["hannum", "dnamphenoage"]
    adata = make(ids)
    light = [f for c in ids for f in weights_of(c).index[: int(0.15 * len(weights_of(c)))]]
    scored = score(without(adata, light), ids)
    assert scored.obsm["clock_scores"].notna().all(axis=None)
    assert (scored.obsm[COVERAGE] > 0.8).all()


def test_15_percent_of_cells_masked_by_detection_is_normal_input(make, score):
    ids = ["hannum", "horvath2013", "dnamphenoage", "epitoc1", "epitoc2", "skinandblood"]
    adata = make(ids, n=30)
    adata.X[np.random.default_rng(0).random(adata.shape) < 0.1] = np.nan
    scored = score(adata, ids)
    assert scored.obsm["clock_scores"].notna().mean(axis=None) > 0.95


def test_epic_and_epicv2_samples_in_one_object_are_scored_on_the_union(make, score):
    """A concatenation holds plain and suffixed columns side by side, each NaN for the other half of the samples."""
    ids = ["hannum", "horvath2013"]
    adata = make(ids)
    m = adata.n_vars
    x = np.full((6, 2 * m), np.nan)
    x[:3, :m], x[3:, m:] = adata.X[:3], adata.X[3:]
    names = [*adata.var_names, *(f"{n}_TC21" for n in adata.var_names)]
    both = AnnData(x, obs=adata.obs, var=pd.DataFrame(index=pd.Index(names)))
    scored = score(both, ids)
    assert scored.obsm["clock_scores"].equals(score(adata, ids).obsm["clock_scores"])
    assert (scored.obsm[COVERAGE] == 1).all()


def test_the_score_of_one_sample_does_not_depend_on_a_fill_from_the_others(make, score):
    adata = make("hannum", n=20)[:, 5:].copy()
    adata.X[::3, 3] = np.nan
    together = score(adata, "hannum").obsm["clock_scores"]["hannum"]
    alone = [score(adata[i].copy(), "hannum").obsm["clock_scores"]["hannum"].iloc[0] for i in range(20)]
    assert together.tolist() == alone


def test_every_filled_probe_is_listed_with_its_origin(make, score):
    gone = list(weights_of("horvath2013").index[:20])
    absent = fa.get.manifest(score(without(make("horvath2013"), gone), "horvath2013"))["absent"]
    assert sorted(absent["feature"]) == sorted(gone)
    assert (absent["filled_from"] == "ref_own").all()
