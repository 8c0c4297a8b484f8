"""Age and sex from obs: parsed once, missing where not known, never a default person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage._text import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEMALE", "MALE", "PER_YEAR", "check_age_unit", "parse_age", "parse_sex"]

PER_YEAR = {"years": 1.0, "months": 12.0, "weeks": 365.25 / 7.0, "days": 365.25, "hours": 365.25 * 24.0}
"""Units of age in one year."""

FEMALE = frozenset({"female", "f", "woman", "girl", "women"})
MALE = frozenset({"male", "m", "man", "boy", "men"})
_OLDEST = 130.0
_YOUNGEST = -1.0
"""Before birth ages are written as negative."""


def check_age_unit(unit: str) -> None:
    """Raise an error that lists the units if this is none."""
    if unit not in PER_YEAR:
        msg = f"age_unit={unit!r} is not known; expected one of {', '.join(map(repr, PER_YEAR))}."
        raise InputError(msg)


def parse_age(column: pd.Series, unit: str, key: str) -> NDArray[np.float64]:
    """Ages in years, NaN where missing.

    Raises
    ------
    InputError
        The column is not numeric, the unit is unknown, an age is infinite, or the values cannot be ages in
        the stated unit.
    """
    check_age_unit(unit)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        values = column.to_numpy(np.float64, na_value=np.nan)
        bad = np.zeros(len(values), dtype=bool)
    else:
        values = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(np.float64)
        text = column.astype(object).map(str).str.strip().str.lower()
        bad = np.isnan(values) & ~text.isin(UNKNOWN).to_numpy()
    if bad.any():
        shown = ", ".join(repr(v) for v in pd.unique(column[bad].astype(object))[:3])
        msg = f"obs[{key!r}] holds {shown}; expected numbers. Clean the column, or name another with age_key=."
        raise InputError(msg)
    years = values / PER_YEAR[unit]
    known = years[~np.isnan(years)]
    if len(known) and (np.isinf(known).any() or np.median(known) > _OLDEST or known.min() < _YOUNGEST):
        msg = (
            f"obs[{key!r}] read in {unit} gives ages from {known.min():.4g} to {known.max():.4g} years, median "
            f"{np.median(known):.4g}. Mend the column, or type age_unit= with one of {', '.join(map(repr, PER_YEAR))}."
        )
        raise InputError(msg)
    return np.asarray(years)


def _word(value: Any) -> str:
    text = str(value).strip().lower()
    if text in FEMALE:
        return "female"
    if text in MALE:
        return "male"
    return ""


def _mapped(values: pd.Series, sex_map: Mapping[Any, str], key: str) -> NDArray[np.object_]:
    """Apply the user's own coding; numbers match whether they are stored as 1, 1.0 or '1'."""

    def plain(value: Any) -> str:
        text = str(value).strip().lower()
        return text[:-2] if text.endswith(".0") else text

    if not isinstance(sex_map, Mapping):
        msg = f"sex_map={sex_map!r}; expected a dict such as {{0: 'female', 1: 'male'}}."
        raise InputError(msg)
    words = {plain(k): _word(v) for k, v in sex_map.items()}
    wrong = [v for v in sex_map.values() if not _word(v)]
    if wrong:
        msg = f"sex_map gives {wrong[0]!r}; expected 'female' or 'male', as in sex_map={{0: 'female', 1: 'male'}}."
        raise InputError(msg)
    out = values.map(plain).map(words).fillna("").to_numpy(object)
    if not (out != "").any():
        msg = (
            f"sex_map={dict(sex_map)!r} fits no value of obs[{key!r}], which holds "
            f"{', '.join(map(repr, pd.unique(values)[:4]))}."
        )
        raise InputError(msg)
    return np.asarray(out)


def parse_sex(column: pd.Series, sex_map: Mapping[Any, str] | None, key: str) -> tuple[NDArray[np.object_], list[str]]:
    """``"female"``, ``"male"`` or ``""`` for each sample, and the values that were not understood.

    Words are read in any case. A boolean column must be named ``female``. Bare numbers need ``sex_map``: packages
    disagree on whether 0 is female or male.
    """
    code, distinct = pd.factorize(column.astype(object), use_na_sentinel=False)
    values = pd.Series(distinct, dtype=object)
    if sex_map is not None:
        sex = _mapped(values, sex_map, key)
    elif all(isinstance(v, bool | np.bool_) for v in values.dropna()) and values.notna().any():
        if key != "female":
            msg = (
                f"obs[{key!r}] is boolean. Name the column 'female' and type sex_key='female', "
                "or type sex_map={True: 'female', False: 'male'}."
            )
            raise InputError(msg)
        sex = values.map({True: "female", False: "male"}).fillna("").to_numpy(object)
    else:
        sex = values.map(_word).to_numpy(object)
        odd = values[sex == ""]
        numeric = pd.to_numeric(odd, errors="coerce").notna()
        if numeric.any():
            shown = sorted({str(v) for v in odd[numeric]})[:4]
            msg = (
                f"obs[{key!r}] codes sex as {', '.join(shown)}; packages disagree on which is female. "
                f"Type which is which, sex_map={{{shown[-1]}: 'female', {shown[0]}: 'male'}} or the other way round."
            )
            raise InputError(msg)
    text = values.map(str).str.strip()
    odd_words = sorted(set(text[(sex == "") & ~text.str.lower().isin(UNKNOWN).to_numpy()]))
    return np.asarray(sex)[code], odd_words
