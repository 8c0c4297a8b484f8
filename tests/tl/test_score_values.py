"""Data that are not what they seem: every error names what was got and what to type, and changes nothing."""

from __future__ import annotations

import math
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse

import falconage as fa


def m_values(x):
    return np.log2(x / (1 - x))


def refused(adata, clocks, words, error=fa.InputError, **arguments):
    """Check the error, every word of it, and that nothing was written."""
    before = (list(adata.obs.columns), list(adata.obsm), list(adata.uns), list(adata.var.columns))
    with pytest.raises(error) as info:
        fa.tl.score_clocks(adata, clocks, **arguments)
    text = str(info.value)
    for word in words:
        assert word in text, f"{word!r} is not in: {text}"
    assert before == (list(adata.obs.columns), list(adata.obsm), list(adata.uns), list(adata.var.columns))
    return text


# ---- values


@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csc_matrix])
def test_m_values_are_recognised_and_the_conversion_is_given(store, make):
    adata = make("hannum")
    adata.X = store(m_values(adata.X))
    refused(adata, "hannum", ["M-values", "X", "2**", "1 + 2**"])


def test_m_values_in_a_layer_name_the_layer(make):
    adata = make("hannum")
    adata.layers["m"] = m_values(adata.X)
    text = refused(adata, "hannum", ["M-values", "layers['m']"], layer="m")
    assert "adata.layers['m'] = 2**adata.layers['m']" in text


