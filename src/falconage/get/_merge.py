"""Merge the records of several scorings; knows no AnnData."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage._sanitise import sanitise
from falconage.get._fills import read_fills, write_fills

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["merge_records"]

_MUST_AGREE = ("weights_sha256", "unit", "scale", "form", "link")
_OWN = ("created", "input", "output", "params", "versions", "calls")
_MIXED = "mixed"


def merge_records(records: Sequence[Mapping[str, Any]], coverage: pd.DataFrame) -> dict[str, Any]:
    """Merge manifests; ``coverage`` is that of all samples, n_obs × n_scores.

    Raises
    ------
    InputError
        Records of different layout, or one clock with different weights, unit, scale, form or link.
    """
    schemas = {int(record.get("schema", 0)) for record in records}
    if len(schemas) > 1:
        msg = f"The records have different layouts ({sorted(schemas)}). Score all with one version of falconage."
        raise InputError(msg)
    clocks = _clocks([record["clocks"] for record in records], coverage)
    parts = [part for record in records for part in _parts(record)]
    inputs = [record.get("input", {}) for record in records]
    merged = {
        "schema": schemas.pop(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "params": _agreed([record.get("params", {}) for record in records]),
        "input": _agreed(inputs) | {n: sum(int(one.get(n, 0)) for one in inputs) for n in ("n_obs", "imputed_cells")},
        "versions": _versions([record.get("versions", {}) for record in records]),
        "clocks": clocks,
        "refused": _refused([record["refused"] for record in records if "refused" in record]),
        "absent": _absent([record["absent"] for record in records if "absent" in record]),
        "warnings": _union(records, "warnings"),
        "samples": _union(records, "samples"),
        "device": _common([d for d in clocks.get("device", ()) if d]),
        "parts": {str(i): part for i, part in enumerate(parts)},
    }
    clean: dict[str, Any] = sanitise(merged, name="the merged record")
    return clean


def _clocks(tables: Sequence[pd.DataFrame], coverage: pd.DataFrame) -> pd.DataFrame:
    ids = list(dict.fromkeys(clock for table in tables for clock in table.index))
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    found = [{row["__id__"]: row for row in _rows(table)} for table in tables]
    rows = [_clock(clock, [by_id[clock] for by_id in found if clock in by_id], columns) for clock in ids]
    if "floor" in columns:
        columns = [c for c in columns if c != "floor_max"] + ["floor_max"]
    merged = pd.DataFrame(rows, index=pd.Index(ids, dtype=object, name="clock"), columns=columns)
    if "coverage_median" in columns:
        medians = [float(coverage[c].median()) if c in coverage else np.nan for c in ids]
        merged["coverage_median"] = medians
    return merged


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.astype(object).to_dict("records")
    return [{str(k): v for k, v in row.items()} | {"__id__": i} for i, row in zip(table.index, rows, strict=True)]


def _clock(clock: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for column in columns:
        values = [row[column] for row in rows if column in row]
        same = all(_equal(value, values[0]) for value in values)
        if not same and column in _MUST_AGREE:
            shown = " and ".join(sorted({str(v)[:12] or "none" for v in values}))
            msg = (
                f"Clock {clock!r} was scored with different {column} ({shown}), so its columns are different scores. "
                f"Score all objects again with one version: fa.tl.score_clocks(adata, {clock!r})."
            )
            raise InputError(msg)
        if column in _REDUCE:
            merged[column] = _REDUCE[column](values)
        elif same:
            merged[column] = values[0] if values else None
        elif any(isinstance(value, str) for value in values):
            merged[column] = _MIXED
        else:
            merged[column] = _lowest(values)
    return merged | {"floor_max": _highest(row.get(name) for row in rows for name in ("floor", "floor_max"))}


def _lowest(values: Iterable[Any]) -> Any:
    return min((v for v in values if not pd.isna(v)), default=np.nan)


def _highest(values: Iterable[Any]) -> Any:
    return max((v for v in values if not pd.isna(v)), default=np.nan)


def _sum(values: Iterable[Any]) -> Any:
    return sum(v for v in values if not pd.isna(v))


def _sum_fills(values: Iterable[Any]) -> str:
    return write_fills(read_fills(values))


_REDUCE: dict[str, Callable[[Iterable[Any]], Any]] = {
    **dict.fromkeys(("n_scored", "n_cells_filled", "n_cells_imputed", "n_samples_median_filled"), _sum),
    **dict.fromkeys(("n_absent_filled", "median_filled_share_max", "share_below_ground"), _highest),
    "fills": _sum_fills,
}


def _parts(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of an already combined record, else the record as the one part."""
    if "parts" in record:
        kept = record["parts"]
        return [dict(kept[i]) for i in sorted(kept, key=int)]
    return [{name: record[name] for name in _OWN if name in record}]


def _agreed(dicts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keep what is the same everywhere; the rest is ``"mixed"``, never one part's value."""
    keys = list(dict.fromkeys(key for one in dicts for key in one))
    return {key: _common([one.get(key) for one in dicts]) for key in keys}


def _common(values: Sequence[Any]) -> Any:
    if not values:
        return ""
    return values[0] if all(_equal(value, values[0]) for value in values) else _MIXED


def _union(records: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    return list(dict.fromkeys(str(line) for record in records for line in record.get(name, ())))


def _versions(dicts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    names = dict.fromkeys(name for one in dicts for name in one)
    return {name: ", ".join(sorted({str(one[name]) for one in dicts if name in one})) for name in names}


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_equal(a[k], b[k]) for k in a)
    if isinstance(a, pd.DataFrame) or isinstance(b, pd.DataFrame):
        return isinstance(a, pd.DataFrame) and isinstance(b, pd.DataFrame) and a.equals(b)
    if np.ndim(a) or np.ndim(b):
        return np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
    return bool(a == b) or bool(pd.isna(a) and pd.isna(b))


def _refused(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    reasons: dict[str, list[str]] = {}
    for table in tables:
        for clock, reason in table["reason"].items():
            known = reasons.setdefault(str(clock), [])
            if str(reason) not in known:
                known.append(str(reason))
    index = pd.Index(list(reasons), dtype=object, name="clock")
    return pd.DataFrame({"reason": ["; ".join(r) for r in reasons.values()]}, index=index, dtype=object)


def _absent(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    rows = [table for table in tables if len(table)]
    if not rows:
        return pd.DataFrame({c: pd.Series([], dtype=object) for c in ("clock", "feature", "filled_from")})
    return pd.concat([row.astype(object) for row in rows], ignore_index=True).drop_duplicates(ignore_index=True)
