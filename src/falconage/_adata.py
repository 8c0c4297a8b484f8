"""The only code that reads from or writes to an AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from falconage._errors import InputError
from falconage._keys import IMPUTED, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = [
    "Source",
    "actualise",
    "check_key",
    "check_object",
    "imputed_cells",
    "obs_column",
    "read_matrix",
    "room",
    "store",
]


class Source(NamedTuple):
    """A matrix and the names of its columns."""

    x: Any
    names: pd.Index
    where: str


def check_object(data: object, function: str) -> AnnData:
    """Return ``data`` if it is an AnnData in memory; otherwise say what to type."""
    if not isinstance(data, AnnData):
        hint = "fa.io.from_dataframe(df)" if isinstance(data, pd.DataFrame) else "anndata.AnnData(...)"
        msg = f"{function} takes an AnnData, got {type(data).__name__}. Make one with {hint}."
        raise InputError(msg)
    if data.isbacked:
        what = "a view of a backed AnnData" if data.is_view else "a backed AnnData"
        msg = f"{function} got {what}; this version reads matrices in memory. Type adata = adata.to_memory() first."
        raise InputError(msg)
    return data


def actualise(adata: AnnData) -> None:
    """Turn a view into an object of its own, as scanpy does, so that results can be written to it."""
    if adata.is_view:
        adata._init_as_actual(adata.copy())  # type: ignore[no-untyped-call]


def read_matrix(adata: AnnData, *, layer: str | None, use_raw: bool, feature_key: str | None) -> Source:
    """Fetch the matrix and the feature names asked for; nothing is copied."""
    if use_raw and layer is not None:
        msg = f"Got use_raw=True and layer={layer!r}; they exclude each other. Type one of them."
        raise InputError(msg)
    if use_raw:
        if adata.raw is None:
            msg = "use_raw=True, but adata.raw is None. Drop use_raw, or set adata.raw first."
            raise InputError(msg)
        found: tuple[Any, Any, str] = adata.raw.X, adata.raw.var, "raw"
    elif layer is not None:
        if layer not in adata.layers:
            msg = f"There is no layer {layer!r}. Layers here: {sorted(adata.layers) or 'none'}."
            raise InputError(msg)
        found = adata.layers[layer], adata.var, f"layers[{layer!r}]"
    else:
        found = adata.X, adata.var, "X"
    x, var, where = found
    if x is None:
        msg = f"adata.X is None. Type layer= with one of {sorted(adata.layers) or '(there are no layers either)'}."
        raise InputError(msg)
    source = Source(_plain(x, where), _names(var, feature_key), where)
    for count, what in zip(x.shape, ("samples (n_obs = 0)", "features (n_vars = 0)"), strict=True):
        if count == 0:
            msg = f"{where} has no {what}; expected a matrix of samples × features."
            raise InputError(msg)
    return source


def _plain(x: Any, where: str) -> Any:
    """A NumPy array or a SciPy CSR/CSC matrix, without copying; or an error that names the type."""
    target = f"adata.{where}"
    if sparse.issparse(x):
        return x if x.format in ("csr", "csc") else x.tocsr()
    if isinstance(x, np.ma.MaskedArray):
        msg = f"{where} is a masked array. Type {target} = {target}.filled(np.nan)."
        raise InputError(msg)
    if not isinstance(x, np.ndarray):
        got = f"{type(x).__module__}.{type(x).__name__}"
        msg = f"{where} is a {got}; expected a NumPy array or a SciPy CSR or CSC matrix."
        raise InputError(msg)
    if x.dtype.kind not in "fiub":
        msg = f"{where} holds {x.dtype} values, expected numbers. Type {target} = {target}.astype('float32')."
        raise InputError(msg)
    return x


def _names(var: pd.DataFrame, feature_key: str | None) -> pd.Index:
    if feature_key is None:
        names: pd.Index = var.index
        return names
    if feature_key not in var.columns:
        msg = f"feature_key={feature_key!r} is not a column of var. Columns: {list(map(str, var.columns)) or 'none'}."
        raise InputError(msg)
    names = pd.Index(var[feature_key].astype(object))
    return names


def obs_column(adata: AnnData, key: str | None) -> pd.Series | None:
    """A column of obs, or None if it is not there."""
    if key is None or key not in adata.obs.columns:
        return None
    return adata.obs[key]


def imputed_cells(adata: AnnData, shape: tuple[int, int]) -> Any | None:
    """The record of cells that an imputation filled, as CSR of booleans, if it fits the matrix that is scored."""
    cells: Any = adata.layers.get(IMPUTED)
    if cells is None or cells.shape != shape:
        return None
    return sparse.csr_matrix(cells, dtype=bool)


def check_key(adata: AnnData, key: object, room_name: str) -> None:
    """Refuse a key that cannot name a result, or under which something lies that is not a result of this kind."""
    if not isinstance(key, str) or not key or "/" in key:
        msg = f"key_added={key!r}; expected a name without '/', e.g. key_added='clock_scores'."
        raise InputError(msg)
    if key in adata.obsm and key not in room(adata, room_name):
        msg = (
            f"obsm[{key!r}] holds something else ({type(adata.obsm[key]).__name__}) that this call would replace. "
            "Type another name, e.g. key_added='my_scores', or delete it first."
        )
        raise InputError(msg)


def room(adata: AnnData, name: str) -> Mapping[str, Any]:
    """One room of ``uns["falconage"]``; empty if nothing was written there."""
    root = adata.uns.get(ROOT, {})
    return dict(root.get(name, {}))


def store(
    adata: AnnData,
    *,
    obsm: Mapping[str, pd.DataFrame | NDArray[Any]],
    obs: Mapping[str, NDArray[Any]],
    room_name: str,
    key: str,
    record: Mapping[str, Any],
) -> None:
    """Write finished results: everything is in hand before the first assignment."""
    root = dict(adata.uns.get(ROOT, {}))
    chosen = dict(root.get(room_name, {}))
    chosen[key] = dict(record)
    root[room_name] = chosen
    for name, value in obsm.items():
        adata.obsm[name] = value
    for name, column in obs.items():
        adata.obs[name] = column
    adata.uns[ROOT] = root
