"""The catalogue: what every row must hold, and which names lead where."""

from __future__ import annotations

import pytest

import falconage as fa
from falconage.clocks import _catalog as catalog

LINKS = {
    *("identity", "horvath20", "horvath48m", "exp_minus2", "gompertz_rel", "loglinear_m", "ensemble_anti", "sigmoid"),
    *("petkovich", "two_power", "div7", "div30.5", "one_minus", "times_max_age", "bernabeu", "times2"),
}
POLICIES = {"ref_own", "ref450k", "sample_median", "refuse", "drop", "medians_sex"}
COVARIATES = {"age", "female", "gestation", "maturity", "max_age"}
SHIPPED = [clock for clock in catalog.facts() if clock.status == "shipped"]


def test_every_clock_is_listed_once() -> None:
    ids = [clock.id for clock in catalog.facts()]
    assert len(ids) == len(set(ids)) == 661


def test_a_name_belongs_to_one_clock() -> None:
    owner: dict[str, str] = {}
    for clock in catalog.facts():
        for name in (clock.id, *clock.aliases):
            assert owner.setdefault(name.lower(), clock.id) == clock.id
    assert not {"phenoage", "horvath", "zhang", "lee"} & owner.keys()


def test_groups_are_counted_apart() -> None:
    table = fa.clocks.table()
    assert (table["group"] == "episcore").sum() == 109
    assert table.index.str.startswith("ensembleage_").sum() == 53
    assert (table["core"]).sum() == 35


def test_every_clock_that_cannot_be_scored_says_why() -> None:
    for clock in catalog.facts():
        assert (clock.reason == "") == (clock.status == "shipped"), clock.id
        assert clock.licence or clock.status == "unavailable", clock.id


@pytest.mark.parametrize("clock", SHIPPED, ids=lambda clock: clock.id)
def test_shipped_rows_hold_only_what_this_version_computes(clock: fa.clocks.Clock) -> None:
    assert clock.modality == "dna_methylation"
    assert clock.form in {"linear", "mean", "division"}
    assert clock.normaliser == "none"
    assert clock.link in LINKS
    assert clock.missing
    assert set(clock.missing) <= POLICIES
    assert set(clock.covariates) <= COVARIATES
    assert not clock.cohort_dependent
    assert clock.expects in {"beta", "m_value"}
    assert clock.unit
    assert clock.sha256
    assert clock.source.partition(":")[0] in {"omniage@0.99.5", "biolearn@0.9.1", "cpgtools@3.0.2"}


def test_the_blood_profile_fills_only_blood_and_multi_tissue_clocks() -> None:
    used = {clock.tissue for clock in SHIPPED if "ref450k" in clock.missing}
    assert used <= {"blood", "blood+saliva", "blood, children", "skin+blood", "multi-tissue"}
    assert not [c.id for c in SHIPPED if "ref450k" in c.missing and c.species != ("human",)]


def test_only_ranges_that_a_source_states_are_confirmed() -> None:
    confirmed = {clock.id for clock in SHIPPED if clock.age_range_confirmed}
    assert confirmed == {"abec", "encen40", "encen100", "dunedinpoam38", "hannum"}
    hannum = fa.clocks.get("hannum")
    assert (hannum.age_min, hannum.age_max) == (19, 101)


def test_notices_are_in_the_licence() -> None:
    for name in ("hannum", "cortical", "encen40", "il6_stevenson", "retroelementage_v1", "dunedinpoam38"):
        assert "NOTICE: " in fa.clocks.get(name).licence


@pytest.mark.parametrize(
    ("typed", "clock"),
    [
        ("horvath2013", "horvath2013"),
        ("HORVATH2013", "horvath2013"),
        ("Horvathv1", "horvath2013"),
        ("calcHorvath1", "horvath2013"),
        ("calcHannum", "hannum"),
        ("skinHorvath", "skinandblood"),
        ("Levine", "dnamphenoage"),
        ("McCartneyBMI", "mccartney_bmi"),
        ("YingDamAge", "ying_damage"),
        ("AD_Bahado-Singh", "ad_bahado_singh"),
        ("mammalianblood2", "mammalian_blood2"),
        ("KnightGA", "knight"),
        (" dnamtl ", "dnamtl"),
    ],
)
def test_names_of_other_packages_work(typed: str, clock: str) -> None:
    assert catalog.resolve([typed]) == [clock]


