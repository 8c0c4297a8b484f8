"""The layout of a text table, from its first lines: separator, header, id column, decimal sign."""

from __future__ import annotations

import csv
import io
import itertools
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from falconage._errors import InputError
from falconage._text import number
from falconage.io._ids import few, share_of_features

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["NULLS", "Layout", "layout_of", "open_text", "pick_ids"]

NULLS = ["", "NA", "N/A", "#N/A", "na", "n/a", "NaN", "nan", "NAN", "-nan", "null", "NULL", "Null", "None", "<NA>", "."]
_KNOWN_IDS = {
    *("", "id_ref", "ilmnid", "cpg", "cpgs", "cpg_id", "cpgid", "cgid", "probe", "probes", "probe_id", "probeid"),
    *("name", "id", "targetid", "index", "rowname", "rownames", "row.names", "feature", "site", "position"),
    *("sample", "samples", "sample_id", "sampleid", "sample_name", "sample_names", "geo_accession", "basename", "sid"),
}
_TRIED = 20
_TRIED_FIELDS = 1_000_000
_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?$|[+-]?inf(?:inity)?$", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?$")


class Layout(NamedTuple):
    """How a text table is laid out.

    ``skip`` lines come before the values; ``header`` has one name per field of a line of values;
    ``ids`` is the field of row names, ``None`` where the rows have none.
    """

    sep: str
    skip: int
    header: list[str]
    ids: int | None
    decimal: str


def open_text(path: Path) -> io.TextIOWrapper:
    """Open a text file, decompressing by the ending of its name."""
    pa: Any = import_module("pyarrow")
    stream = pa.input_stream(str(path), compression="detect", buffer_size=1 << 20)
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


def layout_of(path: Path, *, sep: str | None, index_col: str | int | None) -> Layout:
    """Read the first lines of a file and tell its layout.

    Raises
    ------
    InputError
        An empty file, a file without a header or with text columns, no column of names.
    """
    with open_text(path) as text:
        preamble, head, rows = _first_lines(text)
    if not head.strip():
        msg = f"{path.name!r} is empty; a header line and one line per feature or sample are needed."
        raise InputError(msg)
    if "\0" in head:
        msg = f"{path.name!r} is not a text table (it holds binary data or UTF-16 text); save it as UTF-8 csv."
        raise InputError(msg)
    if not rows:
        msg = f"{path.name!r} holds one line only; a header line and at least one line of values are needed."
        raise InputError(msg)
    sep = sep if sep is not None else _separator(head, rows[0], path)
    header = _split(head, sep)
    fields = [_split(row, sep) for row in rows[: 1 + _TRIED_FIELDS // len(header)]]
    # R's write.table() leaves out the name of the column of row names.
    if len(fields[0]) == len(header) + 1:
        header = ["", *header]
    if bad := [i for i, row in enumerate(fields) if len(row) != len(header)]:
        msg = (
            f"{path.name!r}: line {preamble + 2 + bad[0]} has {number(len(fields[bad[0]]), 'field')}, "
            f"the header {len(header)}. Was sep={sep!r} the right separator? Pass sep=',' or sep='\\t' or sep=';'."
        )
        raise InputError(msg)
    if all(_is_fraction(name) for name in header[1:]):
        msg = f"{path.name!r}: the first line holds numbers ({few(header[1:])}), not names; add a header line."
        raise InputError(msg)
    values = [[value for value in column if value not in NULLS] for column in zip(*fields, strict=True)]
    words = [i for i, column in enumerate(values) if not all(map(_NUMBER.match, column))]
    ids = pick_ids(header, words, index_col, path.name)
    given = [value for i, column in enumerate(values) if i != ids for value in column]
    decimal = "," if any(map(_DECIMAL_COMMA.match, given)) else "."
    return Layout(sep, preamble + 1, header, ids, decimal)


def _first_lines(text: io.TextIOWrapper) -> tuple[int, str, list[str]]:
    """Split off comments and the preamble of a GEO series matrix: their number, the header, lines of values."""
    skipped = 0
    head = ""
    for line in text:
        if line.strip() and line[0] not in "#!^":
            head = line
            break
        skipped += 1
    rows = [line for line in itertools.islice(text, _TRIED) if line.strip() and line[0] != "!"]
    return skipped, head, rows


def _split(line: str, sep: str) -> list[str]:
    csv.field_size_limit(1 << 24)
    return [field.strip() for field in next(csv.reader([line.rstrip("\r\n")], delimiter=sep))]


def _separator(head: str, row: str, path: Path) -> str:
    """Find what splits header and values into the same number of fields, more than one."""
    by_name = "," if ".csv" in path.name.lower() else "\t"
    fits = []
    for sep in dict.fromkeys([by_name, "\t", ";", ",", " "]):
        in_row = len(_split(row, sep))
        unnamed = in_row - len(_split(head, sep))
        if in_row > 1 and unnamed == 0:
            return sep
        if in_row > 1 and unnamed == 1:
            fits.append(sep)
    if not fits:
        msg = (
            f"{path.name!r}: neither commas, tabs, semicolons nor spaces split header and values into the same "
            f"number of fields. Header {head.strip()[:60]!r}, next line {row.strip()[:60]!r}. Pass sep=…"
        )
        raise InputError(msg)
    return fits[0]


def _is_fraction(name: str) -> bool:
    return _NUMBER.match(name) is not None and not name.lstrip("+-").isdigit()


def pick_ids(header: Sequence[str], text: Sequence[int], index_col: str | int | None, file: str) -> int | None:
    """Which column holds the row names; ``text`` are the columns that hold no numbers.

    Raises
    ------
    InputError
        No such column, or further columns of text.
    """
    ids = _named(header, index_col, file) if index_col is not None else _guessed(header, text, file)
    if others := [header[i] for i in text if i != ids]:
        named = "none" if ids is None else repr(header[ids])
        msg = (
            f"{file!r}: {number(len(others), 'column', ('holds', 'hold'))} text besides the one of row names "
            f"({named}): {few(others)}. Take them out of the file, and pass what describes the samples as obs=; "
            "index_col= names the column of row names."
        )
        raise InputError(msg)
    return ids


def _named(header: Sequence[str], index_col: str | int, file: str) -> int | None:
    if index_col is False:
        return None
    if isinstance(index_col, str) and index_col in header:
        return header.index(index_col)
    if isinstance(index_col, int) and not isinstance(index_col, bool) and -len(header) <= index_col < len(header):
        return index_col % len(header)
    msg = f"{file!r} has no column index_col={index_col!r}; it has {len(header)}: {few(header, 5)}"
    raise InputError(msg)


def _guessed(header: Sequence[str], text: Sequence[int], file: str) -> int | None:
    if text:
        known = [i for i in text if header[i].lower() in _KNOWN_IDS]
        return (known or list(text))[0]
    named = [i for i, name in enumerate(header) if name.lower() in _KNOWN_IDS or name.startswith("Unnamed:")]
    if named:
        return named[0]
    if share_of_features(header[:1]) == 0 and share_of_features(header[1:]) == 1:
        return 0
    msg = (
        f"{file!r}: no column of row names found among {few(header, 5)}. Name it, index_col='…' or index_col=0, "
        "or pass index_col=False to number the rows."
    )
    raise InputError(msg)
