"""The table of legal operations, value by value, and the mistakes it must catch."""

from __future__ import annotations

import pytest

from falconage._errors import InputError
from falconage.clocks._scales import SCALES, check_unit, get_scale, scales

# scale: (minus age, residual on age, group difference)
LEGAL = {
    "age_years": ("yes", True, "yes"),
    "age_months": ("yes", True, "yes"),
    "age_weeks": ("yes", True, "yes"),
    "age_hours": ("yes", True, "yes"),
    "age_years_relative": ("no", True, "yes"),
    "age_months_relative": ("no", True, "yes"),
    "gestational_weeks": ("gestational", True, "yes"),
    "pace": ("no", True, "yes"),
    "log_hazard": ("no", True, "log hazard ratio"),
    "log10_hazard_ratio": ("no", True, "log10 hazard ratio"),
    "telomere_kb": ("no", True, "yes"),
    "divisions": ("no", True, "yes"),
    "population_doublings": ("no", True, "yes"),
    "passages": ("no", True, "yes"),
    "mitotic_index": ("no", True, "within one platform"),
    "single_cpg_beta": ("no", True, "within one platform"),
    "proportion": ("no", False, "log-ratio preferred"),
    "probability": ("no", False, "log odds only"),
    "log_odds": ("no", False, "log odds only"),
    "concentration": ("no", True, "yes"),
    "physical": ("no", True, "yes"),
    "exposure": ("no", True, "yes"),
    "distance": ("no", False, "standardised"),
    "score": ("no", False, "standardised"),
    "relative_age": ("lifespan", True, "yes"),
}


def test_every_scale_and_what_is_legal_on_it():
    assert {n: (s.minus_age, s.residual, s.group_difference) for n, s in SCALES.items()} == LEGAL
    assert all(get_scale(name).name == name for name in LEGAL)


def test_whatever_is_not_legal_is_explained():
    for scale in SCALES.values():
        restricted = scale.minus_age != "yes" or not scale.residual
        assert bool(scale.note) == restricted, scale.name
        assert not scale.note or scale.note.endswith(".")


def test_table():
    table = scales()
    assert table.index.name == "scale"
    assert table.index.is_unique
    assert list(table.index) == list(LEGAL)
    assert list(table.columns) == ["family", "units", "minus_age", "residual", "group_difference", "special", "note"]
    assert table["residual"].dtype == bool
    assert not table.isna().any(axis=None)
    table.loc["age_years", "minus_age"] = "no"
    assert scales().loc["age_years", "minus_age"] == "yes"


def test_unknown_scale():
    with pytest.raises(InputError, match="no scale 'years'; the scales are age_years, age_months"):
        get_scale("years")
    with pytest.raises(InputError, match="no scale"):
        check_unit("", "years")


def test_telomere_length_has_a_residual_but_no_difference_to_age():
    telomere = get_scale("telomere_kb")
    assert telomere.residual
    assert telomere.minus_age == "no"
    check_unit("telomere_kb", "kb")
    with pytest.raises(InputError, match="'bp' contradicts the scale 'telomere_kb'"):
        check_unit("telomere_kb", "bp")


@pytest.mark.parametrize(
    ("scale", "unit"),
    [
        ("age_years", "months"),
        ("age_months", "years"),
        ("age_years", "weeks"),
        ("gestational_weeks", "score"),
        ("gestational_weeks", "days"),
        ("proportion", "probability"),
        ("log_hazard", "log10 hazard ratio"),
        ("relative_age", "years"),
    ],
)
def test_a_unit_that_contradicts_its_scale_is_refused(scale, unit):
    with pytest.raises(InputError, match=f"{unit!r} contradicts the scale {scale!r}"):
        check_unit(scale, unit)


# Scales and units of the catalogue of clocks.
UNITS = [
    ("age_hours", "hours"),
    ("age_months", "months"),
    ("age_months_relative", "months"),
    ("age_months_relative", "months of mouse age, difference to the reference group"),
    ("age_weeks", "weeks"),
    ("age_years", "years"),
    ("age_years_relative", "age score on a year-like scale"),
    ("age_years_relative", "years"),
    ("age_years_relative", "years (human, monkey) or months (mouse, rat)"),
    ("age_years_relative", "years (no fixed origin unless NPX is bridged)"),
    ("concentration", "ln mg/L"),
    ("concentration", "pg/mL"),
    ("distance", "Mahalanobis distance (standardised)"),
    ("divisions", "stem-cell divisions"),
    ("exposure", "pack-years"),
    ("gestational_weeks", "weeks"),
    ("log10_hazard_ratio", "log10 hazard ratio, difference"),
    ("log_hazard", "relative log hazard"),
    ("log_odds", "log odds"),
    ("mitotic_index", "0.95 quantile of beta"),
    ("mitotic_index", "relative cell divisions"),
    ("pace", "biological years per year"),
    ("pace", "pace-like"),
    ("passages", "passages"),
    ("physical", "mL/kg/min"),
    ("population_doublings", "population doublings"),
    ("probability", "probability of 10 healthy years"),
    ("proportion", "fraction"),
    ("relative_age", "fraction of maximum age (x maxAge = years)"),
    ("relative_age", "fraction of maximum lifespan"),
    ("score", "years (part sum)"),
    ("score", "z-like score"),
    ("single_cpg_beta", "beta value"),
    ("telomere_kb", "kb"),
]


@pytest.mark.parametrize(("scale", "unit"), UNITS)
def test_units_of_the_catalogue(scale, unit):
    check_unit(scale, unit)


def test_every_shipped_row_has_a_scale_and_a_unit_that_fits():
    catalog = pytest.importorskip("falconage.clocks._catalog")
    table = catalog.table()
    pairs = {(s, u) for s, u in zip(table["scale"], table["unit"], strict=True) if s}
    assert {scale for scale, _ in pairs} == set(LEGAL)
    for scale, unit in pairs:
        check_unit(scale, unit)
