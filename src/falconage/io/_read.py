"""A file of methylation values → AnnData."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage.io._assemble import Table, assemble
from falconage.io._delimited import read_delimited
from falconage.io._frame import table_of
from falconage.io._ids import check_orientation
from falconage.io._layout import pick_ids

if TYPE_CHECKING:
    from anndata import AnnData

    from falconage.io._ids import Orientation

__all__ = ["read_betas"]

_TEXT = {"csv", "tsv", "txt"}
_COMPRESSED = {"gz", "bz2", "zst"}
_ELSEWHERE = {
    "h5ad": "read it with anndata.read_h5ad(path)",
    "zarr": "read it with anndata.read_zarr(path)",
    "idat": "turn IDAT files into a table of betas first (sesame, minfi, mepylome)",
    "xlsx": "save the sheet as csv",
    "xls": "save the sheet as csv",
    "rds": "write it from R: write.csv(betas, 'betas.csv')",
    "rdata": "write it from R: write.csv(betas, 'betas.csv')",
    "pkl": "open it with pandas if you trust it, then falconage.io.from_dataframe(df)",
    "zip": "unpack it first",
    "npy": "names are needed: falconage.io.from_dataframe(pd.DataFrame(values, index=…, columns=…))",
}


def read_betas(
    path: str | Path,
    *,
    obs: pd.DataFrame | str | Path | None = None,
    orientation: Orientation = "auto",
    sep: str | None = None,
    dtype: str = "float32",
    index_col: str | int | None = None,
) -> AnnData:
    r"""Read methylation values from a csv, tsv, txt or parquet file.

    Parameters
    ----------
    path
        A table with a header and a column of names, probes in rows or samples in rows. Text may end in
        ``.gz``, ``.bz2`` or ``.zst``; comment lines and the preamble of a GEO series matrix are left out.
        Decimal commas, and missing values written as NA, NaN, null or nothing, quoted or not, are understood.
    obs
        What is known of the samples: a DataFrame with their names as index, or the path of such a file
        (any column may hold the names).
    orientation
        ``"auto"`` looks for CpG names on one axis.
    sep
        Separator of a text file; found from the first lines where not given.
    dtype
        ``"float32"`` or ``"float64"``.
    index_col
        Column of row names, by name or position; ``False``: the rows have no names. By default a column
        of text or one with a usual name (``ID_REF``, ``cpg``, ``sample``, …).

    Returns
    -------
    Samples × features; missing values are NaN.

    Raises
    ------
    InputError
        No such file, an empty, damaged or unknown one, text among the values, no column of names, or
        samples that ``obs`` lacks.

    Examples
    --------
    >>> import falconage as fa
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "betas.csv")
    ...     _ = file.write_text("ID_REF,S1,S2\ncg00000029,0.61,NA\ncg00000108,0.92,0.9\n")
    ...     fa.io.read_betas(file).to_df().shape
    (2, 2)
    """
    path = _path(path)
    check_orientation(orientation)
    if sep is not None and (not isinstance(sep, str) or len(sep) != 1):
        msg = f"sep={sep!r} is not one character; pass sep=',' or sep='\\t' or sep=';', or leave it out."
        raise InputError(msg)
    dtype = _float_type(dtype)
    kind = _kind(path)
    try:
        if kind == "parquet":
            table = _read_parquet(path, index_col, dtype)
        else:
            table = read_delimited(path, sep=sep, index_col=index_col, dtype=dtype)
    except UnicodeDecodeError as error:
        msg = f"{path.name!r} is not UTF-8 text ({error.reason}, byte {error.start}); save it as UTF-8 csv."
        raise InputError(msg) from error
    except OSError as error:
        msg = f"{path.name!r} cannot be read: {error}. If it was downloaded or copied, it may be cut off: get it again."
        raise InputError(msg) from error
    return assemble(table, obs=obs, orientation=orientation)


def _path(path: Any) -> Path:
    if isinstance(path, str | PathLike):
        return Path(path)
    hint = "; type falconage.io.from_dataframe(df)" if isinstance(path, pd.DataFrame) else ", such as 'betas.csv.gz'"
    msg = f"read_betas takes the path of a file, got {type(path).__name__}{hint}."
    raise InputError(msg)


def _float_type(dtype: Any) -> str:
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = ""
    if name in {"float32", "float64"}:
        return name
    msg = f"dtype={dtype!r} is not known; use 'float32' or 'float64'."
    raise InputError(msg)


def _kind(path: Path) -> str:
    """Tell the ending without a compression, once the file is known to be there."""
    parts = path.name.lower().split(".")[1:]
    kind = parts[-2] if len(parts) > 1 and parts[-1] in _COMPRESSED else (parts[-1] if parts else "")
    if kind in _ELSEWHERE and path.exists():
        msg = f"read_betas does not read .{kind} files: {_ELSEWHERE[kind]}."
        raise InputError(msg)
    if path.is_dir():
        msg = f"{str(path)!r} is a folder; give one file: .csv, .tsv, .txt (or .gz, .bz2, .zst of them) or .parquet."
        raise InputError(msg)
    if not path.exists():
        msg = f"No file {str(path)!r} (working folder {str(Path.cwd())!r}). Check the path."
        raise InputError(msg)
    if kind != "parquet" and kind not in _TEXT:
        msg = f"{path.name!r}: ending not known; .csv, .tsv, .txt (or .gz, .bz2, .zst of them) and .parquet are read."
        raise InputError(msg)
    if path.stat().st_size == 0:
        msg = f"{path.name!r} is empty (0 bytes)."
        raise InputError(msg)
    return kind


def _read_parquet(path: Path, index_col: str | int | None, dtype: str) -> Table:
    pa: Any = import_module("pyarrow")
    try:
        df = pd.read_parquet(path)
    except pa.ArrowInvalid as error:
        msg = f"{path.name!r} is not a parquet file, or is damaged: {error}"
        raise InputError(msg) from error
    if index_col is None and not isinstance(df.index, pd.RangeIndex):
        return table_of(df, dtype)
    text = [i for i, kind in enumerate(df.dtypes) if not pd.api.types.is_numeric_dtype(kind)]
    ids = pick_ids([str(name) for name in df.columns], text, index_col, path.name)
    return table_of(df if ids is None else df.set_index(df.columns[ids]), dtype)
