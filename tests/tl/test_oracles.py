"""Scores against the printed outputs of other packages, through the public function."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData

import falconage as fa
from falconage.clocks import _catalog

pytestmark = pytest.mark.oracle

# Rows of the boundary file that another definition produced; the value here is what that definition gives.
MAX_AGE_HUMAN = 122.5
TOAD = "anaxyrus americanus"  # the first species of the source's table, taken where none was given


def boundary_rows(oracles):
    table = pd.read_csv(oracles / "boundary_outputs.tsv", sep="\t", keep_default_na=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table["id"] = [_catalog.resolve([name])[0] for name in table["clock"]]
    status = fa.clocks.table()["status"]
    return table[status.reindex(table["id"]).to_numpy() == "shipped"]


def company_of(clock, species):
    """The smallest clock that runs on the same kind of data and has a feature of its own."""
    kind = {"human": "human", "mouse": "mouse", TOAD: "mammals"}[species]
    mine = set(clock.features)
    facts = [
        c
        for c in _catalog.facts()
        if c.status == "shipped" and c.genome_build == clock.genome_build and kind in c.species and c.expects == "beta"
    ]
    for other in _catalog.load([c.id for c in sorted(facts, key=lambda c: c.n_features)]):
        if set(other.features) - mine and not {"age", "female"} & set(other.covariates):
            return other
    pytest.fail(f"no company for {clock.id}")


def at_bounds(clock, low, high, species):
    """Two samples, every feature of the clock at ``low`` and at ``high``, beside a clock that has others.

    A constant row is an error by design, so another clock, complete and of varied values, keeps the row company.
    """
    mine, other = [str(f) for f in clock.features], company_of(clock, species)
    rest = [str(f) for f in other.features if f not in set(mine)]
    names = [*mine, *rest]
    x = np.empty((2, len(names)))
    x[0, : len(mine)], x[1, : len(mine)] = low, high
    x[:, len(mine) :] = np.random.default_rng(0).uniform(0.1, 0.9, (2, len(rest)))
    obs = pd.DataFrame({"sex": ["male", "female"], "age": [0.0, 100.0]}, index=["low", "high"])
    return AnnData(x, obs=obs, var=pd.DataFrame(index=pd.Index(names))), other.id


def score_at_bounds(clock, low, high, species):
    adata, company = at_bounds(clock, low, high, species)
    chosen = [clock.id, company]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fa.tl.score_clocks(
            adata, chosen, species=species, genome_build=clock.genome_build or None, on_refusal="warn", to_obs=False
        )
    return adata.obsm["clock_scores"][clock.id].to_numpy()


def test_all_low_and_all_high_through_score_clocks(oracles):
    rows = boundary_rows(oracles)
    assert len(rows) >= 41
    wrong = {}
    for row in rows.itertuples():
        clock = _catalog.load([row.id])[0]
        low, high, want = 0.0, 1.0, np.array([float(row.low), float(row.high)])
        species = "mouse" if clock.species == ("mouse",) else "human"
        if clock.expects == "m_value":
            # The source puts β where the model has M-values: its 0 and 1 are M-values 0 and 1.
            low, high = 0.5, 2 / 3
        if row.flag == "sigmoid_not_in_paper":
            want = np.log(want / (1 - want))
        if row.flag == "first_species":
            species = TOAD
        got = score_at_bounds(clock, low, high, species)
        if clock.link == "times_max_age":
            got = got / MAX_AGE_HUMAN  # the source stops at the relative age
        atol = float(row.atol) if row.flag != "sigmoid_not_in_paper" else 1e-5
        if not np.allclose(got, want, rtol=0, atol=atol):
            wrong[row.id] = (got, want)
    assert not wrong


@pytest.fixture(scope="module")
def real(oracles):
    """72 blood samples on a 450K array cut to 4,818 CpGs; 36 pairs of technical replicates."""
    table = pd.read_parquet(oracles / "methylcipher_betas.parquet").set_index("cpg")
    pheno = pd.read_parquet(oracles / "methylcipher_pheno.parquet").set_index("sample")
    obs = pd.DataFrame({"tissue": "blood", "age": pheno["age"].reindex(table.columns)}, index=table.columns)
    return AnnData(table.to_numpy().T.copy(), obs=obs, var=pd.DataFrame(index=table.index))


@pytest.fixture(scope="module")
def printed(oracles):
    return pd.read_csv(oracles / "methylcipher_expected.csv.gz").set_index("sample")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hannum_and_phenoage_of_real_samples(dtype, real, printed, score):
    first = real[list(printed.index)].copy()
    ids = {"hannum": "Hannum", "dnamphenoage": "PhenoAge"}
    gaps = {c: [str(f) for f in _catalog.load([c])[0].features if np.isnan(first.to_df()[f]).any()] for c in ids}
    assert gaps["hannum"] == []
    assert len(gaps["dnamphenoage"]) == 1
    first.X = first.X.astype(dtype)
    # In the source a missing cell adds nothing to the sum: β 0.
    scored = score(first, list(ids), reference=dict.fromkeys(gaps["dnamphenoage"], 0.0))
    for clock, column in ids.items():
        np.testing.assert_allclose(
            scored.obsm["clock_scores"][clock], printed[column], rtol=0, atol=1e-5 if dtype == np.float64 else 2e-5
        )


def test_the_gap_is_filled_by_the_platform_median_unless_told_otherwise(real, printed, score):
    first = real[list(printed.index)].copy()
    clock = _catalog.load(["dnamphenoage"])[0]
    scored = score(first, ["hannum", "dnamphenoage"])
    gap = next(str(f) for f in clock.features if np.isnan(first.to_df()[f]).any())
    row = np.isnan(first.to_df()[gap]).to_numpy()
    w = clock.terms[0].weights[list(clock.terms[0].features).index(gap)]
    shift = w * _catalog.reference_450k()[gap]
    want = printed["PhenoAge"] + np.where(row, shift, 0.0)
    np.testing.assert_allclose(scored.obsm["clock_scores"]["dnamphenoage"], want, rtol=0, atol=1e-5)
    assert (scored.obsm["clock_scores_coverage"][row, 1] < 1).all()
    bound = abs(w) * max(_catalog.reference_450k()[gap], 1 - _catalog.reference_450k()[gap])
    np.testing.assert_allclose(scored.obsm["clock_scores_missing_bound"][row, 1], bound, rtol=1e-5)


def test_all_ages_of_72_real_samples(real, score):
    scored = score(real, "@age", on_refusal="warn")
    frame = scored.obsm["clock_scores"]
    assert {"horvath2013", "hannum", "skinandblood"} <= set(frame.columns)
    record = fa.get.manifest(scored)
    assert set(record["clocks"].index).isdisjoint(record["refused"].index)
    some = frame[["horvath2013", "hannum", "skinandblood"]]
    assert some.notna().all(axis=None)
    assert (some > 15).all(axis=None)
    assert (some < 110).all(axis=None)
    # Technical replicates: the samples of one person agree better than those of two.
    for clock in some:
        a, b = some[clock].to_numpy()[:36], some[clock].to_numpy()[36:]
        assert np.corrcoef(a, b)[0, 1] > 0.8, clock
        assert np.median(np.abs(a - b)) < np.median(np.abs(a - np.roll(b, 1))), clock


def test_ages_of_the_five_people_are_near_the_known_ones(real, score):
    known = real[real.obs["age"].notna()].copy()
    assert known.n_obs == 5
    scored = score(known, ["horvath2013", "hannum", "skinandblood"])
    error = scored.obsm["clock_scores"].sub(known.obs["age"], axis=0)
    assert error["skinandblood"].abs().median() < 5
    assert error.abs().median().max() < 12


def test_livers_read_about_50_and_about_0(score):
    scored = score(fa.datasets.liver_450k(), ["horvath2013"])
    age = scored.obsm["clock_scores"]["horvath2013"]
    assert age.filter(like="adult").between(35, 70).all()
    assert age.filter(like="fetal").between(-1, 2).all()
