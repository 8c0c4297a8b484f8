"""Ordinary least squares of a score on age and covariates, with coefficients that can be kept and used again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["COLUMNS", "Fit", "fit", "predict"]

COLUMNS = ("term", "kind", "level", "coefficient")
"""Of a coefficient table. ``kind``: ``intercept``, ``age``, ``numeric``, ``level`` (of a category; the reference
level has 0) or ``constant`` (the one value, ``level``, that a number had in all rows of the fit)."""

_Row = tuple[str, str, str, float]


class Fit(NamedTuple):
    """Coefficients of one score.

    Attributes
    ----------
    coefficients
        Columns :data:`COLUMNS`.
    n
        Rows used.
    constant
        Covariates with one value in these rows, hence without a coefficient.
    """

    coefficients: pd.DataFrame
    n: int
    constant: tuple[str, ...]


def fit(
    y: NDArray[np.float64], age: NDArray[np.float64], covariates: Mapping[str, pd.Series], rows: NDArray[np.bool_]
) -> Fit:
    """Fit ``y = b0 + b1·age + Σ b·covariate`` on the chosen rows that have all of them.

    Parameters
    ----------
    y, age
        Scores and ages, n; NaN = none.
    covariates
        Name → values, n each: numbers, or categories (object, text, category, bool) with one coefficient for each
        level but the first. Constant ones are left out and named in the result.
    rows
        The rows to fit on, n.

    Raises
    ------
    InputError
        Too few rows, age is constant, or covariates that determine each other.
    """
    used = rows & np.isfinite(y) & np.isfinite(age)
    for values in covariates.values():
        used &= values.notna().to_numpy()
    n = int(used.sum())
    columns = [np.ones(n), age[used]]
    owners: list[_Row] = [("intercept", "intercept", "", np.nan), ("age", "age", "", np.nan)]
    fixed: list[_Row] = []
    constant = []
    for name, values in covariates.items():
        kept, aside = _columns(name, values[used])
        columns += [column for _, column in kept]
        owners += [row for row, _ in kept]
        fixed += aside
        if not kept:
            constant.append(name)
    _check(age[used], n_parameters=len(columns))
    slopes = _solve(np.column_stack(columns), y[used], list(covariates))
    fitted = [(*row[:3], float(b)) for row, b in zip(owners, slopes, strict=True)]
    return Fit(pd.DataFrame([*fitted, *fixed], columns=list(COLUMNS)), n, tuple(constant))


def predict(
    coefficients: pd.DataFrame, age: NDArray[np.float64], covariates: Mapping[str, pd.Series]
) -> NDArray[np.float64]:
    """Apply coefficients; NaN where age or a covariate is missing, or has a value that the fit never saw.

    Parameters
    ----------
    coefficients
        Of one score, columns :data:`COLUMNS`.
    age, covariates
        As in :func:`fit`.

    Raises
    ------
    InputError
        A covariate was numeric in the fit and is not here.
    """
    expected = np.zeros(len(age))
    for key, rows in coefficients.groupby(["term", "kind"], sort=False):
        name, kind = map(str, key)
        values = dict(zip(rows["level"], rows["coefficient"].astype(np.float64), strict=True))
        if kind == "intercept":
            expected += values[""]
        elif kind == "age":
            expected += values[""] * age
        elif kind == "numeric":
            expected += values[""] * _numbers(covariates[name], name)
        else:
            expected += _labels(covariates[name]).map(values).to_numpy(np.float64)
    return expected


def _columns(name: str, values: pd.Series) -> tuple[list[tuple[_Row, NDArray[np.float64]]], list[_Row]]:
    """Design columns of one covariate, and table rows that have none because their coefficient is 0."""
    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
        if values.nunique() == 1:
            return [], [(name, "constant", _label(float(values.iloc[0])), 0.0)]
        return [((name, "numeric", "", np.nan), _numbers(values, name))], []
    labels = _labels(values)
    first, *others = sorted(labels.unique()) or [""]
    dummies = [((name, "level", level, np.nan), (labels == level).to_numpy(np.float64)) for level in others]
    return dummies, [(name, "level", first, 0.0)]


def _solve(design: NDArray[np.float64], y: NDArray[np.float64], names: Sequence[str]) -> NDArray[np.float64]:
    scale = np.abs(design).max(axis=0)
    slopes, _, rank, _ = np.linalg.lstsq(design / scale, y, rcond=None)
    if rank < design.shape[1]:
        msg = f"The covariates {names} determine each other, or age, on the fitted rows. Leave one of them out."
        raise InputError(msg)
    return np.asarray(slopes / scale)


def _numbers(values: pd.Series, name: str) -> NDArray[np.float64]:
    if not pd.api.types.is_numeric_dtype(values.dtype):
        msg = f"Covariate {name!r} was numeric in the fit and is {values.dtype} here. Convert the column to numbers."
        raise InputError(msg)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _labels(values: pd.Series) -> pd.Series:
    """Levels as text, so that a table read from a file matches; missing stays missing."""
    return values.astype(object).map(_label, na_action="ignore")


def _label(value: object) -> str:
    return repr(float(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _check(age: NDArray[np.float64], *, n_parameters: int) -> None:
    if len(age) <= n_parameters:
        msg = (
            f"{len(age)} samples have a score, age and every covariate; the fit has {n_parameters} parameters and "
            f"needs at least {n_parameters + 1} samples. Widen fit_on (None takes all) or use fewer covariates."
        )
        raise InputError(msg)
    if np.ptp(age) == 0:
        msg = f"All {len(age)} samples of the fit have age {age[0]:g}, so there is no slope. Widen fit_on."
        raise InputError(msg)
