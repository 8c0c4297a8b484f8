"""From a matrix with names on both axes to an AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from falconage._errors import InputError
from falconage._text import number
from falconage.io._ids import Orientation, few, find_orientation
from falconage.io._obs import align_obs

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from numpy.typing import NDArray

__all__ = ["Table", "assemble"]

_COVARIATES = {"age", "sex", "female", "gender"}


class Table(NamedTuple):
    """Values (rows × columns, floating point) and the names of both axes."""

    rows: list[str]
    columns: list[str]
    values: NDArray[Any]


def assemble(table: Table, *, obs: pd.DataFrame | str | Path | None, orientation: Orientation) -> AnnData:
    """Turn a table into an AnnData that shares its values; no copy is made."""
    from anndata import AnnData

    rows, columns, values = table
    if 0 in values.shape:
        msg = (
            f"The table has {number(len(rows), 'row')} and {number(len(columns), 'column')} of values; nothing to read."
        )
        raise InputError(msg)
    if find_orientation(rows, columns, orientation) == "features_by_samples":
        samples, features, matrix = columns, rows, values.T
    else:
        samples, features, matrix = rows, columns, values
    _refuse_covariates(features, in_rows=features is rows)
    return AnnData(matrix, obs=align_obs(obs, samples), var=pd.DataFrame(index=pd.Index(features)))


def _refuse_covariates(features: list[str], *, in_rows: bool) -> None:
    """Raise where age or sex stands among the features."""
    found = [name for name in features if name.lower() in _COVARIATES]
    if not found:
        return
    axis = "row" if in_rows else "column"
    take, drop = (f"df.loc[{found!r}].T", "index") if in_rows else (f"df[{found!r}]", "columns")
    msg = (
        f"{number(len(found), axis, ('describes', 'describe'))} the samples and no feature: {few(found)}. Pass such "
        f"{axis}s as obs: obs={take}, and leave them out of the values: df.drop({drop}={found!r})"
    )
    raise InputError(msg)
