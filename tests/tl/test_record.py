"""The manifest: true, complete, the same before and after a file, and kept across calls."""

from __future__ import annotations

import hashlib
import warnings
from datetime import UTC, datetime
from importlib.metadata import version

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import falconage as fa
from falconage.clocks import _catalog

KEY = "clock_scores"
PLAIN = (str, bool, int, float, np.ndarray, np.generic, pd.DataFrame)


def terms_of(clock):
    return _catalog.load([clock])[0].terms[0]


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def equal(a, b):
    """Same content, whatever the flavour of strings a file gave back."""
    if isinstance(a, dict):
        return set(a) == set(b) and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a.astype(object), b.astype(object), check_dtype=False, check_index_type=False)
        return True
    if isinstance(a, np.ndarray):
        return list(map(str, a)) == list(map(str, b))
    return a == b


def save_and_read(adata, kind, folder):
    if kind == "h5ad":
        adata.write_h5ad(folder / "a.h5ad")
        return anndata.read_h5ad(folder / "a.h5ad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of anndata and zarr about their own formats
        adata.write_zarr(folder / "a.zarr")
        return anndata.read_zarr(folder / "a.zarr")


@pytest.fixture
def hand_checked(make):
    """Hannum without two features, a cell missing in one sample; epiTOC1 without one; Horvath refused."""
    adata = make(["hannum", "epitoc1"], n=4, sex=["f", "m", "f", "?"])
    gone = [terms_of("hannum").features[3], terms_of("hannum").features[10], terms_of("epitoc1").features[7]]
    adata = adata[:, ~adata.var_names.isin(gone)].copy()
    adata.X = np.ascontiguousarray(adata.X)
    adata.X[2, adata.var_names.get_loc(terms_of("hannum").features[0])] = np.nan
    return adata, gone


def test_a_case_checked_by_hand(hand_checked, warned):
    adata, gone = hand_checked
    notes = warned(adata, ["hannum", "epitoc1", "lin"], on_refusal="warn", min_coverage=0.7, batch_size=3)
    record = fa.get.manifest(adata)
    assert set(record) >= {
        "schema", "created", "params", "input", "output", "versions", "clocks", "refused", "absent", "warnings",
        "device",
    }  # fmt: skip
    assert record["device"] == "cpu"
    assert isinstance(record["schema"], int)
    age = datetime.now(UTC) - datetime.fromisoformat(record["created"])
    assert 0 <= age.total_seconds() + 1 < 120

    clocks = record["clocks"]
    assert list(clocks.index) == ["hannum", "epitoc1"]
    hannum, epitoc1 = clocks.loc["hannum"], clocks.loc["epitoc1"]
    source = _catalog.load(["hannum"])[0]
    for column in (
        "name",
        "group",
        "unit",
        "scale",
        "form",
        "link",
        "tissue",
        "doi",
        "licence",
        "patent_notice",
        "source",
    ):
        assert hannum[column] == getattr(source, column), column
    assert hannum["unit"] == "years"
    assert hannum["weights_sha256"] == source.sha256
    assert hannum["n_features"] == 71
    assert hannum["n_present"] == 69
    assert hannum["n_absent_filled"] == 2
    assert hannum["n_scored"] == 4
    assert hannum["floor"] == 0.7
    assert hannum["references_used"] == "ref450k"
    assert hannum["missing_policy"] == "ref450k > sample_median > refuse"
    assert hannum["species"] == "human"
    assert (hannum["device_requested"], hannum["device"]) == ("auto", "cpu")
    assert (hannum["computed_in"], hannum["precision"], hannum["backend"]) == ("float64", "exact", "numba")
    coverage = adata.obsm[KEY + "_coverage"][:, 0]
    np.testing.assert_allclose(
        [hannum["coverage_min"], hannum["coverage_median"]], [coverage.min(), np.median(coverage)]
    )
    assert epitoc1["n_features"] == 385
    assert epitoc1["n_present"] == 384
    assert epitoc1["n_absent_filled"] == 0
    assert epitoc1["missing_policy"] == "drop"

    assert list(record["refused"].index) == ["lin"]
    assert "99" in record["refused"].loc["lin", "reason"]

    absent = record["absent"]
    assert set(zip(absent["clock"], absent["feature"], absent["filled_from"], strict=True)) == {
        ("hannum", gone[0], "ref450k"),
        ("hannum", gone[1], "ref450k"),
        ("epitoc1", gone[2], "dropped"),
    }

    assert record["input"]["n_obs"] == 4
    assert record["input"]["n_vars"] == adata.n_vars
    assert record["input"]["dtype"] == "float64"
    assert record["input"]["matrix"] == "dense C"
    assert record["input"]["layer"] == ""
    assert record["input"]["obs_names_sha256"] == sha("\n".join(adata.obs_names))
    assert record["input"]["var_names_sha256"] == sha("\n".join(adata.var_names))
    values = adata.obsm[KEY].to_numpy().astype("<f8")
    assert record["output"]["scores_sha256"] == hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()

    assert record["params"]["min_coverage"] == 0.7
    assert record["params"]["missing"] == "catalogue"
    assert list(record["params"]["clocks"]) == ["hannum", "epitoc1", "lin"]
    assert sorted(map(str, record["warnings"])) == sorted(str(w.message) for w in notes)
    assert record["versions"]["falconage"] == fa.__version__
    assert record["versions"]["anndata"] == version("anndata")
    assert record["versions"]["numpy"] == np.__version__


def test_the_matrix_and_its_place_are_described(make, score):
    adata = make("epitoc1")
    adata.layers["b"] = sparse.csc_matrix(adata.X.astype(np.float32))
    record = fa.get.manifest(score(adata, "epitoc1", layer="b"))["input"]
    assert record["layer"] == "b"
    assert record["matrix"] == "CSC"
    assert record["dtype"] == "float32"
    adata.raw = adata.copy()
    small = adata[:, :3].copy()
    record = fa.get.manifest(score(small, "epitoc1", use_raw=True))["input"]
    assert record["n_vars"] == 385
    assert record["var_names_sha256"] == sha("\n".join(adata.var_names))


def test_hashes_of_scores_tell_runs_apart(make, score):
    a, b, c = (fa.get.manifest(score(make("epitoc1", seed=s), "epitoc1"))["output"] for s in (0, 0, 1))
    assert a["scores_sha256"] == b["scores_sha256"] != c["scores_sha256"]


def test_device_asked_for_and_used(make, score):
    record = fa.get.manifest(score(make("epitoc1"), "epitoc1", device="cpu"))
    assert record["clocks"].loc["epitoc1", "device_requested"] == "cpu"
    assert record["device"] == "cpu"


def test_sex_specific_tables_count_each_feature_once(make, score):
    clock = "dnamfit_grip_noage"
    tables = {t.part: t for t in _catalog.load([clock])[0].terms}
    shared = next(f for f in tables["female"].features if f in set(tables["male"].features))
    adata = make(clock, sex=["f", "m"] * 3)
    row = fa.get.manifest(score(adata[:, adata.var_names != shared].copy(), clock))["clocks"].loc[clock]
    assert row["n_features"] - row["n_present"] == row["n_absent_filled"] == 1


def test_every_reference_listed_was_used(make, score):
    """Of a clock with platform medians and EPIC-only features, what stood in is listed and not what could have."""
    reference = _catalog.reference_450k()
    features = terms_of("abec").features
    old = next(f for f in features if f in reference.index)
    new = next(f for f in features if f not in reference.index)
    adata = make("abec", n=3)
    for gone, want in (([old], "ref450k"), ([new], "sample_median")):
        row = fa.get.manifest(score(adata[:, ~adata.var_names.isin(gone)].copy(), "abec"))["clocks"].loc["abec"]
        assert row["references_used"] == want
    assert fa.get.manifest(score(adata, "abec"))["clocks"].loc["abec", "references_used"] == ""


def test_a_reference_used_for_a_single_cell_is_listed(make, score):
    adata = make("hannum")
    adata.X[3, 5] = np.nan
    assert fa.get.manifest(score(adata, "hannum"))["clocks"].loc["hannum", "references_used"] == "ref450k"


def test_only_values_that_files_can_hold(hand_checked, warned):
    adata, _ = hand_checked
    warned(adata, ["hannum", "epitoc1", "lin"], on_refusal="warn")

    def walk(value, path):
        if isinstance(value, dict):
            for k, v in value.items():
                assert isinstance(k, str), path
                assert "/" not in k, path
                walk(v, f"{path}/{k}")
        else:
            assert isinstance(value, PLAIN), f"{path}: {type(value)}"
            if isinstance(value, pd.DataFrame):
                assert not value.map(lambda v: v is None).any(axis=None), path
                assert not value.columns.duplicated().any()

    walk(adata.uns["falconage"], "")


# ---- files


@pytest.mark.parametrize("kind", ["h5ad", "zarr"])
def test_round_trip(kind, hand_checked, warned, tmp_path):
    adata, _ = hand_checked
    warned(adata, ["hannum", "epitoc1", "lin"], on_refusal="warn", reference={terms_of("hannum").features[3]: 0.3})
    back = save_and_read(adata, kind, tmp_path)
    pd.testing.assert_frame_equal(back.obsm[KEY], adata.obsm[KEY], check_index_type=False, check_column_type=False)
    for suffix in ("_coverage", "_missing_bound"):
        assert back.obsm[KEY + suffix].dtype == np.float32
        assert np.array_equal(back.obsm[KEY + suffix], adata.obsm[KEY + suffix], equal_nan=True)
    assert equal(fa.get.manifest(adata), fa.get.manifest(back))
    np.testing.assert_array_equal(back.obs["hannum"], adata.obs["hannum"])


@pytest.mark.parametrize("kind", ["h5ad", "zarr"])
def test_round_trip_of_a_record_without_refusals_absences_and_warnings(kind, make, warned, tmp_path):
    adata = make("epitoc1")
    assert warned(adata, "epitoc1") == []
    back = save_and_read(adata, kind, tmp_path)
    record = fa.get.manifest(back)
    assert equal(fa.get.manifest(adata), record)
    assert len(record["refused"]) == len(record["absent"]) == len(record["warnings"]) == 0


@pytest.mark.parametrize("kind", ["h5ad", "zarr"])
def test_scoring_goes_on_after_a_file(kind, make, warned, tmp_path):
    adata = make(["hannum", "epitoc1", "epitoc2"])
    warned(adata, ["hannum", "epitoc1"])
    whole = adata.copy()
    warned(whole, ["epitoc1", "epitoc2"])
    back = save_and_read(adata, kind, tmp_path)
    warned(back, ["epitoc1", "epitoc2"])
    assert list(back.obsm[KEY].columns) == list(whole.obsm[KEY].columns)
    np.testing.assert_array_equal(back.obsm[KEY].to_numpy(), whole.obsm[KEY].to_numpy())
    a, b = fa.get.manifest(whole), fa.get.manifest(back)
    for part in ("clocks", "absent", "refused"):
        if part == "clocks":
            a[part], b[part] = (r[part].drop(columns="scored_at", errors="ignore") for r in (a, b))
        assert equal(a[part], b[part])
    assert a["output"]["scores_sha256"] == b["output"]["scores_sha256"]
    save_and_read(back, kind, tmp_path)


@pytest.mark.parametrize("kind", ["h5ad", "zarr"])
def test_a_big_default_run_survives_a_file(kind, make, warned, tmp_path):
    adata = make(["horvath2013", "hannum", "epitoc2"], tissue=["liver"] * 6, age=[3.0] * 6)
    adata = adata[:, 3:].copy()
    warned(adata)
    back = save_and_read(adata, kind, tmp_path)
    assert equal(fa.get.manifest(adata), fa.get.manifest(back))
    assert len(fa.get.manifest(back)["refused"]) > 3


# ---- several calls


def test_a_second_call_keeps_the_others_and_replaces_its_own(make, warned, score, bits):
    ids = ["hannum", "epitoc1", "epitoc2"]
    adata = make(ids)
    adata.X[1, :9] = np.nan
    warned(adata, ["hannum", "epitoc1"])
    old = adata.obsm[KEY].copy()
    adata.X[:, :] = adata.X * 0.5
    warned(adata, ["epitoc1", "epitoc2"])
    scores = adata.obsm[KEY]
    assert sorted(scores.columns) == sorted(ids)
    assert np.array_equal(bits(scores["hannum"]), bits(old["hannum"]))
    fresh = score(adata, ["epitoc1", "epitoc2"], key_added="other")
    for clock in ("epitoc1", "epitoc2"):
        assert np.array_equal(bits(scores[clock]), bits(fresh.obsm["other"][clock]))
        np.testing.assert_array_equal(adata.obs[clock], scores[clock])
    record = fa.get.manifest(adata)
    assert list(record["clocks"].index) == list(scores.columns)
    assert list(record["output"]["scores"]) == list(scores.columns)
    values = np.ascontiguousarray(scores.to_numpy().astype("<f8"))
    assert record["output"]["scores_sha256"] == hashlib.sha256(values.tobytes()).hexdigest()


@pytest.mark.parametrize("calls", [["hannum", "epitoc1", "epitoc2"], ["epitoc2", "hannum", "epitoc1", "hannum"]])
def test_coverage_and_bound_stay_in_the_order_of_the_scores(calls, make, warned, score):
    ids = sorted(set(calls))
    adata = make(ids)
    adata.X[np.random.default_rng(0).random(adata.shape) < 0.05] = np.nan
    for clock in calls:
        warned(adata, clock)
    once = score(adata, ids, key_added="once")
    assert (
        list(adata.obsm[KEY].columns)
        == list(fa.get.coverage(adata).columns)
        == list(fa.get.missing_bound(adata).columns)
    )
    for get in (fa.get.coverage, fa.get.missing_bound):
        a, b = get(adata)[ids], get(once, key="once")[ids]
        pd.testing.assert_frame_equal(a, b, check_column_type=False)
    assert adata.obsm[KEY + "_coverage"].dtype == np.float32


def test_absences_of_earlier_clocks_stay_and_those_scored_anew_are_replaced(make, warned):
    adata = make(["hannum", "dnamtl"])
    first, second = terms_of("hannum").features[3], terms_of("dnamtl").features[5]
    part = adata[:, ~adata.var_names.isin([first, second])].copy()
    warned(part, ["hannum", "dnamtl"])
    full = adata.copy()
    full.obsm, full.uns, full.obs = part.obsm, part.uns, part.obs
    warned(full, "dnamtl")
    absent = fa.get.manifest(full)["absent"]
    assert set(zip(absent["clock"], absent["feature"], strict=True)) == {("hannum", first)}


def test_keys_do_not_disturb_each_other(make, warned):
    adata = make(["hannum", "epitoc1"])
    warned(adata, "hannum", key_added="a", to_obs=False)
    before = fa.get.manifest(adata, key="a")
    warned(adata, "epitoc1", key_added="b", to_obs=False)
    assert equal(before, fa.get.manifest(adata, key="a"))
    assert list(adata.obsm["a"].columns) == ["hannum"]
    assert list(adata.obsm["b"].columns) == ["epitoc1"]


def test_other_rooms_and_other_peoples_uns_stay(make, warned):
    adata = make("epitoc1")
    adata.uns["falconage"] = {"pp": {"step": "knn"}}
    adata.uns["neighbors"] = {"k": 3}
    warned(adata, "epitoc1")
    assert adata.uns["falconage"]["pp"] == {"step": "knn"}
    assert adata.uns["neighbors"] == {"k": 3}


def test_mixed_is_never_written_by_one_machine(make, warned):
    adata = make(["hannum", "epitoc1"])
    warned(adata, "hannum", device="cpu")
    warned(adata, "epitoc1", device="auto")
    record = fa.get.manifest(adata)
    assert record["device"] == "cpu"
    assert record["clocks"]["device_requested"].to_dict() == {"hannum": "cpu", "epitoc1": "auto"}


def test_parameters_that_differ_between_calls_stay_with_their_clock(make, warned):
    adata = make(["hannum", "epitoc1"])
    warned(adata, "hannum", min_coverage=0.6)
    warned(adata, "epitoc1", min_coverage=0.9)
    assert fa.get.manifest(adata)["clocks"]["floor"].to_dict() == {"hannum": 0.6, "epitoc1": 0.9}


def test_a_clock_is_recorded_as_scored_or_as_refused_and_never_as_both(make, warned):
    adata = make(["hannum", "epitoc1", "lin"])
    part = adata[:, ~adata.var_names.isin(terms_of("lin").features)].copy()
    warned(part, ["epitoc1", "lin"], on_refusal="warn")
    full = adata.copy()
    full.obsm, full.uns, full.obs = part.obsm, part.uns, part.obs
    warned(full, "lin")
    record = fa.get.manifest(full)
    assert "lin" in record["clocks"].index
    assert "lin" not in record["refused"].index
    # And the reverse: scored before, refused now.
    again = adata[:, ~adata.var_names.isin(terms_of("lin").features[:60])].copy()
    again.obsm, again.uns, again.obs = full.obsm, full.uns, full.obs
    warned(again, ["epitoc1", "lin"], on_refusal="warn")
    record = fa.get.manifest(again)
    assert set(record["clocks"].index) == set(again.obsm[KEY].columns)
    assert set(record["clocks"].index).isdisjoint(record["refused"].index)


def test_scores_that_lost_their_company_are_not_joined(make, warned):
    adata = make(["hannum", "epitoc1"])
    warned(adata, "hannum", to_obs=False)
    del adata.obsm[KEY + "_coverage"]
    warned(adata, "epitoc1")
    n = adata.obsm[KEY].shape[1]
    assert adata.obsm[KEY + "_coverage"].shape[1] == adata.obsm[KEY + "_missing_bound"].shape[1] == n


def test_a_foreign_obsm_of_the_same_name_is_not_overwritten(make):
    adata = make("epitoc1")
    adata.obsm[KEY] = np.zeros((6, 3))
    with pytest.raises(fa.InputError, match=r"clock_scores.*ndarray.*key_added="):
        fa.tl.score_clocks(adata, "epitoc1")
    assert adata.obsm[KEY].shape == (6, 3)


def test_each_call_keeps_its_own_account(make, warned):
    adata = make(["epitoc1", "hannum"])
    adata.layers["b"] = adata.X.copy()
    warned(adata, "hannum", layer="b", min_coverage=0.3)
    warned(adata, "epitoc1")
    record = fa.get.manifest(adata)
    call = record["clocks"]["call"]
    assert record["calls"][call["hannum"]]["params"]["min_coverage"] == 0.3
    assert record["calls"][call["hannum"]]["input"]["where"] == "layers['b']"
    assert record["calls"][call["epitoc1"]]["input"]["where"] == "X"
    warned(adata, "hannum")
    record = fa.get.manifest(adata)
    assert set(record["calls"]) == set(record["clocks"]["call"])


def test_obs_columns_follow_the_scores(make, warned):
    adata = make("hannum")
    warned(adata, "hannum")
    adata.X = adata.X[::-1].copy()
    warned(adata, "han*")
    assert np.array_equal(adata.obs["hannum"], adata.obsm[KEY]["hannum"])


def test_cells_filled_are_counted_by_their_source(make, warned):
    adata = make(["horvath2013", "epitoc1"])
    terms = fa.clocks.get("horvath2013").terms[0]
    where = [adata.var_names.get_loc(f) for f in terms.features[:3]]
    adata.X[1, where] = np.nan
    adata.X[2, where[:1]] = np.nan
    adata.X[4, adata.var_names.get_loc(fa.clocks.get("epitoc1").features[0])] = np.nan
    cells = np.zeros(adata.shape, bool)
    cells[5, where] = True
    adata.layers["falconage_imputed"] = cells
    warned(adata, ["horvath2013", "epitoc1"])
    clocks = fa.get.manifest(adata)["clocks"]
    assert clocks.loc["horvath2013", ["n_cells_filled", "n_cells_imputed", "fills"]].tolist() == [4, 3, "ref_own 4"]
    assert clocks.loc["epitoc1", ["n_cells_filled", "fills"]].tolist() == [1, "dropped 1"]


def test_manifest_is_a_copy(make, warned):
    adata = make("epitoc1")
    warned(adata, "epitoc1")
    record = fa.get.manifest(adata)
    record["clocks"].loc["epitoc1", "unit"] = "bananas"
    record["params"]["missing"] = "zero"
    assert fa.get.manifest(adata)["clocks"].loc["epitoc1", "unit"] != "bananas"
    assert fa.get.manifest(adata)["params"]["missing"] == "catalogue"


def test_samples_dropped_after_scoring_keep_their_scores(make, warned):
    adata = make("epitoc1")
    warned(adata, "epitoc1")
    part = adata[[4, 1]].copy()
    np.testing.assert_array_equal(part.obsm[KEY]["epitoc1"], adata.obsm[KEY]["epitoc1"].iloc[[4, 1]])
    np.testing.assert_array_equal(part.obs["epitoc1"], part.obsm[KEY]["epitoc1"])


def test_gestational_clocks_are_in_weeks_and_single_cpgs_are_no_ages(make, score):
    ids = ["bohlin96", "haftorn_epic_ga", "bocklandt_edaradd", "garagnani_elovl2", "epitoc2", "dunedinpoam38"]
    clocks = fa.get.manifest(score(make(ids), ids))["clocks"]
    assert (clocks.loc[["bohlin96", "haftorn_epic_ga"], "scale"] == "gestational_weeks").all()
    assert clocks.loc[["bohlin96", "haftorn_epic_ga"], "unit"].str.contains("week").all()
    assert (clocks.loc[["bocklandt_edaradd", "garagnani_elovl2"], "scale"] == "single_cpg_beta").all()
    assert not clocks.loc[["bocklandt_edaradd", "garagnani_elovl2"], "unit"].str.contains("year").any()
    assert clocks.loc["dunedinpoam38", "scale"] == "pace"
    assert clocks.loc["epitoc2", "scale"] == "divisions"
