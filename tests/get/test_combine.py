"""Joining scored objects."""

from __future__ import annotations

import hashlib

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from falconage import datasets, get, tl
from falconage._errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*zarr v[23].*")


@pytest.fixture
def pair(make):
    a = make({"horvath2013": [40.0, 50.0], "bohlin": [39.0, 38.0]}, ["a1", "a2"], absent=[("bohlin", "cg1", "ref_own")])
    b = make({"horvath2013": [60.0], "dunedinpoam38": [1.1]}, ["b1"], device="cuda:0", created="2025-02-02T00:00:00")
    a.obs["sex"] = pd.Categorical(["female", "male"])
    a.obs["smoker"] = [True, False]
    b.obs["sex"] = pd.Categorical(["female"])
    b.obs["age"] = [61.0]
    return a, b


def test_scores_are_the_union(pair, stored):
    both = get.combine([stored(part) for part in pair])
    expected = pd.DataFrame(
        {"horvath2013": [40.0, 50, 60], "bohlin": [39.0, 38, np.nan], "dunedinpoam38": [np.nan, np.nan, 1.1]},
        index=["a1", "a2", "b1"],
    )
    pd.testing.assert_frame_equal(both.obsm["clock_scores"], expected, check_column_type=False, check_index_type=False)
    coverage = get.coverage(both)
    assert coverage.dtypes.eq(np.float32).all()
    assert coverage.loc["a1", "horvath2013"] == np.float32(0.9)
    assert np.isnan(coverage.loc["b1", "bohlin"])
    assert both.X is None


def test_records_are_merged_and_the_device_is_derived(pair, stored):
    record = get.manifest(get.combine([stored(part) for part in pair]))
    clocks = record["clocks"]
    assert list(clocks.index) == ["horvath2013", "bohlin", "dunedinpoam38"]
    assert list(clocks["device"]) == ["mixed", "cpu", "cuda:0"]
    assert record["device"] == "mixed"
    assert list(clocks["n_scored"]) == [3, 2, 1]
    assert clocks.loc["horvath2013", "coverage_min"] == pytest.approx(0.9)
    # coverages of horvath2013: 0.9 and 0.9 + 2·0.1/3 from a, 0.9 from b
    assert clocks.loc["horvath2013", "coverage_median"] == pytest.approx(0.9)
    assert record["input"]["n_obs"] == 3
    assert record["input"]["n_vars"] == 2
    assert record["input"]["obs_names_sha256"] == hashlib.sha256(b"a1\na2\nb1").hexdigest()
    assert record["params"]["clocks"] == "mixed"
    assert list(record["output"]["scores"]) == ["horvath2013", "bohlin", "dunedinpoam38"]
    assert record["parts"]["0"]["input"]["obs_names_sha256"] == "a1-a2"
    assert record["parts"]["1"]["created"] == "2025-02-02T00:00:00"
    assert list(record["refused"]["reason"]) == ["needs age"]
    assert record["absent"].to_numpy().tolist() == [["bohlin", "cg1", "ref_own"]]


def test_one_device_stays_one_device(make):
    both = get.combine([make({"bohlin": [39.0]}, ["a"]), make({"bohlin": [38.0]}, ["b"])])
    assert get.manifest(both)["device"] == "cpu"


@pytest.mark.parametrize("fmt", ["h5ad", "zarr"])
def test_the_result_can_be_written(pair, tmp_path, fmt):
    both = get.combine(pair)
    assert list(both.obs.columns) == ["sex", "smoker", "age"]
    path = tmp_path / f"both.{fmt}"
    getattr(both, f"write_{fmt}")(path)
    back = getattr(ad, f"read_{fmt}")(path)
    np.testing.assert_array_equal(get.scores(back), get.scores(both))
    assert get.manifest(back)["parts"]["1"]["created"] == "2025-02-02T00:00:00"


def test_combining_in_steps_keeps_every_part(pair, make):
    third = make({"bohlin": [37.0]}, ["c1"])
    record = get.manifest(get.combine([get.combine(pair), third]))
    assert [record["parts"][str(i)]["input"]["n_obs"] for i in range(3)] == [2, 1, 1]
    assert record["input"]["n_obs"] == 4


