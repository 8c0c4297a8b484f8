"""The plan tells what scoring will do, reads no value, and writes nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import falconage as fa
from falconage.clocks import _catalog


def features_of(clock):
    return list(_catalog.load([clock])[0].features)


def without(adata, features):
    return adata[:, ~adata.var_names.isin(list(features))].copy()


@pytest.fixture(scope="module")
def mixed(make):
    """Complete for some clocks, short of features for others; sex and age known."""
    adata = make(
        ["hannum", "horvath2013", "epitoc1", "lin", "dunedinpoam38", "dnamfit_grip_wage", "bohlin96"],
        age=[30.0, 40, 50, 60, 70, 80],
        sex=["f", "m"] * 3,
    )
    return without(adata, [*features_of("lin")[:40], *features_of("bohlin96")[:12], *features_of("hannum")[:3]])


CASES = [
    {"clocks": ["hannum", "lin", "epitoc1", "bohlin96", "dnamfit_grip_wage", "grimage2"]},
    {"clocks": "@age"},
    {"clocks": "@mitotic"},
    {"clocks": "all"},
    {"clocks": None},
    {"clocks": ["hannum", "lin"], "min_coverage": 0.5},
    {"clocks": ["hannum", "epitoc1"], "min_coverage": 0.99},
    {"clocks": ["hannum", "epitoc1", "bohlin96"], "reference": dict.fromkeys(features_of("bohlin96"), 0.5)},
    {"clocks": "all", "sex_key": "nothing"},
    {"clocks": "all", "age_unit": "months"},
    {"clocks": "all", "species": "human"},
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(str(v)[:30] for v in c.values()))
def test_plan_and_scores_agree(case, mixed, score):
    plan = fa.tl.plan_clocks(mixed, **case)
    scored = score(mixed, on_refusal="warn", **case)
    runs = plan.index[plan["decision"] == "run"]
    assert list(scored.obsm["clock_scores"].columns) == list(runs)
    record = fa.get.manifest(scored)
    refused = plan[plan["decision"] == "refuse"]
    assert set(plan["decision"]) <= {"run", "refuse"}
    assert refused["reason"].to_dict() == record["refused"]["reason"].to_dict()
    assert (plan.loc[runs, "reason"] == "").all()
    assert (refused["reason"].str.len() > 15).all()
    assert plan.index.is_unique
    # Without gaps in the cells, what the plan foresees is what every sample has.
    seen = fa.get.coverage(scored)
    one_table = [c for c in runs if "female" not in _catalog.load([c])[0].covariates]
    np.testing.assert_allclose(plan.loc[one_table, "coverage"], seen[one_table].iloc[0], rtol=1e-6)
    np.testing.assert_allclose(plan.loc[runs, "floor"], record["clocks"].loc[runs, "floor"])
    for column in ("unit", "group", "species", "tissue", "licence"):
        assert plan.loc[runs, column].to_dict() == record["clocks"].loc[runs, column].to_dict()


def test_columns_promised_by_the_help(mixed):
    plan = fa.tl.plan_clocks(mixed, ["hannum"])
    for column in ("decision", "coverage", "floor", "unit", "group", "species", "tissue", "licence", "reason"):
        assert column in plan.columns
        assert column in fa.tl.plan_clocks.__doc__
    assert plan.index.name == "clock"


def test_no_value_is_read_and_nothing_is_written(mixed):
    broken = mixed.copy()
    broken.X = np.full(broken.shape, np.inf)
    before = broken.copy()
    plan = fa.tl.plan_clocks(broken, ["hannum", "epitoc1"])
    assert plan["decision"].tolist() == ["run", "run"]
    assert not broken.obsm
    assert not broken.uns
    pd.testing.assert_frame_equal(broken.obs, before.obs)
    view = mixed[:2]
    fa.tl.plan_clocks(view, "hannum")
    assert view.is_view


def test_the_plan_does_not_warn(mixed):
    odd = mixed.copy()
    odd.obs["tissue"] = "liver"
    odd.obs["age"] = 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fa.tl.plan_clocks(odd, ["hannum", "lin"])


def test_coverage_is_the_smaller_share_of_the_absent(make):
    terms = _catalog.load(["hannum"])[0].terms[0]
    w = np.abs(terms.weights)
    order = np.argsort(w)
    for gone in (order[:9], order[-9:]):
        plan = fa.tl.plan_clocks(without(make("hannum"), terms.features[gone]), "hannum")
        want = min(62 / 71, 1 - w[gone].sum() / w.sum())
        np.testing.assert_allclose(plan.loc["hannum", "coverage"], want, rtol=1e-9)


def test_a_clock_refused_for_coverage_shows_the_share_and_the_floor(mixed):
    row = fa.tl.plan_clocks(mixed, "lin").loc["lin"]
    assert row["decision"] == "refuse"
    assert 0 < row["coverage"] < 0.8
    assert row["floor"] == 0.8
    assert "59 of its 99" in row["reason"]


def test_the_authors_floor_is_shown(mixed):
    assert fa.tl.plan_clocks(mixed, "dunedinpoam38", min_coverage=0.2).loc["dunedinpoam38", "floor"] == 0.8


def test_missing_covariates_are_reasons_that_name_the_column(make):
    plan = fa.tl.plan_clocks(make(["dnamfit_grip_wage", "epitoc1"], sex=["f"] * 6), ["dnamfit_grip_wage", "epitoc1"])
    assert plan["decision"].to_dict() == {"dnamfit_grip_wage": "refuse", "epitoc1": "run"}
    assert "age" in plan.loc["dnamfit_grip_wage", "reason"]


def test_all_refused_is_a_table_and_no_error(make):
    plan = fa.tl.plan_clocks(make("epitoc1"), ["grimage2", "thompson", "altumage"])
    assert (plan["decision"] == "refuse").all()
    assert (plan["reason"] != "").all()


def test_names_are_validated_as_in_scoring(mixed):
    with pytest.raises(fa.UnknownClockError, match="horvat2013"):
        fa.tl.plan_clocks(mixed, ["hannum", "horvat2013"])
    with pytest.raises(fa.AmbiguousClockError, match="dnamphenoage"):
        fa.tl.plan_clocks(mixed, "phenoage")


def test_a_transposed_object_and_a_table_are_recognised(mixed):
    with pytest.raises(fa.InputError, match="transposed"):
        fa.tl.plan_clocks(mixed.T.copy())
    with pytest.raises(fa.InputError, match=r"fa\.io\.from_dataframe"):
        fa.tl.plan_clocks(mixed.to_df())


def test_arguments_are_checked_as_in_scoring(mixed):
    with pytest.raises(fa.InputError, match="min_coverage"):
        fa.tl.plan_clocks(mixed, "hannum", min_coverage=7)
    with pytest.raises(fa.InputError, match="reference="):
        fa.tl.plan_clocks(mixed, "hannum", reference={"cg1": "high"})


def test_each_refusal_has_its_own_reason(make):
    adata = make(["horvath2013", "hannum"])
    reasons = fa.tl.plan_clocks(
        adata, ["thompson", "grimage2", "altumage", "lin", "phenoage_clinical"], species="mouse"
    )
    assert "mm10" in reasons.loc["thompson", "reason"]
    assert (reasons["reason"].str.len() > 10).all()
    assert reasons["reason"].nunique() >= 3


def test_the_table_of_compatible_clocks_says_the_same(mixed):
    ids = ["hannum", "lin", "epitoc1", "thompson", "grimage2", "bohlin96"]
    plan = fa.tl.plan_clocks(mixed, ids)
    table = fa.clocks.compatible(mixed.var_names, clocks=ids)
    assert (plan["decision"] == "run").to_dict() == table["compatible"].to_dict()
    np.testing.assert_allclose(plan["coverage"], table["coverage"])
