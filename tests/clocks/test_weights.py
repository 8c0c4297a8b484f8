"""The numbers in the package against the literature and the outputs of other packages."""

from __future__ import annotations

import hashlib
import importlib.util
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import falconage as fa
from falconage.clocks import _catalog as catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SHIPPED = [clock for clock in catalog.facts() if clock.status == "shipped"]
WITH_TABLE = [clock for clock in catalog.facts() if clock.sha256]

# Papers, supplements and author code; packages disagree about several of them.
INTERCEPTS = {
    "horvath2013": 0.695507258,
    "knight": 41.72579759,
    "dnamtl": 7.924780053,
    "skinandblood": -0.447119319,
    "cortical": 0.577682570446177,
    "dnamphenoage": 60.664,
    "lin": 12.2169841,
    "hannum": 0,
    "vidalbralo": 84.7,
    "hrsinchphenoage": 52.833408,
    "ying_causage": 86.80816381,
    "ying_damage": 543.4315887,
    "ying_adaptage": -511.9742762,
    "dunedinpoam38": -0.06929805,
    "lee_control": 13.0618205,
    "lee_robust": 24.99772133,
    "lee_refined_robust": 30.74966212,
    "replitali": 101.589621740508,
    "meer_wlmt": 234.64,
    "bohlin": 277.2420950792056,
    "bohlin96": 272.682740636497,
    "haftorn_epic_ga": 293.455727634503,
    "bernabeu_cage": 30.7873138968084,
    "thompson": 30.3172,
    "wang_liver": 5.827926399,
    "petkovich_blood": 0,
    "prostate_kirby": 6.524,
    "hepatoxu": 15.595,
    "weidner": 38.0,
    "zhang2017_mortality10": 0,
    "cts_brain": 46.8102669134615,
    "mammalian_blood2": 1.08834672729697,
    "mammalian_skin2": -1.87511850756681,
    "mammalian_skin3": -0.443126655,
}
FEATURES = {
    "horvath2013": 353,
    "horvath2013_shrunk": 110,
    "encen40": 559,
    "encen100": 198,
    "bohlin": 251,
    "bohlin96": 96,
    "epitoc1": 385,
    "epitoc2": 163,
    "epitoc3": 170,
    "hypoclock": 678,
    "epicmit_hyper": 184,
    "epicmit_hypo": 1164,
    "replitali": 87,
    "thompson": 582,
    "il6_stevenson": 35,
    "bmi_reed": 135,
    "ensembleage_humanmouse": 100,
    "chip_dnmt3a": 5989,
    "mammalian1": 335,
    "mammalian2": 816,
    "mammalian3": 760,
}


def _age(y: Array, adult: float) -> Array:
    return np.where(y < 0, (1 + adult) * np.exp(np.minimum(y, 0)) - 1, (1 + adult) * y + adult)


LINKS: dict[str, Callable[[Array], Array]] = {
    "identity": lambda y: y,
    "horvath20": lambda y: _age(y, 20),
    "horvath48m": lambda y: _age(y, 48) / 12,
    "exp_minus2": lambda y: np.exp(y) - 2,
    "petkovich": lambda y: ((y + 1.712) / 0.1666) ** (1 / 0.4185) / 30.5,
    "one_minus": lambda y: 1 - y,
    "times2": lambda y: 2 * y,
    "div7": lambda y: y / 7,
    "div30.5": lambda y: y / 30.5,
}


def _predictor(clock: fa.clocks.Clock, x: Array, part: int = 0) -> Array:
    terms = clock.terms[part]
    if clock.form == "mean":
        return x.mean(axis=1)
    if clock.form == "division":
        return ((x - terms.second) / (terms.weights * (1 - terms.second))).mean(axis=1)
    return terms.intercept + np.where(terms.squared, x * x, x) @ terms.weights


