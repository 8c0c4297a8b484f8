"""One clock → terms: what is multiplied by what, and what stands in where a value is missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from falconage.array._panel import M_CLIP, M_VALUE, SHIFT, SQUARE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from falconage.clocks._clock import Clock, Terms

__all__ = ["FILLS", "WEAK_SHARE", "Lines", "Values", "lines_of", "logit2"]

WEAK_SHARE = 0.05
"""Largest share of a score's |weight| that a sample's own median may fill."""

FILLS = ("none", "reference=", "ref_own", "ref450k", "sample_median", "dropped", "medians_sex")


def logit2(beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """M-value of a methylation fraction, log2(β / (1 − β)), with β kept 1e-6 from 0 and 1."""
    kept = np.clip(beta, M_CLIP, 1.0 - M_CLIP)
    return np.asarray(np.log2(kept / (1.0 - kept)))


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Feature → beta, told apart by identity, so that what was derived from one can be kept."""

    by_feature: Mapping[str, float]

    def of(self, features: NDArray[np.object_]) -> NDArray[np.float64]:
        """The values of features, NaN where there is none."""
        known = self.by_feature
        return np.array([known.get(f, np.nan) for f in features.tolist()], dtype=np.float64)


def _references(
    clock: Clock, terms: Terms, user: Values | None, platform: Values | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The value that stands in for each missing feature (NaN: none stated), and where it is from."""
    n = len(terms.features)
    value = np.full(n, np.nan)
    origin = np.zeros(n, dtype=np.int64)

    def take(candidate: NDArray[np.float64], name: str) -> None:
        new = np.isnan(value) & ~np.isnan(candidate)
        value[new] = candidate[new]
        origin[new] = FILLS.index(name)

    if clock.form in ("mean", "division"):
        return np.zeros(n), np.full(n, FILLS.index("dropped"))
    if user is not None:
        take(user.of(terms.features), "reference=")
    for policy in clock.missing:
        if policy in ("ref_own", "medians_sex"):
            take(terms.reference, policy)
        elif policy == "ref450k" and platform is not None:
            take(platform.of(terms.features), policy)
        elif policy == "sample_median":
            origin[np.isnan(value)] = FILLS.index(policy)
    return value, origin


def _joint_ends(
    terms: Terms, value: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of each term's range, such that a CpG with a plain and a squared term moves a sum by what both can together.

    The plain term takes the extremes of ``a·x + c·x²`` over 0 to 1, the squared one stays at its stand-in.
    """
    plain = {f: i for i, f in enumerate(terms.features.tolist()) if not terms.squared[i]}
    for j in np.flatnonzero(terms.squared):
        i = plain.get(terms.features[j], -1)
        if i < 0 or np.isnan(value[i]) or terms.weights[i] == 0.0:
            continue
        a, c, r = terms.weights[i], terms.weights[j], value[i]
        top = min(max(-a / (2.0 * c), 0.0), 1.0) if c != 0.0 else 0.0
        moved = [a * x + c * x * x - (a * r + c * r * r) for x in (0.0, 1.0, top)]
        low[i], high[i] = r + min(moved) / a, r + max(moved) / a
        low[j] = high[j] = r * r
    return low, high


class Lines(NamedTuple):
    """The terms of one predictor, ready to be stacked."""

    op: NDArray[np.int64]
    param: NDArray[np.float64]
    weight: NDArray[np.float64]
    reference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    origin: NDArray[np.int64]


@lru_cache(maxsize=1024)
def lines_of(clock: Clock, terms: Terms, user: Values | None, platform: Values | None) -> Lines:
    """Prepare the terms of one table of a clock; kept from call to call, as catalogue clocks do not change."""
    n = len(terms.features)
    value, origin = _references(clock, terms, user, platform)
    op, param = np.zeros(n, np.int64), np.zeros(n)
    low, high, weight = np.zeros(n), np.ones(n), terms.weights
    if clock.form == "division":
        op[:], param[:] = SHIFT, terms.second
        low, high = -terms.second, 1.0 - terms.second
        weight = 1.0 / (terms.weights * (1.0 - terms.second))
    elif clock.expects == "m_value":
        op[:], value = M_VALUE, logit2(value)
        low, high = logit2(low), logit2(high)
    else:
        op[terms.squared] = SQUARE
        low, high = _joint_ends(terms, value, low, high)
        value = np.where(terms.squared, value * value, value)
    return Lines(op, param, weight, value, low, high, origin)
