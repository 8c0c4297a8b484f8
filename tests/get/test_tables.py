"""Scores, coverage, bounds and manifest as copies."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from falconage import get
from falconage._errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*zarr v[23].*")


def test_scores_is_a_copy(scored):
    frame = get.scores(scored)
    frame.iloc[0, 0] = -1
    assert scored.obsm["clock_scores"].iloc[0, 0] == 40


def test_tidy_has_one_row_for_each_sample_and_clock(scored, stored):
    tidy = get.scores(stored(scored), tidy=True)
    assert list(tidy.columns) == ["sample", "clock", "value", "unit", "scale", "group", "coverage"]
    assert list(tidy["sample"]) == ["s1", "s1", "s2", "s2", "s3", "s3"]
    assert list(tidy["clock"]) == ["horvath2013", "dunedinpoam38"] * 3
    np.testing.assert_array_equal(tidy["value"], [40, 1.0, 50, 1.1, np.nan, 0.9])
    assert list(tidy["unit"]) == ["years", "biological years per year"] * 3
    np.testing.assert_array_equal(tidy["coverage"], scored.obsm["clock_scores_coverage"].ravel())


@pytest.mark.parametrize(("call", "suffix"), [(get.coverage, "coverage"), (get.missing_bound, "missing_bound")])
def test_arrays_beside_the_scores_get_their_labels(scored, stored, call, suffix):
    frame = call(stored(scored))
    assert list(frame.columns) == ["horvath2013", "dunedinpoam38"]
    assert list(frame.index) == ["s1", "s2", "s3"]
    np.testing.assert_array_equal(frame, scored.obsm[f"clock_scores_{suffix}"])
    frame.iloc[0, 0] = 7
    assert scored.obsm[f"clock_scores_{suffix}"][0, 0] != 7


def test_manifest_is_the_same_from_memory_and_from_files(scored, stored):
    before = get.manifest(scored)
    after = get.manifest(stored(scored))
    assert before.keys() == after.keys()
    assert after["params"]["clocks"].tolist() == ["horvath2013", "dunedinpoam38"]
    assert after["params"]["clocks"].dtype == object
    for table in ("clocks", "refused", "absent"):
        pd.testing.assert_frame_equal(after[table], before[table])
    assert after["clocks"].index.name == "clock"
    after["clocks"].loc["horvath2013", "unit"] = "changed"
    assert get.manifest(scored)["clocks"].loc["horvath2013", "unit"] == "years"


@pytest.mark.parametrize("call", [get.scores, get.coverage, get.missing_bound, get.manifest, get.methods_text])
def test_a_wrong_key_lists_the_keys_there_are(scored, call):
    scored.obsm["other"] = scored.obsm["clock_scores"]
    with pytest.raises(InputError, match=r"'nope'.*under 'clock_scores': type key='clock_scores'"):
        call(scored, key="nope")


@pytest.mark.parametrize("call", [get.scores, get.coverage, get.missing_bound, get.manifest, get.methods_text])
def test_an_unscored_object_says_what_to_type(call):
    with pytest.raises(InputError, match=r"fa\.tl\.score_clocks\(adata\)"):
        call(ad.AnnData(np.ones((2, 2))))


def test_scores_that_are_no_frame_are_refused(scored):
    scored.obsm["clock_scores"] = np.ones((3, 2))
    with pytest.raises(InputError, match="is a ndarray, not a DataFrame"):
        get.scores(scored)


def test_a_dropped_record_is_explained(scored):
    del scored.uns["falconage"]
    assert get.scores(scored).shape == (3, 2)
    with pytest.raises(InputError, match=r"fa\.get\.combine"):
        get.scores(scored, tidy=True)


def test_arrays_of_another_shape_are_refused(scored):
    scored.obsm["clock_scores_coverage"] = np.ones((3, 5))
    with pytest.raises(InputError, match=r"shape \(3, 5\)"):
        get.coverage(scored)


def test_views_and_repeated_sample_names_work(scored):
    scored.obs_names = ["a", "a", "b"]
    assert get.scores(scored[[2, 0]]).iloc[1, 0] == 40
    assert list(get.scores(scored, tidy=True)["sample"]) == ["a", "a", "a", "a", "b", "b"]