def test_the_line_that_mends_m_values_mends_them(make, score):
    adata = make("hannum")
    want = score(adata, "hannum").obsm["clock_scores"]
    adata.X = m_values(adata.X)
    text = refused(adata, "hannum", ["Type "])
    line = text.split("Type ")[1].rstrip(".")
    exec(line, {"adata": adata})
    np.testing.assert_allclose(score(adata, "hannum").obsm["clock_scores"], want, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_percentages_are_recognised_and_the_conversion_is_given(dtype, make, score):
    adata = make("hannum")
    want = score(adata, "hannum").obsm["clock_scores"]
    adata.X = (adata.X * 100).astype(dtype)
    text = refused(adata, "hannum", ["percentages", "/ 100"])
    exec(text.split("Type ")[1].rstrip("."), {"adata": adata})
    np.testing.assert_allclose(score(adata, "hannum").obsm["clock_scores"], want, rtol=1e-4)


def test_percentages_as_whole_numbers(make):
    adata = make("hannum")
    adata.X = np.round(adata.X * 100).astype(np.int64)
    refused(adata, "hannum", ["percentages", "/ 100"])


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize("top", [40, 30_000])
def test_counts_where_betas_are_expected(dtype, top, make):
    adata = make("hannum")
    adata.X = np.random.default_rng(0).integers(0, top, adata.shape).astype(dtype)
    refused(adata, "hannum", ["counts", "between 0 and 1"])


def test_intensities_are_neither_percent_nor_beta(make):
    adata = make("hannum")
    adata.X = np.random.default_rng(0).uniform(200, 60_000, adata.shape)
    refused(adata, "hannum", ["between 0 and 1"])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_inf_is_an_error_and_never_an_infinite_age(value, row, store, make):
    adata = make("hannum")
    adata.X[row, 5] = value
    adata.X = store(adata.X)
    refused(adata, "hannum", ["infinite", "np.nan"])


def test_inf_deep_in_a_tall_matrix_is_found_and_its_sample_named(make):
    adata = make("vidalbralo", n=2500)
    adata.X[1777, 3] = np.inf
    refused(adata, "vidalbralo", ["infinite", "s1777"])


def test_a_single_bad_sample_deep_in_a_tall_matrix_is_named(make):
    adata = make("hannum", n=2500)
    adata.X[1777] = m_values(adata.X[1777])
    refused(adata, "hannum", ["M-values", "s1777"])


def test_a_percent_sample_among_betas(make):
    adata = make("hannum", n=2500)
    adata.X[1777] *= 100
    refused(adata, "hannum", ["percentages", "s1777"])


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_constant_row_is_an_error_that_names_the_sample_and_the_way_out(value, make):
    adata = make("hannum")
    adata.X[4] = value
    refused(adata, "hannum", ["1 of 6", "one value", "s4", "adata["])


def test_all_rows_constant(make):
    adata = make("hannum")
    adata.X[:] = 0.0
    refused(adata, "hannum", ["6 of 6", "one value"])


def test_a_constant_row_with_gaps_is_still_constant(make):
    adata = make("hannum")
    adata.X[4] = 0.5
    adata.X[4, ::3] = np.nan
    refused(adata, "hannum", ["one value", "s4"], min_coverage=0.1)


def test_values_slightly_outside_after_batch_correction_are_used_with_one_warning(make, warned, loop):
    adata = make("hannum")
    adata.X[0, 0], adata.X[1, 1] = -0.03, 1.04
    notes = warned(adata, "hannum")
    assert len(notes) == 1
    assert "2 of 6" in str(notes[0].message)
    np.testing.assert_array_equal(
        adata.obsm["clock_scores"]["hannum"], loop(adata.to_df(), fa.clocks.get("hannum").terms[0])
    )


def test_strange_values_in_features_nobody_reads_do_no_harm(make, score):
    adata = make("hannum")
    x = np.column_stack([adata.X, np.full(6, np.inf), np.full(6, 5e4)])
    wide = AnnData(x, obs=adata.obs, var=pd.DataFrame(index=[*adata.var_names, "cg99999990", "cg99999991"]))
    assert score(wide, "hannum").obsm["clock_scores"].equals(score(adata, "hannum").obsm["clock_scores"])


def test_strings_in_x(make):
    adata = make("vidalbralo")
    adata = AnnData(obs=adata.obs, var=adata.var, layers={"text": adata.X.astype(str).astype(object)})
    refused(adata, "vidalbralo", ["numbers", "adata.layers['text'] ="], layer="text")


def test_complex_numbers(make):
    adata = make("vidalbralo")
    adata.layers["c"] = adata.X.astype(complex)
    refused(adata, "vidalbralo", ["complex", "numbers"], layer="c")


def test_a_masked_array_says_how_to_fill_it(make):
    adata = make("vidalbralo")
    adata.layers["m"] = np.ma.masked_less(adata.X, 0.1)
    if not isinstance(adata.layers["m"], np.ma.MaskedArray):
        pytest.skip("this anndata turns masked arrays into plain ones")
    refused(adata, "vidalbralo", ["mask", "np.nan", "adata.layers['m'] ="], layer="m")


def test_x_none_names_the_layers(make):
    adata = make("vidalbralo")
    empty = AnnData(obs=adata.obs, var=adata.var, layers={"beta": adata.X})
    refused(empty, "vidalbralo", ["X is None", "layer=", "beta"])
    fa.tl.score_clocks(empty, "vidalbralo", layer="beta")
    assert empty.obsm["clock_scores"]["vidalbralo"].notna().all()


def test_x_none_without_layers(make):
    adata = make("vidalbralo")
    refused(AnnData(obs=adata.obs, var=adata.var), "vidalbralo", ["X is None", "layer"])


@pytest.mark.parametrize("shape", ["no samples", "no features"])
def test_an_empty_object_is_told_so(shape, make):
    adata = make("vidalbralo")
    adata = adata[:0].copy() if shape == "no samples" else adata[:, :0].copy()
    refused(adata, "vidalbralo", [shape])


# ---- the object and its names


def test_a_transposed_object(make):
    adata = make("hannum", n=80)
    refused(adata.T.copy(), "hannum", ["transposed", "adata.T"])


def test_a_transposed_object_with_its_samples_named_like_arrays(make):
    adata = make("hannum", n=80)
    adata.obs_names = [f"GSM{i}_R01C01" for i in range(80)]
    refused(adata.T.copy(), None, ["transposed", "adata.T"])


@pytest.mark.parametrize("kind", [pd.DataFrame, np.asarray, lambda x: None])
def test_a_table_or_an_array_instead_of_an_anndata(kind, make):
    frame = make("vidalbralo").to_df()
    data = kind(frame)
    with pytest.raises(fa.InputError, match="AnnData") as info:
        fa.tl.score_clocks(data, "vidalbralo")
    assert type(data).__name__ in str(info.value)
    if isinstance(data, pd.DataFrame):
        assert "fa.io.from_dataframe" in str(info.value)


def test_genes_instead_of_cpgs():
    names = pd.Index([f"ENSG{i:011d}" for i in range(50)])
    adata = AnnData(np.random.default_rng(0).random((3, 50)), var=pd.DataFrame(index=names))
    refused(adata, "hannum", ["ENSG00000000000", "CpG", "feature_key="])


def test_cpg_ids_of_which_none_matches(make):
    adata = make("hannum")
    adata.var_names = [f"cg9999{i:04d}" for i in range(adata.n_vars)]
    refused(adata, "hannum", ["None of the 71", "cg99990000"])


def test_cpgs_left_in_raw_are_pointed_out(make):
    adata = make("hannum")
    full = adata.copy()
    other = AnnData(np.zeros((6, 4)) + 0.3, obs=adata.obs, var=pd.DataFrame(index=[f"cg9999000{i}" for i in range(4)]))
    other.raw = full
    refused(other, "hannum", ["use_raw=True"])


def test_genes_in_x_and_cpgs_in_raw_are_pointed_out(make):
    full = make("hannum")
    other = AnnData(np.zeros((6, 4)), obs=full.obs, var=pd.DataFrame(index=["TP53", "ELOVL2", "FHL2", "PENK"]))
    other.raw = full
    refused(other, "hannum", ["use_raw=True"])


@pytest.mark.parametrize("change", [str.upper, lambda n: f"{n}_TC21", lambda n: f"{n}_BO111"])
def test_upper_case_ids_and_array_suffixes_are_found(change, make, score):
    adata = make(["hannum", "horvath2013"])
    want = score(adata, ["hannum", "horvath2013"]).obsm["clock_scores"]
    adata.var_names = [change(n) for n in adata.var_names]
    assert score(adata, ["hannum", "horvath2013"]).obsm["clock_scores"].equals(want)


@pytest.mark.parametrize("ending", ["_x", "_1", "_TC", "_TC1", "_TC2111", "_XC21", "_TX21", "_tc21_tc21"])
def test_other_endings_are_no_array_suffix(ending, make):
    adata = make("vidalbralo")
    adata.var_names = [f"{n}{ending}" for n in adata.var_names]
    refused(adata, "vidalbralo", ["None of the 8"])


def test_duplicated_var_names_are_averaged(make, score, loop):
    adata = make("hannum")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = AnnData(
            np.column_stack([adata.X, adata.X[:, 0] * 0.5]),
            obs=adata.obs,
            var=pd.DataFrame(index=[*adata.var_names, adata.var_names[0]]),
        )
    frame = adata.to_df()
    frame[adata.var_names[0]] *= 0.75
    np.testing.assert_allclose(
        score(twice, "hannum").obsm["clock_scores"]["hannum"],
        loop(frame, fa.clocks.get("hannum").terms[0]),
        rtol=1e-13,
    )


def test_duplicated_obs_names_are_allowed(make, warned):
    adata = make(["hannum", "epitoc1"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata.obs_names = ["a", "a", "b", "b", "c", "c"]
    warned(adata, "hannum")
    warned(adata, "epitoc1")
    assert list(adata.obsm["clock_scores"].columns) == ["hannum", "epitoc1"]
    assert adata.obsm["clock_scores"].notna().all(axis=None)
    assert list(adata.obsm["clock_scores"].index) == ["a", "a", "b", "b", "c", "c"]


def test_numeric_sample_ids_keep_their_rows(make, warned):
    adata = make("hannum", age=[1.0, 2, 3, 4, 5, 6])
    adata.obs_names = [str(i) for i in (10, 2, 33, 4, 5, 61)]
    warned(adata, "hannum")
    assert list(adata.obsm["clock_scores"].index) == list(adata.obs_names)
    np.testing.assert_array_equal(adata.obs["hannum"], adata.obsm["clock_scores"]["hannum"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"layer": "betas"}, ["layer", "'betas'"]),
        ({"use_raw": True}, ["use_raw=True", "raw is None"]),
        ({"use_raw": True, "layer": "x"}, ["use_raw=True", "layer="]),
        ({"feature_key": "probe"}, ["feature_key='probe'", "var"]),
        ({"modality": "rna"}, ["modality='rna'", "dna_methylation"]),
        ({"batch_size": -1}, ["batch_size=-1", "positive"]),
        ({"batch_size": 0}, ["batch_size=0", "positive"]),
        ({"batch_size": 2.5}, ["batch_size=2.5", "positive"]),
        ({"dtype": "int8"}, ["dtype='int8'", "float64"]),
        ({"min_coverage": "0.8"}, ["min_coverage=", "0.8", "between 0 and 1"]),
        ({"reference": 0.5}, ["reference="]),
        ({"reference": [0.1, 0.2]}, ["reference="]),
        ({"key_added": ""}, ["key_added="]),
        ({"key_added": "run/1"}, ["key_added=", "run/1"]),
        ({"key_added": 3}, ["key_added=3"]),
        ({"species": "human", "species_key": "organism"}, ["species=", "species_key="]),
        ({"species_key": "organism"}, ["species_key='organism'", "obs"]),
        ({"species": "unicorn"}, ["unicorn", "latin"]),
    ],
)
def test_arguments_that_cannot_be_used(arguments, words, make):
    refused(make("vidalbralo"), "vidalbralo", words, **arguments)


def test_cpgs_among_many_genes_need_only_to_be_named(make, score):
    adata = make("hannum")
    names = [*(f"GENE{i}" for i in range(300)), *adata.var_names]
    both = AnnData(np.column_stack([np.full((6, 300), 9.0), adata.X]), var=pd.DataFrame(index=pd.Index(names)))
    refused(both, "hannum", ["GENE0", "modality='dna_methylation'"])
    got = score(both, "hannum", modality="dna_methylation").obsm["clock_scores"]
    assert np.array_equal(got, score(adata, "hannum").obsm["clock_scores"])


def test_feature_key_with_gaps_is_an_error_with_advice(make):
    adata = make("vidalbralo")
    adata.var["probe"] = [*adata.var_names[:-1], None]
    refused(adata, "vidalbralo", ["position 7", "text"], feature_key="probe")


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_cuda_is_an_error_and_never_a_silent_move(device, make):
    refused(make("vidalbralo"), "vidalbralo", [device, "device='cpu'"], error=fa.DeviceError, device=device)


def test_unknown_device(make):
    refused(make("vidalbralo"), "vidalbralo", ["tpu", "'auto'", "'cpu'"], error=fa.DeviceError, device="tpu")


# ---- names of clocks


def test_an_unknown_clock_in_the_middle_of_a_list_computes_nothing(make):
    adata = make(["hannum", "horvath2013"])
    refused(adata, ["hannum", "horvat2013", "horvath2013"], ["horvat2013", "horvath2013"], error=fa.UnknownClockError)


def test_every_unknown_name_is_in_one_error(make):
    text = refused(make("hannum"), ["hanum", "hannum", "nope_nope"], ["hanum", "nope_nope"], error=fa.UnknownClockError)
    assert "hannum" in text


def test_plain_phenoage_is_ambiguous_and_lists_both(make):
    refused(
        make("hannum"),
        ["hannum", "phenoage"],
        ["phenoage", "dnamphenoage", "phenoage_clinical"],
        error=fa.AmbiguousClockError,
    )


@pytest.mark.parametrize("clocks", [[], "", [3], 3, [None], ["hannum", 7]])
def test_clocks_that_are_no_names(clocks, make):
    with pytest.raises((fa.InputError, fa.UnknownClockError)):
        fa.tl.score_clocks(make("vidalbralo"), clocks)


def test_a_name_given_twice_by_alias_is_scored_once(make, score):
    scored = score(make(["horvath2013", "hannum"]), ["Horvath1", "calcHannum", "HORVATH2013", "hannum"])
    assert list(scored.obsm["clock_scores"].columns) == ["horvath2013", "hannum"]


def test_a_clock_that_must_be_fetched_says_so(make):
    refused(make("hannum"), ["hannum", "grimage2"], ["grimage2"], error=fa.RefusedError)


def test_a_wildcard(make, score):
    ids = ["ying_causage", "ying_damage", "ying_adaptage"]
    assert list(score(make(ids), "ying_*").obsm["clock_scores"].columns) == ids


def test_cohort_dependent_clocks_never_run_unless_named(make, score):
    scored = score(make(["hannum", "epitoc1"]), "all")
    table = fa.clocks.table()
    assert not table.loc[scored.obsm["clock_scores"].columns, "cohort_dependent"].any()
    assert {"hannum", "epitoc1"} <= set(scored.obsm["clock_scores"].columns)


# ---- what is written


def test_an_obs_column_of_the_same_name_is_replaced_with_a_warning(make, warned):
    adata = make(["hannum", "epitoc1"], hannum=["mine"] * 6)
    notes = warned(adata, ["hannum", "epitoc1"])
    assert len(notes) == 1
    assert "obs" in str(notes[0].message)
    assert "hannum" in str(notes[0].message)
    np.testing.assert_array_equal(adata.obs["hannum"], adata.obsm["clock_scores"]["hannum"])
    assert warned(adata, ["hannum", "epitoc1"]) == []


def test_to_obs(make, score):
    adata = make(["epitoc1", "epitoc2"])
    assert "epitoc1" not in score(adata, "@mitotic").obs
    assert "epitoc1" in score(adata, "@mitotic", to_obs=True).obs
    assert "epitoc1" in score(adata, ["epitoc1", "@mitotic"]).obs
    assert "epitoc2" not in score(adata, ["epitoc1", "@mitotic"]).obs
    assert "epitoc1" not in score(adata, "epitoc1", to_obs=False).obs


def test_key_added(make, score):
    adata = score(make("epitoc1"), "epitoc1", key_added="mine")
    assert sorted(adata.obsm) == ["mine", "mine_coverage", "mine_missing_bound"]
    assert list(adata.uns["falconage"]["scores"]) == ["mine"]


def test_nothing_else_of_the_object_changes(make, warned):
    adata = make("hannum", age=[30.0] * 6)
    adata.layers["other"] = adata.X * 0.5
    adata.obsm["X_pca"] = np.zeros((6, 2))
    adata.uns["mine"] = {"a": 1}
    adata.raw = adata.copy()
    before = adata.copy()
    warned(adata, "hannum", to_obs=False)
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    pd.testing.assert_frame_equal(adata.var, before.var)
    assert np.array_equal(adata.X, before.X)
    assert np.array_equal(adata.layers["other"], before.layers["other"])
    assert np.array_equal(adata.obsm["X_pca"], before.obsm["X_pca"])
    assert set(adata.uns) == {"mine", "falconage"}
    assert adata.raw is not None


def test_copy_returns_a_scored_copy_and_leaves_the_object(make):
    adata = make("hannum")
    scored = fa.tl.score_clocks(adata, "hannum", copy=True)
    assert not adata.obsm
    assert "clock_scores" in scored.obsm
    assert fa.tl.score_clocks(adata, "hannum") is None


def test_a_view_becomes_an_object_and_its_parent_is_left_alone(make):
    parent = make("hannum", n=8)
    view = parent[2:5]
    assert view.is_view
    fa.tl.score_clocks(view, "hannum")
    assert not view.is_view
    assert view.obsm["clock_scores"].shape == (3, 1)
    assert "hannum" in view.obs
    assert not parent.obsm
    assert not parent.uns
    assert "hannum" not in parent.obs


def test_a_view_that_is_refused_stays_a_view(make):
    view = make("hannum", n=8)[2:5]
    with pytest.raises(fa.UnknownClockError):
        fa.tl.score_clocks(view, "hanum")
    assert view.is_view


def test_a_copy_of_a_view(make):
    view = make("hannum", n=8)[2:5]
    scored = fa.tl.score_clocks(view, "hannum", copy=True)
    assert view.is_view
    assert scored.obsm["clock_scores"].shape == (3, 1)


def test_scoring_again_a_view_of_scored_data_leaves_the_parent_alone(make, warned):
    parent = make(["hannum", "epitoc1"], n=8)
    warned(parent, "hannum")
    before = parent.uns["falconage"]["scores"]["clock_scores"]["created"], list(parent.obsm["clock_scores"].columns)
    view = parent[:3]
    warned(view, "epitoc1")
    assert list(view.obsm["clock_scores"].columns) == ["hannum", "epitoc1"]
    assert list(parent.obsm["clock_scores"].columns) == before[1]
    assert list(parent.uns["falconage"]["scores"]["clock_scores"]["clocks"].index) == ["hannum"]


def test_backed_objects_and_their_views_are_refused_before_anything_is_computed(make, tmp_path):
    make("hannum").write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    try:
        refused(backed, "hannum", ["backed", "to_memory()"])
        refused(backed[:3], "hannum", ["backed", "to_memory()"])
    finally:
        backed.file.close()


def test_a_dask_matrix_is_named_and_not_turned_into_objects(make):
    dask = pytest.importorskip("dask.array")
    adata = make("vidalbralo")
    adata.X = dask.from_array(adata.X)
    refused(adata, "vidalbralo", ["dask", "NumPy"])


def test_one_sample_alone(make, score):
    adata = make("hannum", n=1)
    assert math.isfinite(score(adata, "hannum").obsm["clock_scores"].iloc[0, 0])


def test_weird_names_of_samples_and_keys_do_no_harm(make, score):
    adata = make("hannum")
    adata.obs_names = ["ä b", "c/d", "", "x" * 300, "1", "\t"]
    assert list(score(adata, "hannum", key_added="my scores").obsm["my scores"].index) == list(adata.obs_names)


def test_progress_does_not_change_the_scores(make, score, capsys):
    adata = make("hannum", n=9)
    a, b = (score(adata, "hannum", progress=p, batch_size=2).obsm["clock_scores"] for p in (True, False))
    assert a.equals(b)