@pytest.mark.parametrize("clock", WITH_TABLE, ids=lambda clock: clock.id)
def test_tables_are_whole(clock: fa.clocks.Clock) -> None:
    (clock,) = catalog.load([clock.id])
    assert clock.terms
    assert len(clock.features) == clock.n_features
    assert [terms.part for terms in clock.terms] in ([""], ["female", "male"])
    for terms in clock.terms:
        assert np.isfinite(terms.weights).all()
        assert math.isfinite(terms.intercept)
        assert not pd.DataFrame({"f": terms.features, "s": terms.squared}).duplicated().any()
        assert all(isinstance(name, str) and name and name == name.strip() for name in terms.features)
        assert np.isfinite(terms.second).all() == (clock.form == "division")
        if clock.form == "division":
            assert (terms.weights * (1 - terms.second) > 0).all()
        if clock.missing[0] in ("ref_own", "medians_sex"):
            assert ((terms.reference >= 0) & (terms.reference <= 1)).all()


def test_sha256_is_of_the_terms_as_text(repository: Path) -> None:
    frame = pd.read_parquet(repository / "src/falconage/clocks/data/weights.parquet")
    lines: dict[str, list[str]] = {}
    frame = frame.astype(dict.fromkeys(frame.columns[:4], object))
    for clock, part, feature, op, *numbers in frame.itertuples(index=False):
        text = ["" if math.isnan(number) else repr(float(number)) for number in numbers]
        lines.setdefault(clock, []).append("\t".join([part, feature, op, *text]) + "\n")
    digests = {clock: hashlib.sha256("".join(rows).encode()).hexdigest() for clock, rows in lines.items()}
    assert digests == {clock.id: clock.sha256 for clock in WITH_TABLE}


def test_the_data_folder_is_small(repository: Path) -> None:
    sizes = [file.stat().st_size for file in (repository / "src/falconage/clocks/data").iterdir()]
    assert sum(sizes) < 6_000_000


@pytest.mark.parametrize(("name", "intercept"), INTERCEPTS.items())
def test_intercepts(name: str, intercept: float) -> None:
    (clock,) = catalog.load([name])
    assert clock.terms[0].intercept == intercept


@pytest.mark.parametrize(("name", "count"), FEATURES.items())
def test_feature_counts(name: str, count: int) -> None:
    (clock,) = catalog.load([name])
    assert clock.n_features == len(clock.features) == count


def test_episcores_are_all_there() -> None:
    scores = [clock for clock in WITH_TABLE if clock.group == "episcore"]
    assert sum(len(clock.terms[0].features) for clock in catalog.load([s.id for s in scores])) == 10_270
    assert {score.status for score in scores} == {"form pending"}


def test_zhang_mortality_and_weidner_as_published() -> None:
    zhang = fa.clocks.get("zhang2017_mortality10").terms[0]
    assert dict(zip(zhang.features, zhang.weights, strict=True)) == {
        "cg01612140": -0.38253,
        "cg05575921": -0.92224,
        "cg06126421": -1.70129,
        "cg08362785": 2.71749,
        "cg10321156": -0.02073,
        "cg14975410": -0.04156,
        "cg19572487": -0.28069,
        "cg23665802": -0.89440,
        "cg24704287": -2.98637,
        "cg25983901": -1.80325,
    }
    weidner = fa.clocks.get("weidner").terms[0]
    assert dict(zip(weidner.features, weidner.weights, strict=True)) == {
        "cg02228185": -26.4,
        "cg25809905": -23.7,
        "cg17861230": 164.7,
    }


def test_bernabeu_has_squares_and_published_means() -> None:
    terms = fa.clocks.get("bernabeu_cage").terms[0]
    assert (len(terms.features), terms.squared.sum(), len(set(terms.features))) == (2330, 56, 2321)
    assert not any(name.endswith("_2") for name in terms.features)