COUNTS = {
    "n_cells_filled": (10, 5),
    "n_cells_imputed": (0, 7),
    "n_samples_median_filled": (1, 0),
    "median_filled_share_max": (0.03, 0.0),
    "share_below_ground": (np.nan, 0.2),
    "fills": ("ref_own 12, dropped 1", "ref_own 1, ref450k 4"),
    "floor": (0.8, 0.5),
}


@pytest.fixture
def counted(make):
    """Two objects scored at other floors, with what was filled."""
    parts = [make({"horvath2013": [40.0]}, [name]) for name in "ab"]
    for i, part in enumerate(parts):
        record = part.uns["falconage"]["scores"]["clock_scores"]
        for column, values in COUNTS.items():
            record["clocks"][column] = values[i]
        call = {name: record[name] for name in ("params", "input", "created")}
        record["calls"] = {"1": call, "3": {**call, "samples": np.array(["species not stated"], dtype=object)}}
    return parts


def test_what_was_filled_is_summed_and_floors_keep_their_range(counted, stored):
    both = get.combine([stored(part) for part in counted])
    row = get.manifest(both)["clocks"].loc["horvath2013"]
    expected = {"n_cells_filled": 15, "n_cells_imputed": 7, "n_samples_median_filled": 1, "share_below_ground": 0.2}
    assert {name: row[name] for name in expected} == expected
    assert row["median_filled_share_max"] == 0.03
    assert row["fills"] == "ref_own 13, dropped 1, ref450k 4"
    assert (row["floor"], row["floor_max"]) == (0.5, 0.8)
    third = counted[1].copy()
    third.obs_names = ["c"]
    again = get.manifest(get.combine([both, third]))["clocks"].loc["horvath2013"]
    assert (again["floor"], again["floor_max"]) == (0.5, 0.8)


def test_calls_of_each_object_stay_under_its_part(counted, tmp_path):
    both = get.combine(counted)
    both.write_h5ad(tmp_path / "both.h5ad")
    parts = get.manifest(ad.read_h5ad(tmp_path / "both.h5ad"))["parts"]
    assert [list(part["calls"]) for part in parts.values()] == [["1", "3"]] * 2
    assert list(parts["1"]["calls"]["3"]["samples"]) == ["species not stated"]


def test_inputs_are_not_changed(pair):
    before = [get.manifest(part)["clocks"] for part in pair]
    joined = get.combine(pair).obsm["clock_scores"]
    joined.iloc[0, 0] = -1
    assert pair[0].obsm["clock_scores"].iloc[0, 0] == 40
    for part, table in zip(pair, before, strict=True):
        pd.testing.assert_frame_equal(get.manifest(part)["clocks"], table)


def test_different_weights_are_never_joined(make):
    a = make({"horvath2013": [40.0]}, ["a"])
    b = make({"horvath2013": [41.0]}, ["b"], sha="1")
    with pytest.raises(InputError, match=r"'horvath2013'.*weights_sha256"):
        get.combine([a, b])


def test_repeated_sample_names_say_what_to_type(pair, make):
    with pytest.raises(InputError, match=r"'a1'.*obs_names = "):
        get.combine([pair[0], make({"bohlin": [1.0]}, ["a1"])])


def test_an_unscored_part_is_named(pair):
    with pytest.raises(InputError, match=r"Object 1 of 2.*score_clocks"):
        get.combine([pair[0], ad.AnnData(np.ones((1, 1)))])


@pytest.mark.parametrize("few", [[], ["one"]])
def test_fewer_than_two_objects_is_an_error(pair, few):
    with pytest.raises(InputError, match="two or more"):
        get.combine([pair[0] for _ in few])


@pytest.mark.parametrize("wrong", [3, None, [3, 4]])
def test_what_is_no_list_of_objects_is_an_error(wrong):
    with pytest.raises(InputError, match=r"combine|AnnData"):
        get.combine(wrong)


def test_end_to_end_on_toy_data():
    a, b = datasets.toy(), datasets.toy(8, rng=1)
    b.obs_names = "b_" + b.obs_names
    tl.score_clocks(a, ["horvath2013", "hannum"])
    tl.score_clocks(b, ["hannum", "dnamtl"])
    both = get.combine([a, b])
    pd.testing.assert_series_equal(
        both.obsm["clock_scores"]["hannum"].iloc[:24], a.obsm["clock_scores"]["hannum"], check_index_type=False
    )
    assert both.obsm["clock_scores"]["dnamtl"].isna().sum() == 24
    assert get.manifest(both)["device"] == "cpu"
