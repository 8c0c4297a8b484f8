"""Write the tables of ``clocks/data``: the same bytes whenever the numbers are the same."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from _catalogue import read, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from _sources import Row

SPECIES = "omniage@0.99.5:omniage/data/pan_mammalian/anage_data.csv"
MEDIANS = "biolearn@0.9.1:biolearn/data/sesame_450k_median.csv"
TEXT = pa.dictionary(pa.int32(), pa.string())
WEIGHTS = pa.schema(
    [
        *(pa.field(name, TEXT, nullable=False) for name in ("clock", "part", "feature", "op")),
        *(pa.field(name, pa.float64(), nullable=False) for name in ("weight", "reference", "second")),
    ]
)


def digest(rows: Iterable[Row]) -> str:
    """sha256 of a clock's rows as text: the shortest decimal of each number, nothing for NaN."""
    text = "".join("\t".join((r.part, r.feature, r.op, *map(_decimal, r[3:]))) + "\n" for r in rows)
    return hashlib.sha256(text.encode()).hexdigest()


def write_weights(path: Path, clocks: Mapping[str, list[Row]]) -> None:
    """One long table, clocks in catalogue order, terms in the order of their source."""
    columns = list(zip(*((clock, *row) for clock, rows in clocks.items() for row in rows), strict=True))
    arrays = [pa.array(column).cast(field.type) for column, field in zip(columns, WEIGHTS, strict=True)]
    _parquet(path, pa.Table.from_arrays(arrays, schema=WEIGHTS))


def write_medians(path: Path, data: bytes, wanted: set[str]) -> int:
    """The 450K medians of the wanted features, by name; returns how many there are."""
    records = csv.DictReader(io.StringIO(data.decode("utf-8-sig")))
    found = {
        r["Probe_ID"]: float(r["median"]) for r in records if r["Probe_ID"] in wanted and r["median"] not in ("", "NA")
    }
    names = sorted(found)
    _parquet(
        path,
        pa.table({"feature": pa.array(names).cast(TEXT), "median": pa.array([found[n] for n in names], pa.float64())}),
    )
    return len(names)


def write_species(path: Path, data: bytes, common: Path) -> int:
    """Species with gestation, maturity and maximum age, all in years; returns how many there are."""
    names = {r["species"]: r["common"] for r in read(common)}
    columns = ("GestationTimeInYears", "averagedMaturity.yrs", "maxAge")
    rows = []
    for record in csv.DictReader(io.StringIO(data.decode("utf-8-sig"))):
        values = [record[c] for c in columns]
        if not any(v in ("", "NA") for v in values):
            latin = record["SpeciesLatinName"].strip().lower()
            rows.append(dict(zip(SPECIES_COLUMNS, (latin, names.pop(latin, ""), *values), strict=True)))
    if names:
        raise ValueError(f"no complete row for {sorted(names)}")
    write(path, SPECIES_COLUMNS, rows)
    return len(rows)


SPECIES_COLUMNS = ("species", "common", "gestation", "maturity", "max_age")


def _decimal(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _parquet(path: Path, table: pa.Table) -> None:
    pq.write_table(table, path, compression="zstd", compression_level=19, version="2.6", data_page_version="2.0")