def test_fitness_models_by_sex() -> None:
    counts = {
        "dnamfit_gait_noage": (53, 59),
        "dnamfit_grip_noage": (91, 93),
        "dnamfit_gait_wage": (42, 26),
        "dnamfit_grip_wage": (52, 64),
        "dnamfit_fev1_wage": (77, 73),
        "dnamfit_vo2max": (40, 40),
    }
    for name, count in counts.items():
        terms = fa.clocks.get(name).terms
        assert tuple(len(t.features) for t in terms) == count
        assert [list(t.covariates) for t in terms] == [["age"] if "noage" not in name else []] * 2
    vo2max = fa.clocks.get("dnamfit_vo2max").terms
    assert np.array_equal(vo2max[0].weights, vo2max[1].weights)
    assert not np.array_equal(vo2max[0].reference, vo2max[1].reference)


def test_means_weigh_every_site_alike() -> None:
    for name in ("epitoc1", "hypoclock", "epicmit_hyper", "epicmit_hypo"):
        assert (fa.clocks.get(name).terms[0].weights == 1).all()


def test_a_cached_clock_cannot_be_changed() -> None:
    terms = fa.clocks.get("hannum").terms[0]
    for values in (terms.weights, terms.reference, terms.features, terms.squared):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = values[1]
    frame = fa.clocks.get("hannum").weights
    assert list(frame.columns) == ["part", "feature", "weight", "reference", "second", "squared"]
    assert len(frame) == 71


def _gompertz(y: Array, gestation: float, longevity: float) -> Array:
    return np.exp(-np.exp(-y)) * (longevity + gestation) - gestation


def _expected(clock: fa.clocks.Clock, row: Any, y: Array) -> Array:
    """The output of the source of the oracle, from our predictor."""
    if row.flag == "sigmoid_not_in_paper":
        return 1 / (1 + np.exp(-y))
    if row.flag == "first_species":
        # No species was given: the source then took the first of its table, the American toad.
        return _gompertz(y, 0.0219178082191781, 1.3 * 36)
    if clock.id == "ensembleage_humanmouse":
        return y  # the source stops at the relative age
    return LINKS[clock.link](y)


@pytest.mark.oracle
def test_outputs_at_the_bounds_of_the_features(oracles: Path) -> None:
    seen = 0
    for row in pd.read_csv(oracles / "boundary_outputs.tsv", sep="\t", keep_default_na=False).itertuples():
        (clock,) = catalog.load(catalog.resolve([str(row.clock)]))
        if clock.status != "shipped":
            continue
        n = len(clock.terms[0].features)
        y = _predictor(clock, np.stack([np.zeros(n), np.ones(n)]))
        if "female" in clock.covariates:
            # Low is a man, high a woman: female is one of the features of the source.
            y[0] = clock.terms[1].intercept
        got = _expected(clock, row, y)
        np.testing.assert_allclose(
            got, [float(row.low), float(row.high)], rtol=0, atol=float(row.atol), err_msg=clock.id
        )
        seen += 1
    assert seen == 41


@pytest.mark.oracle
def test_outputs_on_seeded_random_features(oracles: Path) -> None:
    """Every weight in its place: the source's order of features is that of our tables."""
    spec = importlib.util.spec_from_file_location("torch_randn", oracles / "torch_randn.py")
    assert spec is not None
    assert spec.loader is not None
    recipes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipes)
    seen = set()
    for row in pd.read_csv(oracles / "seeded_outputs.tsv", sep="\t", keep_default_na=False).itertuples():
        (clock,) = catalog.load(catalog.resolve([str(row.clock)]))
        # The source keeps the zero rows of the mammalian tables, and puts both sexes of dnamfit into one order.
        if clock.status != "shipped" or len(clock.terms) > 1 or str(row.n_features) != str(clock.n_features):
            continue
        x = recipes.seeded_inputs(clock.n_features)
        got = _expected(clock, row, _predictor(clock, np.abs(x) if "abs" in row.recipe else x))
        want = [float(value) for value in row.predictions.split(",")]
        np.testing.assert_allclose(got, want, rtol=float(row.rtol), atol=float(row.atol), err_msg=clock.id)
        seen.add(clock.id)
    assert len(seen) >= 23
