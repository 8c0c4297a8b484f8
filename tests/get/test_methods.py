"""The paragraph and the table for a paper."""

from __future__ import annotations

import warnings

import numpy as np
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


def with_columns(adata, **columns):
    clocks = adata.uns["falconage"]["scores"]["clock_scores"]["clocks"]
    for name, values in columns.items():
        clocks[name] = values
    return adata


def test_filled_and_imputed_cells_are_said(scored, stored):
    with_columns(
        scored,
        n_cells_filled=[1200, 3],
        n_cells_imputed=[0, 40],
        fills=["ref_own 1000, ref450k 206", "sample_median 3"],
    )
    text, table = get.methods_text(stored(scored))
    assert "1,203 missing cells of features in the data were replaced or left out" in text
    assert "(most, 1,200, in horvath2013)" in text
    assert (
        "the reference values published with the clock (1,000); medians of blood samples on the 450K array (206)"
        in text
    )
    assert "the sample's own median over the clock's measured features (3)." in text
    assert "40 cells that had been imputed before scoring were used" in text
    assert list(table["n_cells_filled"]) == [1200, 3]
    assert list(table["n_cells_imputed"]) == [0, 40]
    assert table.loc["horvath2013", "cells_filled_from"] == "ref_own 1000, ref450k 206"


def test_records_without_counts_of_cells_leave_them_blank(scored):
    text, table = get.methods_text(scored)
    assert (table[["n_cells_filled", "cells_filled_from", "n_cells_imputed"]] == "").to_numpy().all()
    assert "cell" not in text


def test_floors_of_clocks_and_of_combined_objects_are_a_range(scored, make):
    text, table = get.methods_text(with_columns(scored, floor=[0.8, 0.9]))
    assert "below a floor of 0.8 to 0.9 (which one applies is in the supplementary table) no score" in text
    assert list(table["floor"]) == ["0.8", "0.9"]
    parts = [with_columns(make({"bohlin": [39.0]}, [name]), floor=[floor]) for name, floor in (("a", 0.5), ("b", 0.8))]
    text, table = get.methods_text(get.combine(parts))
    assert "below a floor of 0.5 to 0.8 (by clock, and by the object that a sample was scored in) no score" in text
    assert table.loc["bohlin", "floor"] == "0.5 to 0.8"


def test_missing_cells_of_toy_data_are_counted():
    adata = datasets.toy()
    features = clocks.get("horvath2013").features
    adata.X[:3, [adata.var_names.get_loc(f) for f in features[:2]]] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FalconageWarning)
        tl.score_clocks(adata, "horvath2013")
    text, table = get.methods_text(adata)
    assert table.loc["horvath2013", "n_cells_filled"] == 6
    assert table.loc["horvath2013", "cells_filled_from"] == "ref_own 6"
    assert "6 missing cells of features in the data were replaced or left out" in text
    assert "the reference values published with the clock (6)" in text


def test_nothing_is_called_replaced_where_gaps_give_no_score():
    adata = datasets.toy()
    adata.X[0, adata.var_names.get_loc(clocks.get("horvath2013").features[0])] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FalconageWarning)
        tl.score_clocks(adata, "horvath2013", missing="nan")
    text, table = get.methods_text(adata)
    assert "No missing cell of a feature in the data was replaced." in text
    assert "In 1 clock, samples that lacked a feature got no score" in text
    assert table.loc["horvath2013", "n_cells_filled"] == 0
    assert table.loc["horvath2013", "cells_filled_from"] == ""


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
