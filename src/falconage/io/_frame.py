"""A pandas table of methylation values → AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage._text import number
from falconage.io._assemble import Table, assemble
from falconage.io._ids import check_orientation, id_strings

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from numpy.typing import NDArray

    from falconage.io._ids import Orientation

__all__ = ["from_dataframe", "table_of"]


def from_dataframe(
    df: pd.DataFrame,
    *,
    obs: pd.DataFrame | str | Path | None = None,
    orientation: Orientation = "auto",
) -> AnnData:
    """Make an AnnData of samples × features from a DataFrame.

    Parameters
    ----------
    df
        Numbers only, samples × features or the reverse, names in index and columns. It is not changed
        and shares no memory with the result.
    obs
        What is known of the samples (age, sex, tissue, …), index = sample names, or the path of such a
        file. Rows are brought into the order of the samples; rows of other samples are left out.
    orientation
        ``"auto"`` looks for CpG names (``cg00000029``, ``chr10:4500``) on one axis.

    Returns
    -------
    Samples × features. float32 stays float32; integers and nullable numbers become floating point;
    missing values (``None``, ``pd.NA``) become NaN; columns without any value are kept. Names become strings.

    Raises
    ------
    InputError
        Text columns, names in several levels, an axis that cannot be told from the other, samples that
        ``obs`` lacks or has twice.

    Examples
    --------
    >>> import pandas as pd
    >>> import falconage as fa
    >>> df = pd.DataFrame({"S1": [0.1, 0.8], "S2": [0.2, None]}, index=["cg00000029", "cg00000108"])
    >>> fa.io.from_dataframe(df).shape
    (2, 2)
    >>> list(fa.io.from_dataframe(df, obs=pd.DataFrame({"age": [30, 60]}, index=["S2", "S1"])).obs["age"])
    [60, 30]
    """
    check_orientation(orientation)
    if not isinstance(df, pd.DataFrame):
        msg = f"df is a {type(df).__name__}, a pandas DataFrame is needed: pd.DataFrame(values, index=…, columns=…)"
        raise InputError(msg)
    return assemble(table_of(df), obs=obs, orientation=orientation)


def table_of(df: pd.DataFrame, dtype: str | None = None) -> Table:
    """Values and names of a DataFrame; the values are a copy, of ``dtype`` where given."""
    rows = id_strings(df.index, "rows", fix="df.index")
    columns = id_strings(df.columns, "columns", fix="df.columns")
    return Table(rows, columns, _values(df, columns, dtype))


def _values(df: pd.DataFrame, names: list[str], dtype: str | None) -> NDArray[Any]:
    dtypes = df.dtypes.to_numpy()
    kinds = {kind: _numpy_kind(kind) for kind in set(dtypes)}
    bad: list[int] = []
    mixed: list[int] = []
    for i, kind in enumerate(dtypes):
        if kinds[kind] is None:
            numbers = _is_object(kind) and _holds_numbers(df.iloc[:, i])
            (mixed if numbers else bad).append(i)
    if bad:
        held = [f"{names[i]!r} (such as {_first(df.iloc[:, i])!r})" for i in bad[:3]]
        listed = ", ".join(held) + (", …" if len(bad) > 3 else "")
        drop = [names[i] for i in bad[:3]]
        holds = "holds" if len(bad) == 1 else "hold"
        msg = (
            f"{len(bad)} of {number(len(names), 'column')} {holds} no numbers: {listed}. "
            f"If they describe samples, pass them as obs: obs=df[{drop!r}]; in any case take them out of the "
            f"values: df.drop(columns={drop!r})"
        )
        raise InputError(msg)
    target = np.dtype(dtype) if dtype is not None else _common(kinds, object_too=bool(mixed))
    if all(isinstance(kind, np.dtype) and not _is_object(kind) for kind in kinds):
        return df.to_numpy(dtype=target, copy=True)
    out = np.empty(df.shape, dtype=target, order="F")
    for i in range(df.shape[1]):
        out[:, i] = df.iloc[:, i].to_numpy(dtype=target, na_value=np.nan)
    return out


def _numpy_kind(kind: Any) -> np.dtype[Any] | None:
    """Tell the numpy number type that a pandas column type stores, ``None`` where it is no number."""
    stored = kind.subtype if isinstance(kind, pd.SparseDtype) else getattr(kind, "numpy_dtype", kind)
    return stored if isinstance(stored, np.dtype) and stored.kind in "iuf" else None


def _is_object(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and kind.kind == "O"


def _common(kinds: dict[Any, np.dtype[Any] | None], *, object_too: bool) -> np.dtype[Any]:
    numbers = [kind for kind in kinds.values() if kind is not None]
    return np.result_type(np.float32, *numbers, *([np.float64] if object_too else []))


def _holds_numbers(column: pd.Series) -> bool:
    return pd.api.types.infer_dtype(column, skipna=True) in {"floating", "integer", "mixed-integer-float", "empty"}


def _first(column: pd.Series) -> Any:
    given = column.dropna()
    return given.iloc[0] if len(given) else None
