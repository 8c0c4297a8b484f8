"""From predictors to scores: covariates, divisors, links and floors, once, on contiguous float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from falconage.clocks._lines import WEAK_SHARE
from falconage.clocks._links import LINKS, apply, outside
from falconage.clocks._species import accepts, life_history
from falconage.clocks._tissue import CFDNA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from falconage.array._panel import Found
    from falconage.clocks._clock import Clock
    from falconage.tl._plan import Plan

__all__ = ["Block", "Finisher"]

FLOOR, WEAK, MISSING, KNOWN, UNDEFINED = range(5)
LOST = (
    "below the coverage floor",
    "too much filled by a median",
    "a feature is missing",
    "sex, age or species not known",
    "link undefined",
)
"""Why a score is NaN."""
SAID_ELSEWHERE = (KNOWN, UNDEFINED)
"""The plan warns of the former, for the latter the link has its own words."""


class Block(NamedTuple):
    """Finished rows: n samples, s scores.

    ``scores`` float64; ``coverage`` and ``bound`` float32; ``filled`` counts missing terms; ``weak``: share of the
    absolute weight that a sample's median filled; ``odd``: where the link's formula does not hold; ``lost``: position
    in ``LOST`` of why a score is NaN, −1 where it is not.
    """

    scores: NDArray[np.float64]
    coverage: NDArray[np.float32]
    bound: NDArray[np.float32]
    filled: NDArray[np.int32]
    weak: NDArray[np.float32]
    odd: NDArray[np.bool_]
    lost: NDArray[np.int8]


class _One(NamedTuple):
    """One clock on one block: predictor and account of missing terms, with the table of each sample's sex."""

    y: NDArray[np.float64]
    missing: NDArray[np.float64]
    n_terms: NDArray[np.float64]
    total: NDArray[np.float64]
    known: NDArray[np.bool_]


