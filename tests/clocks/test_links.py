"""Links against published check values, plain formulas, differences, and themselves at other positions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from falconage._errors import InputError
from falconage.clocks._links import LINKS, apply, derivative, outside, star_max_age

NAMES = ["identity", "horvath20", "horvath48m", "exp", "exp_minus2", "gompertz_rel", "loglinear_m", "ensemble_anti"]
NAMES += ["sigmoid", "petkovich", "stubbs", "two_power", "div7", "div30.5", "one_minus", "times2", "times_max_age"]
NAMES += ["bernabeu"]

# Gestation, maturity, maximum age in years: Lu et al. 2023, 10.1038/s43587-023-00462-6.
HUMAN = ("Homo sapiens", 0.767123287671233, 13.5, 122.5)
MOUSE = ("Mus musculus", 0.0520547945205479, 0.115068493150685, 4.0)
RAT = ("Rattus norvegicus", 0.0575342465753425, 0.219178082191781, 3.8)


def species(row) -> dict[str, float]:
    name, gestation, maturity, max_age = row
    star = float(star_max_age(max_age, name))
    return {"gestation": gestation, "maturity": maturity, "max_age": max_age, "max_age_star": star}


def by_hand(link: str, y: float, v: dict[str, float]) -> float:
    """The published formulas, one number at a time."""
    days = 30.5
    if link == "horvath20":
        return 21 * math.exp(y) - 1 if y < 0 else 21 * y + 20
    if link == "horvath48m":
        return (49 * math.exp(y) - 1 if y < 0 else 49 * y + 48) / 12
    if link == "gompertz_rel":
        return math.exp(-math.exp(-y)) * (v["max_age_star"] + v["gestation"]) - v["gestation"]
    if link == "loglinear_m":
        m = 5 * (v["gestation"] / v["maturity"]) ** 0.38
        both = m * (v["maturity"] + v["gestation"])
        return (both * math.exp(y) if y < 0 else both * (y + 1)) - v["gestation"]
    if link == "ensemble_anti":
        return math.exp(y) - 0.06 if y <= math.log(1.26) else 1.26 * y - 1.26 * math.log(1.26) + 1.2
    return {
        "identity": lambda: y,
        "exp": lambda: math.exp(y),
        "exp_minus2": lambda: math.exp(y) - 2,
        "sigmoid": lambda: 1 / (1 + math.exp(-y)),
        "petkovich": lambda: (max(y + 1.712, 0) / 0.1666) ** (1 / 0.4185) / days,
        "stubbs": lambda: (math.exp(0.1207 * y**2 + 1.2424 * y + 2.5440) - 3) * 7 / days,
        "two_power": lambda: 2**y / days,
        "div7": lambda: y / 7,
        "div30.5": lambda: y / 30.5,
        "one_minus": lambda: 1 - y,
        "times2": lambda: 2 * y,
        "times_max_age": lambda: y * v["max_age"],
        "bernabeu": lambda: y if y >= 20 else math.nan,
    }[link]()


def test_all_links_are_there_and_described():
    assert list(LINKS) == NAMES
    assert all(link.name == name and "y" in link.formula for name, link in LINKS.items())
    assert all(bool(link.outside_note) == (link.outside is not None) for link in LINKS.values())


@pytest.mark.parametrize("link", NAMES)
@pytest.mark.parametrize("row", [HUMAN, MOUSE, RAT])
def test_formula(link, row, rng):
    extra = species(row)
    y = np.concatenate([rng.normal(0, 2, 200), rng.uniform(-50, 60, 100), [0.0, -0.0, math.log(1.26), 20.0, -1.712]])
    expected = [by_hand(link, v, extra) for v in y.tolist()]
    np.testing.assert_allclose(apply(link, y, extra), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("link", "y", "expected", "digits"),
    [
        ("horvath20", -0.5, 11.7371, 4),
        ("horvath20", 0.0, 20.0, 12),
        ("horvath20", 1.2, 45.2, 12),
        ("petkovich", 0.0, 8.57928, 5),
        ("ensemble_anti", -1.0, 0.307879, 6),
        ("ensemble_anti", math.log(1.26), 1.2, 12),
        ("ensemble_anti", 1.0, 2.168799, 6),
    ],
)
def test_published_checks(link, y, expected, digits):
    assert round(apply(link, [y])[0], digits) == expected


@pytest.mark.parametrize(
    ("row", "clock2", "clock3"),
    [
        (HUMAN, [44.580317, 84.558457], [8.058266, 23.222772, 47.212667]),
        (MOUSE, [1.438613, 2.752780], [0.175352, 0.566102, 1.184259]),
        (RAT, [1.780956, 3.401762], [0.248643, 0.774742, 1.607019]),
    ],
)
def test_mammalian_checks(row, clock2, clock3):
    extra = species(row)
    np.testing.assert_allclose(apply("gompertz_rel", [0, 1], extra), clock2, atol=6e-7)
    np.testing.assert_allclose(apply("loglinear_m", [-1, 0, 1], extra), clock3, atol=6e-7)


def test_star_max_age_is_one_for_human_and_mouse_only():
    names = ["Homo sapiens", "mus musculus", "Mus_musculus", "Rattus norvegicus", "Mus spretus"]
    np.testing.assert_array_equal(star_max_age([10.0] * 5, names), [10, 10, 10, 13, 13])
    assert star_max_age(4.0, "Mus musculus") == 4


@given(st.floats(-0.9, 130))
def test_horvath20_undoes_the_training_transform(age):
    y = math.log(age + 1) - math.log(21) if age <= 20 else (age - 20) / 21
    assert apply("horvath20", [y])[0] == pytest.approx(age, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("link", NAMES)
def test_derivative_is_the_central_difference(link, rng):
    extra = species(RAT)
    y = rng.uniform(21, 90, 300) if link == "bernabeu" else rng.uniform(-1.6, 4, 300)
    h = 1e-5
    away = (np.abs(y) > 2 * h) & (np.abs(y - math.log(1.26)) > 2 * h)
    slope = (apply(link, y + h, extra) - apply(link, y - h, extra)) / (2 * h)
    np.testing.assert_allclose(derivative(link, y, extra)[away], slope[away], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("link", NAMES)
@given(
    y=hnp.arrays(np.float64, st.integers(1, 70), elements=st.floats(-900, 900) | st.floats(-3, 3)),
    before=st.integers(0, 9),
    step=st.integers(1, 3),
)
def test_bits_do_not_depend_on_position(link, y, before, step):
    extra = species(RAT)
    alone = [(apply(link, y[i : i + 1], extra)[0], derivative(link, y[i : i + 1], extra)[0]) for i in range(len(y))]
    for function, expected in zip((apply, derivative), np.array(alone).T, strict=True):
        assert function(link, y, extra).tobytes() == expected.tobytes()
        padded = np.full(before + step * len(y), 0.3)
        view = padded[before::step][: len(y)]
        view[:] = y
        assert function(link, view, extra).tobytes() == expected.tobytes()
        assert function(link, np.concatenate([np.full(before, 0.7), y]), extra)[before:].tobytes() == expected.tobytes()


@pytest.mark.parametrize("link", NAMES)
def test_bits_at_every_offset_and_length(link, rng):
    extra = species(MOUSE)
    y = rng.normal(0.5, 1.5, 41)
    alone = np.array([apply(link, [v], extra)[0] for v in y])
    for start in range(len(y)):
        for stop in range(start, len(y) + 1):
            assert apply(link, y[start:stop], extra).tobytes() == alone[start:stop].tobytes()


def test_species_values_for_each_sample_equal_one_for_all(rng):
    rows = [species(row) for row in (HUMAN, MOUSE, RAT)]
    y = rng.normal(size=3)
    each = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for link in ("gompertz_rel", "loglinear_m", "times_max_age"):
        for function in (apply, derivative):
            one_by_one = [function(link, y[i : i + 1], rows[i])[0] for i in range(3)]
            np.testing.assert_array_equal(function(link, y, each), one_by_one)
            assert np.isnan(function(link, y, each | {LINKS[link].needs[0]: [1, np.nan, 1]})[1])


# Limits for y → −∞, y → +∞ with G = 1, M = 1, L = L* = 3.
LIMITS = {
    "identity": (-math.inf, math.inf),
    "horvath20": (-1, math.inf),
    "horvath48m": (-1 / 12, math.inf),
    "exp": (0, math.inf),
    "exp_minus2": (-2, math.inf),
    "gompertz_rel": (-1, 3),
    "loglinear_m": (-1, math.inf),
    "ensemble_anti": (-0.06, math.inf),
    "sigmoid": (0, 1),
    "petkovich": (0, math.inf),
    "stubbs": (math.inf, math.inf),
    "two_power": (0, math.inf),
    "div7": (-math.inf, math.inf),
    "div30.5": (-math.inf, math.inf),
    "one_minus": (math.inf, -math.inf),
    "times2": (-math.inf, math.inf),
    "times_max_age": (-math.inf, math.inf),
    "bernabeu": (math.nan, math.inf),
}


@pytest.mark.parametrize("link", NAMES)
def test_infinity_overflow_and_nan(link):
    extra = {"gestation": 1.0, "maturity": 1.0, "max_age": 3.0, "max_age_star": 3.0}
    low, high = LIMITS[link]
    y = np.array([-math.inf, math.nan, math.inf])
    np.testing.assert_array_equal(apply(link, y, extra), [low, math.nan, high])
    slope = derivative(link, y, extra)
    assert np.isnan(slope[1])
    assert link == "bernabeu" or not np.isnan(slope[[0, 2]]).any()
    if link not in {"identity", "div7", "div30.5", "one_minus", "times2", "times_max_age", "bernabeu"}:
        assert apply(link, [-1e200, 1e200], extra)[0] == pytest.approx(low)
    assert apply("exp", [709.782712893384, 709.7827128933841]).tolist() == [math.exp(709.782712893384), math.inf]


def test_petkovich_flags_what_it_clips():
    y = [-1.8, -1.712, 0.0, math.nan]
    assert outside("petkovich", y).tolist() == [True, False, False, False]
    assert apply("petkovich", y)[:2].tolist() == [0, 0]


def test_other_ranges():
    assert outside("bernabeu", [19.9, 20, math.nan]).tolist() == [True, False, False]
    assert np.isnan(apply("bernabeu", [19.999])[0])
    assert outside("stubbs", [-5.15, -5.14]).tolist() == [True, False]
    assert not outside("horvath20", [-9.0, 9.0]).any()


@pytest.mark.parametrize("shape", [(), (0,), (3, 2)])
@pytest.mark.parametrize("link", NAMES)
def test_shape_is_kept_and_input_is_not_touched(link, shape):
    y = np.full(shape, 0.25)
    y.setflags(write=False)
    for function in (apply, derivative):
        result = function(link, y, species(RAT))
        assert result.shape == shape
        assert result.dtype == np.float64
        assert not np.shares_memory(result, y)


def test_errors_say_what_to_type():
    with pytest.raises(InputError, match="no link 'anti_trafo'; the links are identity, horvath20"):
        apply("anti_trafo", [0.0])
    with pytest.raises(InputError, match="no maturity; pass extra="):
        apply("loglinear_m", [0.0], {"gestation": 1.0})
    with pytest.raises(InputError, match=r"'max_age' has shape \(2,\)"):
        derivative("times_max_age", [0.0, 1.0, 2.0], {"max_age": [1.0, 2.0]})


def test_species_values_that_make_no_sense_give_nan():
    assert np.isnan(apply("loglinear_m", [0.0], {"gestation": -1.0, "maturity": 1.0})[0])
