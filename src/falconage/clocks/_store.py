"""Read the tables of ``clocks/data``, each once."""

from __future__ import annotations

import csv
import io
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from falconage.clocks._clock import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_rows", "reference_450k", "species_table", "terms_of"]

_T = TypeVar("_T", bound=np.generic)
_DATA = files("falconage.clocks") / "data"


class _Weights(NamedTuple):
    """The long table of weights, one entry a term, and where each clock lies in it."""

    spans: dict[str, slice]
    part: NDArray[np.object_]
    feature: NDArray[np.object_]
    op: NDArray[np.object_]
    weight: NDArray[np.float64]
    reference: NDArray[np.float64]
    second: NDArray[np.float64]


def terms_of(clock: str) -> tuple[Terms, ...]:
    """Return the linear predictors of a clock by its id; empty where the package has no weights."""
    span = _weights().spans.get(clock)
    if span is None:
        return ()
    part = _weights().part[span]
    return tuple(_one_part(np.flatnonzero(part == name) + span.start, name) for name in dict.fromkeys(part))


@cache
def reference_450k() -> pd.Series[float]:
    """Return the median β of each CpG of the shipped human clocks in blood on the 450K array."""
    columns = _parquet("reference_450k.parquet")
    return pd.Series(columns["median"], index=pd.Index(columns["feature"], name="feature"), name="median")


@cache
def species_table() -> pd.DataFrame:
    """Return gestation, maturity and maximum age (years) and the common name, index the Latin name in lower case."""
    rows = read_rows("species.tsv")
    index = pd.Index([row["species"] for row in rows], name="species")
    numbers = {c: [float(row[c]) for row in rows] for c in ("gestation", "maturity", "max_age")}
    return pd.DataFrame({"common": [row["common"] for row in rows], **numbers}, index=index)


@cache
def read_rows(name: str) -> list[dict[str, str]]:
    """Read a tab-separated table, every cell as text."""
    lines = (_DATA / name).read_text(encoding="utf-8").split("\n")
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _one_part(rows: NDArray[np.intp], part: str) -> Terms:
    table = _weights()
    op = table.op[rows]
    term = rows[(op == "") | (op == "square")]
    covariate = rows[op == "covariate"]
    return Terms(
        part=part,
        intercept=float(table.weight[rows[op == "intercept"]].sum()),
        features=_frozen(table.feature[term]),
        weights=_frozen(table.weight[term]),
        reference=_frozen(table.reference[term]),
        second=_frozen(table.second[term]),
        squared=_frozen(table.op[term] == "square"),
        covariates=dict(zip(table.feature[covariate].tolist(), table.weight[covariate].tolist(), strict=True)),
    )


def _frozen(values: NDArray[_T]) -> NDArray[_T]:
    # Clocks are cached and shared: a caller that writes into one would change every later score.
    values.setflags(write=False)
    return values


@cache
def _weights() -> _Weights:
    columns = _parquet("weights.parquet")
    clock = columns.pop("clock")
    starts = np.flatnonzero(np.concatenate([[True], clock[1:] != clock[:-1]]))
    ends = np.append(starts[1:], len(clock))
    spans = {clock[a]: slice(int(a), int(b)) for a, b in zip(starts, ends, strict=True)}
    return _Weights(spans, **columns)


def _parquet(name: str) -> dict[str, NDArray[Any]]:
    import pyarrow.parquet

    read: Any = pyarrow.parquet.read_table
    columns = read(io.BytesIO((_DATA / name).read_bytes()))
    return {name: _array(columns[name].combine_chunks()) for name in columns.column_names}


def _array(column: Any) -> NDArray[Any]:
    if not hasattr(column, "dictionary"):
        return np.asarray(column.to_numpy())
    words = np.array(column.dictionary.to_pylist(), dtype=object)
    return np.asarray(words[column.indices.to_numpy()])
