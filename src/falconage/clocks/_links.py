"""From the linear predictor y to the unit of the clock, and the derivative of that.

The same y gives the same bits wherever it stands in whatever array: vector `exp` and `pow` may round
differently in the body and the tail of an array, so those run one element at a time in scalar code;
everything else is ``+ − × ÷`` and comparisons, which IEEE 754 rounds exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

__all__ = ["LINKS", "Link", "apply", "derivative", "outside", "star_max_age"]

Array = NDArray[np.float64]
Extra = dict[str, Array]
Function = Callable[[Array, Extra], Array]

_MONTH = 30.5  # days, as the mouse clocks count them
_LN_2, _LN_1_26 = math.log(2), math.log(1.26)
_ROOT = 1 / 0.4185
_TAKEN_AT_FACE_VALUE = ("homo sapiens", "mus musculus")


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A link function.

    Attributes
    ----------
    name
        As the catalogue spells it.
    formula
        In y, for methods paragraphs.
    forward, derivative
        Functions of y and of the needed values, elementwise, no checks: use :func:`apply` and
        :func:`derivative`.
    needs
        Species values it takes: ``gestation`` G, ``maturity`` M, ``max_age`` L, ``max_age_star`` L*
        (see :func:`star_max_age`), all in years.
    outside
        Function of y: where the formula does not hold; ``None`` = it holds everywhere.
    outside_note
        What such a value means.
    """

    name: str
    formula: str
    forward: Function
    derivative: Function
    needs: tuple[str, ...] = ()
    outside: Callable[[Array], NDArray[np.bool_]] | None = None
    outside_note: str = ""


def apply(link: str, y: ArrayLike, extra: Mapping[str, ArrayLike] | None = None) -> Array:
    """Turn linear predictors into the unit of the clock.

    Parameters
    ----------
    link
        A name in :data:`LINKS`.
    y
        Linear predictors, any shape; NaN stays NaN, what overflows becomes inf.
    extra
        Values the link needs (``LINKS[link].needs``), each of a shape that broadcasts to that of ``y``.

    Returns
    -------
    float64, a new array of the shape of ``y``.

    Raises
    ------
    InputError
        The link is unknown, or a value it needs is missing or has another shape.
    """
    record = _get(link)
    return _call(record.forward, record, y, extra)


def derivative(link: str, y: ArrayLike, extra: Mapping[str, ArrayLike] | None = None) -> Array:
    """Slope of the link at y; same arguments and errors as :func:`apply`."""
    record = _get(link)
    return _call(record.derivative, record, y, extra)


def outside(link: str, y: ArrayLike) -> NDArray[np.bool_]:
    """Tell which predictors lie where the formula does not hold; ``LINKS[link].outside_note`` says what that means."""
    values = np.asarray(y, dtype=np.float64)
    test = _get(link).outside
    with np.errstate(all="ignore"):
        return np.zeros(values.shape, dtype=bool) if test is None else test(values)


def star_max_age(max_age: ArrayLike, latin_name: ArrayLike) -> Array:
    """Give L* of the universal mammalian clocks: 1.3 L, except L for human and mouse.

    The maxima of the two are well sampled; those of other species are taken to be 30 % too low
    (10.1038/s43587-023-00462-6).

    Parameters
    ----------
    max_age
        Maximum lifespan in years.
    latin_name
        Species, e.g. ``"Mus musculus"``; one for all or one for each. Letter case does not matter.
    """
    ages, names = np.asarray(max_age, dtype=np.float64), np.asarray(latin_name, dtype=object)
    plain = [str(name).strip().lower().replace("_", " ") in _TAKEN_AT_FACE_VALUE for name in names.ravel()]
    return np.where(np.array(plain, dtype=bool).reshape(names.shape), ages, 1.3 * ages)


def _get(link: str) -> Link:
    if link not in LINKS:
        message = f"There is no link {link!r}; the links are {', '.join(LINKS)}."
        raise InputError(message)
    return LINKS[link]


