"""The table of samples: read, and brought into the order of the matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage._text import number
from falconage.io._ids import few, id_strings

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["align_obs"]

_READ_HINT = "pass a DataFrame, or the path of a .csv, .tsv, .txt or .parquet file"


def align_obs(obs: pd.DataFrame | str | Path | None, samples: Sequence[str]) -> pd.DataFrame:
    """One row per sample, in their order; rows of other samples are left out."""
    if obs is None:
        return pd.DataFrame(index=pd.Index(samples))
    if isinstance(obs, str | Path):
        obs = _read_obs(Path(obs), samples)
    if not isinstance(obs, pd.DataFrame):
        msg = f"obs is a {type(obs).__name__}; {_READ_HINT}, one row per sample."
        raise InputError(msg)
    index = pd.Index(id_strings(obs.index, "rows of obs", fix="obs.index"))
    wanted = pd.Index(samples)
    if absent := list(wanted[~wanted.isin(index)].unique()):
        msg = (
            f"obs has no row for {len(absent)} of {number(wanted.nunique(), 'sample')}: {few(absent)}; its index holds "
            f"{few(index)}. {_index_hint(obs, samples)}"
        )
        raise InputError(msg)
    if twice := list(index[index.duplicated() & index.isin(wanted)].unique()):
        msg = (
            f"obs has several rows for {number(len(twice), 'sample')}: {few(twice)}. "
            "Keep one row each: obs = obs[~obs.index.duplicated()]"
        )
        raise InputError(msg)
    aligned = obs.iloc[index.get_indexer(wanted)].copy()
    aligned.index = wanted
    aligned.columns = pd.Index([str(name) for name in aligned.columns])
    return aligned


def _holders(obs: pd.DataFrame, samples: Sequence[str]) -> list[str]:
    """Columns of obs in which every sample is found."""
    wanted = set(samples)
    return [str(name) for name in obs.columns if wanted <= set(obs[name].dropna().astype(str))]


def _index_hint(obs: pd.DataFrame, samples: Sequence[str]) -> str:
    columns = _holders(obs, samples) if obs.columns.is_unique else []
    if columns:
        return f"Column {columns[0]!r} holds them: pass obs=obs.set_index({columns[0]!r})"
    return "Set the sample names as its index, or keep only the samples that it describes."


def _read_obs(path: Path, samples: Sequence[str]) -> pd.DataFrame:
    """Read a file of samples; the column that holds the sample names becomes the index."""
    if not path.is_file():
        msg = f"No obs file {str(path)!r}; {_READ_HINT}."
        raise InputError(msg)
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        return pd.read_parquet(path)
    if kind not in {"csv", "tsv", "txt"}:
        msg = f"Cannot read obs from {path.name!r}; {_READ_HINT}."
        raise InputError(msg)
    sep = "," if kind == "csv" else "\t"
    try:
        table = pd.read_csv(path, sep=sep, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, EOFError, ValueError) as error:
        msg = f"Cannot read obs from {str(path)!r}: {error}"
        raise InputError(msg) from error
    holders = _holders(table, samples)
    ids = holders[0] if holders else str(table.columns[0])
    # Read as text and converted column by column, so that a sample "007" keeps its zeros.
    table = table.set_index(ids)
    return table.apply(_typed)


def _typed(column: pd.Series) -> pd.Series:
    """Numbers or truth values where every entry is one; text otherwise; empty and NA are missing."""
    given = column.where(~column.str.strip().isin(["", "NA", "NaN", "nan", "null", "NULL", "None"]), np.nan)
    truth = given.map({"true": True, "false": False, "True": True, "False": False, "TRUE": True, "FALSE": False})
    if len(given) and truth.notna().all():
        return truth.astype(bool)
    try:
        return pd.to_numeric(given)
    except (ValueError, TypeError):
        return given
