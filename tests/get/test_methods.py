"""The paragraph and the table for a paper."""

from __future__ import annotations

import warnings

import pytest

from falconage import clocks, datasets, get, tl
from falconage._errors import FalconageWarning

pytestmark = pytest.mark.filterwarnings("ignore:.*zarr v[23].*")


def test_the_table_says_what_was_used_and_what_was_filled(scored, stored):
    table = get.methods_text(stored(scored)).table
    row = table.loc["horvath2013"]
    assert row["n_features"] == 353
    assert row["n_present"] == 351
    assert row["n_filled"] == 2
    assert row["filled_from"] == "1 ref_own, 1 ref450k"
    assert row["formula"].startswith("y = b + Σ w·x; score = ")
    assert "21" in row["formula"]
    assert row["weights_sha256"] == "horvath2013-0"
    assert table.loc["dunedinpoam38", "formula"] == "y = b + Σ w·x; score = y"
    assert table.loc["dunedinpoam38", "filled_from"] == ""
    assert not table.isna().to_numpy().any()


def test_the_paragraph_names_versions_clocks_and_fillings(scored, stored):
    text = get.methods_text(stored(scored)).text
    assert text.startswith("Scores were computed with falconage 0.1.0 (Python 3.11.7, anndata 0.12.19, NumPy 2.4.6)")
    assert "for 3 samples" in text
    assert "doi:10.1186/gb-2013-14-10-r115" in text
    assert "2 features over all clocks, at most 2 of 353 in horvath2013" in text
    assert "the reference values published with the clock" in text
    assert "below 0.8 no score was given" in text
    assert "The lowest coverage was 0.900." in text
    assert "\n" not in text


def test_features_left_out_of_a_mean_are_not_called_filled():
    adata = datasets.toy()
    adata = adata[:, adata.var_names != clocks.get("epitoc2").features[0]].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FalconageWarning)
        tl.score_clocks(adata, "epitoc2")
    text, table = get.methods_text(adata)
    assert table.loc["epitoc2", "n_filled"] == 0
    assert table.loc["epitoc2", "filled_from"] == "1 dropped"
    assert "In 1 clock, means over features, absent features were left out (1)." in text


def test_nothing_filled_is_said(make):
    assert "No absent feature was replaced." in get.methods_text(make({"bohlin": [39.0]}, ["a"])).text


def test_a_clock_outside_the_catalogue_has_a_blank_citation(scored):
    scored.obsm["clock_scores"] = scored.obsm["clock_scores"].rename(columns={"dunedinpoam38": "mine"})
    record = scored.uns["falconage"]["scores"]["clock_scores"]
    record["clocks"] = record["clocks"].rename(index={"dunedinpoam38": "mine"})
    assert get.methods_text(scored).table.loc["mine", "citation"] == ""


def test_end_to_end_on_toy_data():
    adata = datasets.toy()
    tl.score_clocks(adata, ["horvath2013", "epitoc2"])
    methods = get.methods_text(adata)
    assert "Horvath S" in methods.table.loc["horvath2013", "citation"]
    assert "δ" in methods.table.loc["epitoc2", "formula"]
    assert "10.1186/s13073-020-00752-3" in methods.text


def test_many_clocks_are_left_to_the_table():
    adata = datasets.toy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FalconageWarning)
        tl.score_clocks(adata, ["@age"], on_refusal="warn", min_coverage=0.0)
    methods = get.methods_text(adata)
    assert f"{len(methods.table)} clocks of " in methods.text
    assert len(methods.text) < 1500