def _call(function: Function, record: Link, y: ArrayLike, extra: Mapping[str, ArrayLike] | None) -> Array:
    values = np.array(y, dtype=np.float64, order="C")
    given = extra or {}
    if missing := [name for name in record.needs if name not in given]:
        needed = ", ".join(f"{name!r}: …" for name in record.needs)
        message = f"The link {record.name!r} got no {' and no '.join(missing)}; pass extra={{{needed}}}, in years."
        raise InputError(message)
    arrays = {name: np.asarray(given[name], dtype=np.float64) for name in record.needs}
    for name, array in arrays.items():
        try:
            np.broadcast_to(array, values.shape)
        except ValueError:
            message = f"{name!r} has shape {array.shape}; expected one value, or the shape {values.shape} of y."
            raise InputError(message) from None
    with np.errstate(all="ignore"):
        return np.array(function(values, arrays), dtype=np.float64)


def _each(function: Callable[[float], float], x: Array) -> Array:
    """Apply a scalar function that can only overflow to +inf; outside its domain it is NaN."""

    def guarded(value: float) -> float:
        try:
            return function(value)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    elements = x.ravel().tolist()
    try:
        result = np.fromiter(map(function, elements), dtype=np.float64, count=len(elements))
    except (OverflowError, ValueError):
        result = np.fromiter(map(guarded, elements), dtype=np.float64, count=len(elements))
    return result.reshape(x.shape)


def _exp(x: Array) -> Array:
    return _each(math.exp, x)


def _power(base: Array, exponent: float) -> Array:
    """Power of bases ≥ 0, for an exponent > 0."""
    return _each(lambda v: math.pow(v, exponent), base)


def _two_to_the(y: Array) -> Array:
    return _each(lambda v: math.pow(2.0, v), y)


def _flat(y: Array, slope: Array | float) -> Array:
    """Slope of a straight line; NaN stays NaN."""
    return np.where(np.isnan(y), np.nan, slope)


def _bent(y: Array, bend: float, below: Callable[[Array], Array], above: Array) -> Array:
    """``below(e^y)`` up to the bend, ``above`` from there; the two meet, so ≤ and < are the same."""
    low = y <= bend
    e = np.zeros(y.shape)
    e[low] = _exp(y[low])
    return np.where(low, below(e), above)


def _horvath(adult: float, divisor: float) -> tuple[Function, Function]:
    """Logarithm of age up to adulthood, linear from there; the scale of age is ``divisor`` per unit."""
    a = adult + 1
    return (
        lambda y, _: _bent(y, 0.0, lambda e: a * e - 1, a * y + adult) / divisor,
        lambda y, _: _bent(y, 0.0, lambda e: a * e, _flat(y, a)) / divisor,
    )


def _gompertz_rel(y: Array, extra: Extra) -> Array:
    gestation, star = extra["gestation"], extra["max_age_star"]
    return _exp(-_exp(-y)) * (star + gestation) - gestation


def _gompertz_rel_slope(y: Array, extra: Extra) -> Array:
    e = _exp(-y)
    return np.where(np.isinf(e), 0.0, _exp(-e) * e) * (extra["max_age_star"] + extra["gestation"])


def _loglinear_factor(extra: Extra) -> Array:
    """Return m (M + G)."""
    gestation, maturity = extra["gestation"], extra["maturity"]
    return 5 * _power(gestation / maturity, 0.38) * (maturity + gestation)


def _sigmoid_slope(y: Array, _: Extra) -> Array:
    e = _exp(-np.abs(y))
    return e / ((1 + e) * (1 + e))


def _petkovich_base(y: Array) -> Array:
    return np.maximum(y + 1.712, 0) / 0.1666


def _stubbs_exp(y: Array) -> Array:
    return _exp((0.1207 * y + 1.2424) * y + 2.5440)