class Finisher:
    """Turns what a pass found into scores; made once a plan, called for each block."""

    def __init__(self, plan: Plan, missing: str) -> None:
        self._plan = plan
        self._missing = missing
        samples = plan.samples
        needs = {name for c in plan.clocks for name in c.covariates}
        self._life = life_history(samples.species) if needs & {"gestation", "maturity", "max_age"} else {}
        self._right_species = (
            [np.array([accepts(c.species, s) for s in samples.species]) for c in plan.clocks]
            if len(set(samples.species)) > 1
            else None
        )
        self._cell_free = samples.tissue == CFDNA
        owner = plan.fitted.stack.owner
        self._mine = [np.flatnonzero(owner == i) for i in range(len(plan.clocks))]

    def __call__(self, found: Found, rows: slice, imputed: NDArray[np.float64] | None) -> Block:
        """Finish one block; ``imputed`` 4 × n × c counts cells that an imputation filled, as ``found.missing`` does."""
        n, s = found.predictor.shape[0], len(self._plan.clocks)
        out = Block(
            np.empty((n, s)),
            np.empty((n, s), np.float32),
            np.zeros((n, s), np.float32),
            np.zeros((n, s), np.int32),
            np.zeros((n, s), np.float32),
            np.zeros((n, s), bool),
            np.full((n, s), -1, np.int8),
        )
        for i, clock in enumerate(self._plan.clocks):
            self._clock(i, clock, found, rows, imputed, out)
        return out

    def _clock(
        self, i: int, clock: Clock, found: Found, rows: slice, imputed: NDArray[np.float64] | None, out: Block
    ) -> None:
        one = self._pick(i, clock, found.predictor, found.missing, rows)
        y, known = self._with_covariates(i, clock, one, rows)
        extra = {name: values[rows] for name, values in self._life.items()}
        if clock.form in ("mean", "division"):
            with np.errstate(invalid="ignore", divide="ignore"):
                y = y / (one.n_terms - one.missing[0])
        score = apply(clock.link, np.ascontiguousarray(y), extra)
        lost = out.lost[:, i]
        out.coverage[:, i] = 1.0
        if imputed is not None or one.missing[0].any():
            self._account(i, clock, one, y, score, extra, rows, imputed, out)
        for code, mask in ((KNOWN, ~known), (UNDEFINED, np.isnan(score))):
            lost[mask & (lost < 0)] = code
        out.odd[:, i] = outside(clock.link, y)
        out.scores[:, i] = np.where(lost >= 0, np.nan, score)
        out.bound[lost >= 0, i] = np.nan

    def _account(
        self,
        i: int,
        clock: Clock,
        one: _One,
        y: NDArray[np.float64],
        score: NDArray[np.float64],
        extra: Mapping[str, NDArray[np.float64]],
        rows: slice,
        imputed: NDArray[np.float64] | None,
        out: Block,
    ) -> None:
        """Coverage, bound, and what falls below a floor, where something is missing or was imputed."""
        more = np.zeros_like(one.missing[:4])
        if imputed is not None:
            more = self._pick(i, clock, np.zeros(imputed.shape[1:]), imputed, rows).missing
        self._bound(clock, one, more, y, score, extra, out.bound[:, i])
        total = np.where(one.total > 0, one.total, 1.0)
        weight = (one.missing[1] + more[1]) / total
        share = 1.0 - np.maximum((one.missing[0] + more[0]) / one.n_terms, weight)
        weak = one.missing[4] / total
        reasons = [share < self._plan.floors[clock.id], weak > WEAK_SHARE]
        if self._missing == "nan":
            reasons.append(one.missing[0] > 0)
        lost = out.lost[:, i]
        for code, mask in zip((FLOOR, WEAK, MISSING), reasons, strict=False):
            lost[mask & (lost < 0)] = code
        out.coverage[:, i], out.weak[:, i], out.filled[:, i] = share, weak, one.missing[0]

    def _pick(
        self, i: int, clock: Clock, predictor: NDArray[np.float64], missing: NDArray[np.float64], rows: slice
    ) -> _One:
        """The clock's predictor; where each sex has a table, that of each sample's sex."""
        mine, stack, account = self._mine[i], self._plan.fitted.stack, self._plan.fitted.account
        n = predictor.shape[0]
        if len(mine) == 1:
            j = mine[0]
            known = np.ones(n, bool)
            return _One(
                predictor[:, j],
                missing[:, :, j],
                np.full(n, float(account.n_terms[j])),
                np.full(n, account.total[j]),
                known,
            )
        sex = self._plan.samples.sex[rows]  # type: ignore[index]  # the plan refuses the clock where sex is not there
        table = {stack.part[j]: j for j in mine}
        female = sex == "female"
        j = np.where(female, table["female"], table["male"])
        at = np.arange(n)
        return _One(
            predictor[at, j], missing[:, at, j], account.n_terms[j].astype(np.float64), account.total[j], sex != ""
        )

    def _with_covariates(
        self, i: int, clock: Clock, one: _One, rows: slice
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Add covariate terms, after the features and in table order; and say for whom everything is known."""
        samples, y, known = self._plan.samples, one.y, one.known
        if self._right_species is not None:
            known = known & self._right_species[i][rows]
        if clock.tissue != CFDNA and self._cell_free.any():
            known = known & ~self._cell_free[rows]
        for name in LINKS[clock.link].needs:
            known = known & ~np.isnan(self._life[name][rows])
        if not any(t.covariates for t in clock.terms):
            return y, known
        age = samples.age[rows]  # type: ignore[index]  # the plan refuses the clock where age is not there
        weights = {t.part: t.covariates.get("age", 0.0) for t in clock.terms}
        if len(weights) == 1:
            w = np.full(len(y), next(iter(weights.values())))
        else:
            w = np.where(samples.sex[rows] == "female", weights["female"], weights["male"])  # type: ignore[index]
        return y + w * age, known & ~np.isnan(age)

    def _bound(
        self,
        clock: Clock,
        one: _One,
        more: NDArray[np.float64],
        y: NDArray[np.float64],
        score: NDArray[np.float64],
        extra: Mapping[str, NDArray[np.float64]],
        out: NDArray[np.float32],
    ) -> None:
        """The most that the unmeasured values can move the score, either way; infinite where one end has no score."""
        down, up = one.missing[2] + more[2], one.missing[3] + more[3]
        if clock.form in ("mean", "division"):
            total = one.y + up, one.y + down
            ends = [t / one.n_terms for t in total]
        else:
            ends = [y + up, y + down]
        some = (one.missing[0] + more[0]) > 0
        reached = [apply(clock.link, np.ascontiguousarray(end), extra) for end in ends]
        with np.errstate(invalid="ignore"):
            moved = [np.where(np.isnan(r), np.inf, np.abs(r - score)) for r in reached]
        out[some] = np.maximum(moved[0], moved[1])[some]
