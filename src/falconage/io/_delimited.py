"""Text tables (csv, tsv, txt, compressed or not) as matrices."""

from __future__ import annotations

import csv
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from falconage._errors import InputError
from falconage._text import number
from falconage.io._assemble import Table
from falconage.io._layout import NULLS, Layout, layout_of, open_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["read_delimited"]

_WIDE = 10_000
_BLOCK = 1 << 23
_BAD_VALUE = re.compile(r"In CSV column #(\d+).*invalid value '(.*)'", re.DOTALL)


def read_delimited(path: Path, *, sep: str | None, index_col: str | int | None, dtype: str) -> Table:
    """Read a text table with names on both axes.

    Raises
    ------
    InputError
        See :func:`falconage.io.read_betas`.
    """
    layout = layout_of(path, sep=sep, index_col=index_col)
    read = _read_wide if len(layout.header) > _WIDE else _read_long
    rows, values = read(path, layout, dtype)
    columns = [name for i, name in enumerate(layout.header) if i != layout.ids]
    return Table(rows if layout.ids is not None else [str(i) for i in range(len(values))], columns, values)


def _not_a_number(path: Path, column: str, value: str) -> InputError:
    msg = (
        f"{path.name!r}: {value!r} in column {column!r} is no number. Missing values are written as NA or left "
        "empty; columns of text must be taken out (what describes the samples goes into obs=)."
    )
    return InputError(msg)


def _read_long(path: Path, layout: Layout, dtype: str) -> tuple[list[str], NDArray[Any]]:
    """Many lines: pyarrow's threaded reader, one typed column per field."""
    pa: Any = import_module("pyarrow")
    pa_csv: Any = import_module("pyarrow.csv")
    # Names of samples may repeat, so that the reader gets numbered columns.
    fields = [str(i) for i in range(len(layout.header))]
    floating = pa.float32() if dtype == "float32" else pa.float64()
    types = {field: pa.string() if i == layout.ids else floating for i, field in enumerate(fields)}
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            table = pa_csv.read_csv(
                stream,
                read_options=pa_csv.ReadOptions(skip_rows=layout.skip, column_names=fields, block_size=_BLOCK),
                parse_options=pa_csv.ParseOptions(
                    delimiter=layout.sep, invalid_row_handler=lambda row: "skip" if row.text[:1] == "!" else "error"
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types=types,
                    null_values=NULLS,
                    quoted_strings_can_be_null=True,
                    strings_can_be_null=False,
                    decimal_point=layout.decimal,
                ),
            )
    except pa.ArrowInvalid as error:
        if found := _BAD_VALUE.search(str(error)):
            raise _not_a_number(path, layout.header[int(found[1])], found[2]) from error
        msg = f"{path.name!r} cannot be read as a table: {error}"
        raise InputError(msg) from error
    rows = [] if layout.ids is None else table.column(layout.ids).to_pylist()
    numbers = [i for i in range(table.num_columns) if i != layout.ids]
    stored = np.empty((len(numbers), table.num_rows), dtype=dtype)
    for row, i in zip(stored, numbers, strict=True):
        row[:] = _floats(table.column(i))
    return rows, stored.T


def _floats(column: Any) -> NDArray[Any]:
    return np.asarray(column.to_numpy())


def _read_wide(path: Path, layout: Layout, dtype: str) -> tuple[list[str], NDArray[Any]]:
    """Few long lines (samples × probes): one line at a time, each converted as one column."""
    rows, values = [], []
    with open_text(path) as text:
        for _ in range(layout.skip):
            next(text)
        for n, fields in enumerate(csv.reader(text, delimiter=layout.sep)):
            if not fields or fields[0][:1] == "!":
                continue
            if len(fields) != len(layout.header):
                msg = (
                    f"{path.name!r}: line {layout.skip + n + 1} has {number(len(fields), 'field')}, "
                    f"the header {len(layout.header)}."
                )
                raise InputError(msg)
            if layout.ids is not None:
                rows.append(fields.pop(layout.ids))
            values.append(_line(fields, path, layout, dtype))
    return rows, np.stack(values)


def _line(fields: list[str], path: Path, layout: Layout, dtype: str) -> NDArray[Any]:
    pa: Any = import_module("pyarrow")
    pc: Any = import_module("pyarrow.compute")
    written = pc.utf8_trim_whitespace(pa.array(fields, pa.string()))
    if layout.decimal == ",":
        written = pc.replace_substring(written, ",", ".")
    written = pc.if_else(pc.is_in(written, pa.array(NULLS)), "nan", written)
    try:
        return _floats(pc.cast(written, pa.float32() if dtype == "float32" else pa.float64()))
    except pa.ArrowInvalid as error:
        header = [name for i, name in enumerate(layout.header) if i != layout.ids]
        bad = next(i for i, value in enumerate(written.to_pylist()) if not _is_number(value))
        raise _not_a_number(path, header[bad], fields[bad]) from error


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