_ALL = (
    Link("identity", "y", lambda y, _: y, lambda y, _: _flat(y, 1)),
    Link("horvath20", "21·exp(y) − 1 if y < 0 else 21·y + 20", *_horvath(20, 1)),
    Link("horvath48m", "(49·exp(y) − 1)/12 if y < 0 else (49·y + 48)/12", *_horvath(48, 12)),
    Link("exp", "exp(y)", lambda y, _: _exp(y), lambda y, _: _exp(y)),
    Link("exp_minus2", "exp(y) − 2", lambda y, _: _exp(y) - 2, lambda y, _: _exp(y)),
    Link(
        "gompertz_rel",
        "exp(−exp(−y))·(L* + G) − G (G gestation, L* = 1.3 × maximum age, for human and mouse 1 ×)",
        _gompertz_rel,
        _gompertz_rel_slope,
        needs=("gestation", "max_age_star"),
    ),
    Link(
        "loglinear_m",
        "m·(M + G)·exp(y) − G if y < 0 else m·(M + G)·(y + 1) − G, m = 5·(G/M)^0.38 (G gestation, M age at maturity)",
        lambda y, extra: _loglinear_factor(extra) * _bent(y, 0.0, lambda e: e, y + 1) - extra["gestation"],
        lambda y, extra: _loglinear_factor(extra) * _bent(y, 0.0, lambda e: e, _flat(y, 1.0)),
        needs=("gestation", "maturity"),
    ),
    Link(
        "ensemble_anti",
        "exp(y) − 0.06 if y ≤ ln 1.26 else 1.26·y − 1.26·ln 1.26 + 1.2",
        lambda y, _: _bent(y, _LN_1_26, lambda e: e - 0.06, 1.26 * y - 1.26 * _LN_1_26 + 1.2),
        lambda y, _: _bent(y, _LN_1_26, lambda e: e, _flat(y, 1.26)),
    ),
    Link("sigmoid", "1/(1 + exp(−y))", lambda y, _: 1 / (1 + _exp(-y)), _sigmoid_slope),
    Link(
        "petkovich",
        "(max(y + 1.712, 0)/0.1666)^(1/0.4185)/30.5",
        lambda y, _: _power(_petkovich_base(y), _ROOT) / _MONTH,
        lambda y, _: _ROOT / 0.1666 * _power(_petkovich_base(y), _ROOT - 1) / _MONTH,
        outside=lambda y: y + 1.712 < 0,
        outside_note="y + 1.712 is negative and has no real root; it was taken as 0, which reads as an age of 0",
    ),
    Link(
        "stubbs",
        "(exp(0.1207·y² + 1.2424·y + 2.5440) − 3)·7/30.5",
        lambda y, _: (_stubbs_exp(y) - 3) * 7 / _MONTH,
        lambda y, _: _stubbs_exp(y) * (2 * 0.1207 * y + 1.2424) * 7 / _MONTH,
        outside=lambda y: 2 * 0.1207 * y + 1.2424 < 0,
        outside_note="y is below −5.1466, where the published curve turns and lower scores read as higher ages",
    ),
    Link("two_power", "2^y/30.5", lambda y, _: _two_to_the(y) / _MONTH, lambda y, _: _two_to_the(y) * _LN_2 / _MONTH),
    Link("div7", "y/7", lambda y, _: y / 7, lambda y, _: _flat(y, 1 / 7)),
    Link("div30.5", "y/30.5", lambda y, _: y / _MONTH, lambda y, _: _flat(y, 1 / _MONTH)),
    Link("one_minus", "1 − y", lambda y, _: 1 - y, lambda y, _: _flat(y, -1)),
    Link("times2", "2·y", lambda y, _: 2 * y, lambda y, _: _flat(y, 2)),
    Link(
        "times_max_age",
        "y·L (L maximum age)",
        lambda y, extra: y * extra["max_age"],
        lambda y, extra: _flat(y, extra["max_age"]),
        needs=("max_age",),
    ),
    Link(
        "bernabeu",
        "y if y ≥ 20, no value below (the second model of the publication is not available)",
        lambda y, _: np.where(y < 20, np.nan, y),
        lambda y, _: np.where(y >= 20, 1.0, np.nan),
        outside=lambda y: y < 20,
        outside_note="y is below 20, where the publication uses a second model that is not available",
    ),
)

LINKS: Mapping[str, Link] = MappingProxyType({link.name: link for link in _ALL})
"""All links by name."""
