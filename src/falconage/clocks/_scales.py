"""What kind of number a score is, and what may be done with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import pandas as pd

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCALES", "Scale", "check_unit", "get_scale", "scales"]


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale and the operations that are legal on it; means, ranks and correlations are legal on all.

    Attributes
    ----------
    name
        As in the catalogue column ``scale``.
    family
        ``age``, ``relative``, ``pace``, ``hazard``, ``length``, ``count``, ``index``, ``share``, ``amount``, ``score``.
    units
        How the unit of a clock on this scale begins; empty = any.
    minus_age
        May age be subtracted? ``"yes"`` after matching the unit, ``"gestational"`` gestational age only,
        ``"lifespan"`` only age ÷ the species' maximum lifespan, ``"no"``. Never test it for truth.
    group_difference
        ``"yes"``, or under which restriction two groups may be compared by a difference of means.
    special
        What else to know when reading it.
    note
        Why something is not legal, as a sentence; empty if everything is.
    residual
        May the score be regressed on age and the residual be used?
    """

    name: str
    family: str
    units: tuple[str, ...]
    minus_age: Literal["yes", "gestational", "lifespan", "no"]
    group_difference: str
    special: str = ""
    note: str = ""
    residual: bool = True


_NO_ORIGIN = "It has no fixed origin, so its distance from an age says nothing."
_NOT_AN_AGE = "It is not an age, so no age can be subtracted from it."
_BOUNDED = "It is bounded, so neither a difference to age nor a residual on age has a meaning."
_ARRAY = "within one platform"
_RELATIVE = "no fixed origin"
_HAZARD = "exp(score) is a hazard ratio; never multiply by a lifespan"
_COUNTS = "divided by age it is a rate per year"
_OWN_UNIT = "in its own unit"

_ALL = (
    Scale("age_years", "age", ("years",), "yes", "yes"),
    Scale("age_months", "age", ("months",), "yes", "yes"),
    Scale("age_weeks", "age", ("weeks",), "yes", "yes"),
    Scale("age_hours", "age", ("hours",), "yes", "yes"),
    Scale("age_years_relative", "relative", ("years", "age score"), "no", "yes", _RELATIVE, _NO_ORIGIN),
    Scale("age_months_relative", "relative", ("months",), "no", "yes", _RELATIVE, _NO_ORIGIN),
    Scale(
        "gestational_weeks",
        "age",
        ("weeks",),
        "gestational",
        "yes",
        note="It is time since conception, so only gestational age can be subtracted from it.",
    ),
    Scale(
        "pace",
        "pace",
        ("biological years per year", "pace"),
        "no",
        "yes",
        "centre 1; say so where a residual on age is meant",
        _NOT_AN_AGE,
    ),
    Scale("log_hazard", "hazard", ("relative log hazard",), "no", "log hazard ratio", _HAZARD, _NOT_AN_AGE),
    Scale(
        "log10_hazard_ratio",
        "hazard",
        ("log10 hazard ratio",),
        "no",
        "log10 hazard ratio",
        "10^score is a hazard ratio; never multiply by a lifespan",
        _NOT_AN_AGE,
    ),
    Scale("telomere_kb", "length", ("kb",), "no", "yes", "falls with age; kilobases", _NOT_AN_AGE),
    Scale("divisions", "count", ("stem-cell divisions",), "no", "yes", _COUNTS, _NOT_AN_AGE),
    Scale("population_doublings", "count", ("population doublings",), "no", "yes", _COUNTS, _NOT_AN_AGE),
    Scale("passages", "count", ("passages",), "no", "yes", _COUNTS, _NOT_AN_AGE),
    Scale("mitotic_index", "index", (), "no", _ARRAY, note=_NOT_AN_AGE),
    Scale("single_cpg_beta", "index", ("beta",), "no", _ARRAY, note=_NOT_AN_AGE),
    Scale("proportion", "share", ("fraction",), "no", "log-ratio preferred", "sums to 1", _BOUNDED, residual=False),
    Scale(
        "probability", "share", ("probability",), "no", "log odds only", "AUC, calibration", _BOUNDED, residual=False
    ),
    Scale(
        "log_odds",
        "share",
        ("log odds",),
        "no",
        "log odds only",
        "AUC, calibration",
        "It tells how likely a state is, so neither a difference to age nor a residual on age has a meaning.",
        residual=False,
    ),
    Scale("concentration", "amount", (), "no", "yes", _OWN_UNIT, _NOT_AN_AGE),
    Scale("physical", "amount", (), "no", "yes", _OWN_UNIT, _NOT_AN_AGE),
    Scale("exposure", "amount", (), "no", "yes", _OWN_UNIT, _NOT_AN_AGE),
    Scale(
        "distance",
        "score",
        (),
        "no",
        "standardised",
        "z only",
        "It already is a distance, so no age enters.",
        residual=False,
    ),
    Scale("score", "score", (), "no", "standardised", "z only", "It has no unit; compare z values.", residual=False),
    Scale(
        "relative_age",
        "relative",
        ("fraction of max",),
        "lifespan",
        "yes",
        note="It is a fraction of the maximum lifespan, so only age ÷ lifespan can be subtracted from it.",
    ),
)

SCALES: Mapping[str, Scale] = MappingProxyType({scale.name: scale for scale in _ALL})
"""All scales by name."""


def scales() -> pd.DataFrame:
    """List the scales of clocks and what may be done with scores on them.

    Returns
    -------
    One row per scale, index ``scale``; columns ``family``, ``units`` (how the unit of a clock on it begins;
    empty = any), ``minus_age`` (``"yes"``, ``"gestational"``, ``"lifespan"``, ``"no"``), ``residual`` (bool),
    ``group_difference``, ``special``, ``note``.
    """
    frame = pd.DataFrame([asdict(scale) | {"units": ", ".join(scale.units)} for scale in _ALL])
    order = ["family", "units", "minus_age", "residual", "group_difference", "special", "note"]
    return frame.set_index("name").rename_axis("scale")[order]


def get_scale(name: str) -> Scale:
    """Return one scale.

    Raises
    ------
    InputError
        There is no such scale.
    """
    if name not in SCALES:
        message = f"There is no scale {name!r}; the scales are {', '.join(SCALES)}."
        raise InputError(message)
    return SCALES[name]


def check_unit(name: str, unit: str) -> None:
    """Check that a clock of this unit can be on this scale.

    Raises
    ------
    InputError
        There is no such scale, or the unit contradicts it, as months do under ``age_years``.
    """
    allowed = get_scale(name).units
    if allowed and not unit.startswith(allowed):
        message = f"The unit {unit!r} contradicts the scale {name!r}, whose units begin with {' or '.join(allowed)}."
        raise InputError(message)
