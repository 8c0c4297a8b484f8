"""The one way a record enters ``uns``: only what h5ad and zarr can hold and give back."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["sanitise"]

_RESERVED = ("", ".", "..", "_index")
# anndata looks for an attribute ``dtype`` on whatever it writes and finds such a column instead.
_RESERVED_COLUMN = "dtype"


def sanitise(value: object, *, name: str = "uns['falconage']") -> Any:
    """Turn a record into str, bool, int, float, arrays, data frames and dicts of these.

    A ``None`` is dropped from a dict (absent = not given), is ``""`` among texts and NaN among numbers.
    Lists, tuples and sets become arrays; times and paths become text (times ISO); NumPy scalars become
    Python's; a ``"/"`` in a key becomes ``"_"``. The result shares no memory with ``value``, and
    sanitising it again changes nothing.

    Parameters
    ----------
    value
        What to store; usually a dict.
    name
        How errors call it.

    Returns
    -------
    The same content in types that anndata writes to h5ad and zarr.

    Raises
    ------
    InputError
        Something has no faithful form in a file: a list of dicts, mixed types in one list or column,
        a MultiIndex, keys that collide, any other object. The message names the place.

    Examples
    --------
    >>> from falconage._sanitise import sanitise
    >>> sanitise({"layer": None, "clocks": ("hannum", "pedbe"), "n": 3})
    {'clocks': array(['hannum', 'pedbe'], dtype=object), 'n': 3}
    """
    if isinstance(value, Mapping):
        return _mapping(value, name)
    if isinstance(value, pd.DataFrame):
        return _frame(value, name)
    if isinstance(value, pd.Series):
        return _frame(value.to_frame("value" if value.name is None else value.name), name)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return _scalar(value.item(), name)
    if isinstance(value, AbstractSet):
        return _array(sorted(value, key=str), name)
    if isinstance(value, (np.ndarray, pd.Index, pd.api.extensions.ExtensionArray)) or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))
    ):
        return _array(value, name)
    return _scalar(value, name)


def _mapping(value: Mapping[Any, object], name: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in value.items():
        clean = _key(key, name)
        if clean in result:
            msg = f"{name}: two keys become {clean!r} in the file ({key!r} is one of them). Rename one."
            raise InputError(msg)
        if item is not None:
            result[clean] = sanitise(item, name=f"{name}[{clean!r}]")
    return result


def _key(key: object, name: str) -> str:
    if not isinstance(key, (str, int, float, np.generic)):
        msg = f"{name}: a key is {key!r} ({type(key).__name__}); files hold text keys only. Use a str."
        raise InputError(msg)
    clean = str(key).replace("/", "_")
    if clean in _RESERVED:
        msg = f"{name}: the key {key!r} cannot be stored in a file. Use another name."
        raise InputError(msg)
    return clean


def _scalar(value: object, name: str) -> str | bool | int | float:
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return _scalar(pd.Timestamp(value), name)
    if isinstance(value, PurePath):
        return _text(str(value), name)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return _text(str(value), name)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    if isinstance(value, float):
        return float(value)
    msg = (
        f"{name} is {value!r} ({type(value).__name__}), which h5ad and zarr cannot hold. "
        "Give text, a number, a list of one of them, a dict or a DataFrame."
    )
    raise InputError(msg)


def _text(value: str, name: str) -> str:
    if "\0" in value:
        msg = f"{name} holds a NUL character, which h5ad cannot store. Remove it."
        raise InputError(msg)
    return value


def _array(value: Any, name: str) -> NDArray[Any]:
    """Numbers and booleans keep their kind; everything else is text or refused."""
    array = value if isinstance(value, np.ndarray) else _one_dimensional(value)
    if array.dtype.kind in "biuf":
        return array.astype(array.dtype.newbyteorder("="), copy=True)
    flat = [_element(item, name) for item in array.ravel().tolist()] if array.dtype.kind != "M" else _times(array)
    return _typed(flat, name).reshape(array.shape)


def _one_dimensional(value: Iterable[Any]) -> NDArray[Any]:
    """Keep rows of equal length as a matrix; never let NumPy turn numbers into text."""
    items = list(value)
    if items and all(isinstance(item, (list, tuple, np.ndarray)) for item in items):
        rows = [_one_dimensional(item) for item in items]
        if len({row.shape for row in rows}) == 1:
            return np.stack([row.astype(object) for row in rows])
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _times(array: NDArray[np.datetime64]) -> list[object]:
    return ["" if pd.isna(time) else pd.Timestamp(time).isoformat() for time in array.ravel()]


def _element(item: object, name: str) -> str | bool | int | float | None:
    if item is None or item is pd.NA or item is pd.NaT:
        return None
    return _scalar(item, f"an entry of {name}")


def _typed(items: Sequence[object], name: str) -> NDArray[Any]:
    """One dtype for all: bool, int64, float64 or text (object)."""
    kinds = {type(item) for item in items if item is not None}
    missing = any(item is None for item in items)
    if kinds <= {str} or (str in kinds and _only_nan_beside_text(items)):
        return np.array([item if isinstance(item, str) else "" for item in items], dtype=object)
    if kinds == {bool} and not missing:
        return np.array(items, dtype=bool)
    if kinds == {int} and not missing:
        return np.array(items, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array([np.nan if item is None else item for item in items], dtype=np.float64)
    found = ", ".join(sorted(kind.__name__ for kind in kinds) + ["None"] * missing)
    msg = f"{name} mixes {found}; a file holds one kind in a list or column. Convert it to one kind first."
    raise InputError(msg)


def _only_nan_beside_text(items: Sequence[object]) -> bool:
    return all(isinstance(item, (str, type(None))) or (isinstance(item, float) and math.isnan(item)) for item in items)


def _frame(value: pd.DataFrame, name: str) -> pd.DataFrame:
    if isinstance(value.index, pd.MultiIndex) or isinstance(value.columns, pd.MultiIndex):
        msg = f"{name} has a MultiIndex, which files cannot hold. Use .reset_index() first."
        raise InputError(msg)
    columns = [_key(column, name) for column in value.columns]
    if _RESERVED_COLUMN in columns:
        msg = f"{name} has a column 'dtype', which anndata cannot write. Rename it, for example to 'computed_in'."
        raise InputError(msg)
    if len(set(columns)) < len(columns):
        msg = f"{name} has two columns of one name among {columns}. Rename one."
        raise InputError(msg)
    name_of_index = None if value.index.name is None else _key(value.index.name, name)
    if name_of_index in columns:
        msg = f"{name}: the index and a column are both called {name_of_index!r}. Rename one."
        raise InputError(msg)
    labels = _array(value.index, f"the index of {name}")
    index = pd.Index(labels, dtype=labels.dtype, name=name_of_index)
    parts = zip(columns, value.items(), strict=True)
    data = {c: _column(column, f"{name}[{c!r}]") for c, (_, column) in parts}
    return pd.DataFrame({c: pd.Series(v, index=index, dtype=v.dtype, copy=False) for c, v in data.items()}, index=index)


def _column(column: pd.Series[Any], name: str) -> Any:
    """Categories and nullable numbers are written as such; text is object on every pandas."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        labels = _array(dtype.categories, name)
        categories = pd.Index(labels, dtype=labels.dtype)
        return pd.Categorical.from_codes(
            column.cat.codes.to_numpy(), categories=categories, ordered=bool(dtype.ordered)
        )
    if isinstance(column.array, (pd.arrays.IntegerArray, pd.arrays.BooleanArray)):
        return column.array.copy()
    if isinstance(dtype, pd.api.extensions.ExtensionDtype) and pd.api.types.is_numeric_dtype(dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return _array(column.to_numpy(), name)
