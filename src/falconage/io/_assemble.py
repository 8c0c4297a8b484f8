"""From a matrix with names on both axes to an AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from falconage._errors import InputError
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
        msg = f"The table has {len(rows)} rows and {len(columns)} columns of values; nothing to read."
        raise InputError(msg)
    if find_orientation(rows, columns, orientation) == "features_by_samples":
        samples, features, matrix = columns, rows, values.T
    else:
        samples, features, matrix = rows, columns, values
        if found := [name for name in features if name.lower() in _COVARIATES]:
            msg = (
                f"Column {few(found)} describes the samples and is no feature. Pass such columns as obs: "
                f"obs=df[{found!r}], and leave them out of the values: df.drop(columns={found!r})"
            )
            raise InputError(msg)
    return AnnData(matrix, obs=align_obs(obs, samples), var=pd.DataFrame(index=pd.Index(features)))