@pytest.mark.parametrize(
    ("typed", "candidates"),
    [
        ("phenoage", ["dnamphenoage", "phenoage_clinical"]),
        ("calcPhenoAge", ["dnamphenoage", "phenoage_clinical"]),
        ("Horvath", ["horvath2013", "skinandblood"]),
        ("zhang", ["zhang2017_mortality10", "zhang2019_en", "zhang2019_blup"]),
        ("lee", ["lee_control", "lee_robust", "lee_refined_robust"]),
        ("OrganAge", ["organage_", "gladyshev_"]),
        ("liver", ["cts_liver", "systemsage_liver", "wang_liver"]),
        ("smoking", ["mccartney_smoking", "smoke_index"]),
        ("ensembleage", ["ensembleage_static_top", "ensembleage_humanmouse"]),
    ],
)
def test_an_ambiguous_name_is_refused_with_the_candidates(typed: str, candidates: list[str]) -> None:
    with pytest.raises(fa.AmbiguousClockError) as caught:
        catalog.resolve([typed])
    assert all(candidate in str(caught.value) for candidate in candidates)


@pytest.mark.parametrize(("typed", "clock"), [("grimage", "grimage1"), ("bohlin", "bohlin")])
def test_two_names_resolve_with_a_notice(typed: str, clock: str) -> None:
    with pytest.warns(fa.FalconageWarning, match="bohlin96|grimage2"):
        assert catalog.resolve([typed]) == [clock]


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(fa.UnknownClockError, match=r"horvarth2013.*did you mean horvath2013"):
        catalog.resolve(["horvarth2013"])


def test_all_names_are_looked_at_before_the_error() -> None:
    with pytest.raises(fa.UnknownClockError) as caught:
        catalog.resolve(["hannum", "phenoage", "nosuchclock", "@nogroup", "zzz*"])
    assert not isinstance(caught.value, fa.AmbiguousClockError)
    assert all(name in str(caught.value) for name in ("phenoage", "nosuchclock", "@nogroup", "zzz*"))
    assert "hannum" not in str(caught.value)


def test_text_is_asked_for() -> None:
    with pytest.raises(fa.InputError, match="int 3"):
        catalog.resolve([3])  # type: ignore[list-item]


def test_wildcards_groups_and_all() -> None:
    assert catalog.resolve(["ying_*"]) == ["ying_causage", "ying_damage", "ying_adaptage"]
    assert catalog.resolve(["hannum", "YING_*", "hannum", "DamAge"])[:2] == ["hannum", "ying_causage"]
    assert len(catalog.resolve(["hannum", "YING_*", "hannum", "DamAge"])) == 4
    assert set(catalog.resolve(["@telomere"])) == {"dnamtl"}
    assert len(catalog.resolve(["@episcore"])) == 109
    assert len(catalog.resolve(["grimage2_*"])) == 10
    everything = catalog.load(catalog.resolve(["all"]))
    assert all(clock.status == "shipped" and clock.terms for clock in everything)
    assert len(everything) == len(SHIPPED)


def test_get_wants_one_clock() -> None:
    with pytest.raises(fa.InputError, match="stands for 3 clocks"):
        fa.clocks.get("ying_*")
    assert fa.clocks.get("grimage2").terms == ()
    assert "grimage2" not in {clock.id for clock in SHIPPED}


def test_search_wants_every_word() -> None:
    found = fa.clocks.search("Mortality BLOOD")
    assert "zhang2017_mortality10" in found.index
    assert "hannum" not in found.index
    assert list(fa.clocks.search("10.1186/gb-2013-14-10-r115").index) == ["horvath2013", "horvath2013_shrunk"]
    assert fa.clocks.search("no such clock anywhere").empty


@pytest.mark.parametrize(
    ("latin", "common", "values"),
    [
        ("homo sapiens", "human", (0.767123287671233, 13.5, 122.5)),
        ("mus musculus", "mouse", (0.0520547945205479, 0.115068493150685, 4)),
        ("rattus norvegicus", "rat", (0.0575342465753425, 0.219178082191781, 3.8)),
    ],
)
def test_species(latin: str, common: str, values: tuple[float, float, float]) -> None:
    table = catalog.species_table()
    assert len(table) == 1484
    assert table.index.is_unique
    row = table.loc[latin]
    assert row["common"] == common
    assert tuple(row[["gestation", "maturity", "max_age"]]) == values


def test_reference_450k_is_a_beta() -> None:
    reference = catalog.reference_450k()
    assert reference.index.is_unique
    assert reference.between(0, 1).all()
    assert len(reference) > 40_000
