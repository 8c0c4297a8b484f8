"""The score that age lets expect: the age itself, or what a regression says."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from falconage._adata import obs_column
from falconage._errors import InputError
from falconage.tl._covariates import PER_YEAR, parse_age
from falconage.tl._residual import COLUMNS, fit, predict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

__all__ = [
    "AGE_UNITS",
    "GESTATIONAL",
    "Ages",
    "Expected",
    "by_coefficients",
    "by_difference",
    "by_fit",
    "read_ages",
    "read_covariates",
]

GESTATIONAL = "gestational_weeks"
AGE_UNITS = {"age_years": "years", "age_months": "months", "age_weeks": "weeks", "age_hours": "hours"}
"""Scales that are an age since birth, and their units."""
_PREGNANCY = (10.0, 46.0)


class Ages(NamedTuple):
    """Ages of the samples, n each, NaN where missing; None where nobody asked.

    Attributes
    ----------
    years
        Age.
    weeks
        Gestational age.
    """

    years: NDArray[np.float64] | None
    weeks: NDArray[np.float64] | None

    def of(self, scale: str) -> NDArray[np.float64]:
        """Return the age a regression uses: gestational weeks for a gestational clock, else years."""
        chosen = self.weeks if scale == GESTATIONAL else self.years
        if chosen is None:
            msg = f"no age was read for scores of scale {scale!r}"
            raise InputError(msg)
        return chosen

    def in_unit(self, scale: str) -> NDArray[np.float64]:
        """Return the age since birth in the unit of an age scale."""
        return self.of(scale) * PER_YEAR[AGE_UNITS[scale]]


class Expected(NamedTuple):
    """What each score is compared with.

    Attributes
    ----------
    values
        n_obs × clocks.
    formula
        Clock → how the result is made.
    n_fit
        Clock → samples in the fit; 0 without a fit.
    note
        Clock → what to know about it.
    coefficients
        Columns ``clock``, ``term``, ``kind``, ``level``, ``coefficient``.
    """

    values: pd.DataFrame
    formula: dict[str, str]
    n_fit: dict[str, int]
    note: dict[str, str]
    coefficients: pd.DataFrame


def read_ages(
    adata: AnnData,
    scales: pd.Series,
    *,
    age_key: str,
    age_unit: str,
    gestational_key: str = "gestational_age",
) -> Ages:
    """Read the ages that these scales need, and no others."""
    years = weeks = None
    if (scales != GESTATIONAL).any():
        column = obs_column(adata, age_key)
        if column is None:
            msg = f"adata.obs has no {age_key!r}. Columns: {list(map(str, adata.obs.columns))}. Type age_key=."
            raise InputError(msg)
        years = _some(parse_age(column, age_unit, age_key), age_key)
    if (scales == GESTATIONAL).any():
        weeks = _some(_numbers(adata, gestational_key), gestational_key)
        low, high = _PREGNANCY
        if not low <= (median := float(np.nanmedian(weeks))) <= high:
            msg = f"obs[{gestational_key!r}] has a median of {median:g}; expected gestational age in weeks, near 40."
            raise InputError(msg)
    return Ages(years, weeks)


def by_difference(scales: pd.Series, ages: Ages, names: pd.Index) -> Expected:
    """Expect the age itself, in the unit of each scale."""
    values, formula = {}, {}
    for clock, scale in zip(map(str, scales.index), map(str, scales), strict=True):
        if scale == GESTATIONAL:
            values[clock], formula[clock] = ages.of(scale), "score − gestational age, both in weeks"
        else:
            values[clock], formula[clock] = ages.in_unit(scale), f"score − age, both in {AGE_UNITS[scale]}"
    frame = pd.DataFrame(values, index=names)
    nothing = pd.DataFrame({c: pd.Series([], dtype=object) for c in ("clock", *COLUMNS)})
    return Expected(frame, formula, dict.fromkeys(values, 0), {}, nothing)


def by_fit(
    scores: pd.DataFrame,
    scales: pd.Series,
    ages: Ages,
    covariates: Mapping[str, pd.Series],
    rows: NDArray[np.bool_],
) -> tuple[Expected, dict[str, str]]:
    """Fit every score; also return the clocks that could not be fitted, with the reason."""
    tables, n_fit, note, failed = {}, {}, {}, {}
    for clock in scores.columns:
        try:
            fitted = fit(scores[clock].to_numpy(np.float64), ages.of(scales[clock]), covariates, rows)
        except InputError as error:
            failed[clock] = str(error)
            continue
        tables[clock], n_fit[clock] = fitted.coefficients, fitted.n
        if fitted.constant:
            note[clock] = f"constant in the fit, hence left out: {', '.join(fitted.constant)}"
    long = [table.assign(clock=clock) for clock, table in tables.items()]
    frame = pd.concat(long, ignore_index=True) if long else pd.DataFrame(columns=["clock", *COLUMNS], dtype=object)
    applied = by_coefficients(frame[["clock", *COLUMNS]], scales, ages, covariates, scores.index)
    return applied._replace(n_fit=n_fit, note=note), failed


def by_coefficients(
    coefficients: pd.DataFrame, scales: pd.Series, ages: Ages, covariates: Mapping[str, pd.Series], names: pd.Index
) -> Expected:
    """Apply a coefficient table to each of its clocks."""
    values, formula = {}, {}
    for clock, table in coefficients.groupby("clock", sort=False):
        name = str(clock)
        values[name] = predict(table, ages.of(scales[name]), covariates)
        formula[name] = _text(table, gestational=scales[name] == GESTATIONAL)
    return Expected(pd.DataFrame(values, index=names), formula, dict.fromkeys(values, 0), {}, coefficients)


def read_covariates(adata: AnnData, names: Sequence[str], age_key: str) -> dict[str, pd.Series]:
    """Fetch covariate columns of obs."""
    unknown = [name for name in names if name not in adata.obs.columns]
    if unknown:
        msg = f"covariates={unknown!r} are not in adata.obs. Columns: {list(map(str, adata.obs.columns))}."
        raise InputError(msg)
    if age_key in names:
        msg = f"{age_key!r} is the age and already in the regression. Leave it out of covariates."
        raise InputError(msg)
    return {name: adata.obs[name] for name in names}


def _text(table: pd.DataFrame, *, gestational: bool) -> str:
    terms = [t for t in dict.fromkeys(table.loc[table["coefficient"] != 0, "term"]) if t not in ("intercept", "age")]
    age = "gestational age (weeks)" if gestational else "age (years)"
    return f"score − (b0 + {' + '.join(f'b·{t}' for t in [age, *terms])}), ordinary least squares"


def _numbers(adata: AnnData, key: str) -> NDArray[np.float64]:
    column = obs_column(adata, key)
    values = None if column is None else pd.to_numeric(column.astype(object), errors="coerce")
    if column is None or values is None or (values.isna() & column.notna()).any():
        got = "is missing" if column is None else f"holds {column.dtype} values that are no numbers"
        msg = f"adata.obs[{key!r}] {got}. Columns: {list(map(str, adata.obs.columns))}."
        raise InputError(msg)
    return values.to_numpy(np.float64)


def _some(values: NDArray[np.float64], key: str) -> NDArray[np.float64]:
    if not np.isfinite(values).any():
        msg = f"adata.obs[{key!r}] is missing in all {len(values)} samples. Fill it in, or name another column."
        raise InputError(msg)
    return values
