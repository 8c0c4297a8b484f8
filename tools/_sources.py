"""From a member of a wheel to the rows of one clock.

The column ``select`` of ``catalogue.tsv`` says how a table is read: directives separated by ``;``.

``coef=NAME`` column with the weights; ``rows=COLUMN:VALUE`` keep these rows; ``reference=NAME`` column with the clock's
own reference values; ``reference_file=SOURCE`` the same from another member; ``squares=SUFFIX`` features that carry the
suffix enter squared; ``factor=X`` multiply the weights; ``drop=ID`` and ``drop_zero`` leave rows out; ``repeats=first``
keep the first of repeated features; ``intercept=catalogue`` the file rounds it; ``female=``, ``male=`` a model per sex.
"""

from __future__ import annotations

import csv
import io
import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import _unpickle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _wheels import Wheels

NAN = math.nan
FEATURE_COLUMNS = ("probe", "CpGmarker", "CpG", "")
WEIGHT_COLUMNS = ("coef", "CoefficientTraining", "delta")
FIT = "omniage@0.99.5:omniage/data/DNAmFitAge"


class Row(NamedTuple):
    """One term of a clock, as it stands in the weight table."""

    part: str
    feature: str
    op: str
    weight: float
    reference: float = NAN
    second: float = NAN


def directives(select: str) -> dict[str, str]:
    """Parse the column ``select``."""
    return {key: value for key, _, value in (item.partition("=") for item in select.split(";") if item)}


def read_clock(wheels: Wheels, fact: Mapping[str, str]) -> list[Row]:
    """Rows of one clock: intercept first, then the order of the source, then covariates."""
    how = directives(fact["select"])
    if "female" in how:
        return [row for part in ("female", "male") for row in _fitness(wheels, part, how[part])]
    table = read_table(wheels, fact["source"], how)
    if fact["form"].startswith("linear"):
        return with_intercept(table, fact["intercept"], override=how.get("intercept") == "catalogue")
    rows = [row for row in table if row.op == ""]
    if fact["form"] == "division" and not all(r.weight * (1 - r.second) > 0 for r in rows):
        raise ValueError(f"{fact['id']}: a site with a rate that is not above 0 or a ground state that is not below 1")
    return [row._replace(weight=1.0) for row in rows] if fact["form"] == "mean" else rows


def read_table(wheels: Wheels, source: str, how: Mapping[str, str]) -> list[Row]:
    """Read one member, csv or pickle, in its own order and apply the directives."""
    data = wheels.read(source)
    rows = _pickled(data) if source.endswith(".pkl") else _csv(data, how)
    dropped = how.get("drop")
    factor = float(how.get("factor", 1))
    rows = [r for r in rows if r.feature != dropped and not ("drop_zero" in how and r.op == "" and r.weight == 0.0)]
    rows = [r if r.op else r._replace(weight=r.weight * factor) for r in rows]
    rows = _squares(rows, how.get("squares"))
    if "reference_file" in how:
        means = {r["probe"]: float(r["ref_mean"]) for r in _records(wheels.read(how["reference_file"]))}
        rows = [r if r.op == "intercept" else r._replace(reference=means[r.feature]) for r in rows]
    return _unique(rows, source, keep_first=how.get("repeats") == "first")


def with_intercept(rows: list[Row], expected: str, *, override: bool = False) -> list[Row]:
    """The intercept as first row; from the catalogue where the file has none or rounds it."""
    found = [r for r in rows if r.op == "intercept"]
    if not found or override:
        found = [Row("", "", "intercept", float(expected or 0.0))]
    return [*found, *(r for r in rows if r.op != "intercept")]


def _csv(data: bytes, how: Mapping[str, str]) -> list[Row]:
    records = _records(data)
    column, _, wanted = how.get("rows", "").partition(":")
    first = records[0]
    feature = next(name for name in FEATURE_COLUMNS if name in first)
    weight = how.get("coef") or next(name for name in WEIGHT_COLUMNS if name in first)
    reference = how.get("reference")
    return [
        _row(r[feature], _number(r[weight]), _number(r.get(reference) or ""), _number(r.get("beta0", "")))
        for r in records
        if not column or r[column] == wanted
    ]


@lru_cache(maxsize=2)  # the 109 EpiScores share one member
def _records(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def _number(text: str) -> float:
    return NAN if text in ("", "NA") else float(text)


def _row(name: str, weight: float, reference: float = NAN, second: float = NAN) -> Row:
    if name.strip("()").lower() == "intercept":
        return Row("", "", "intercept", weight)
    if name == "Age":
        return Row("", "age", "covariate", weight)
    return Row("", name, "", weight, reference, second)


def _pickled(data: bytes) -> list[Row]:
    fields = _unpickle.loads(data).fields
    rows = [_row(name.replace("_", ":") if name.startswith("chr") else name, w) for name, w in fields["coef"].items()]
    return [Row("", "", "intercept", float(fields["Intercept"])), *rows]


def _squares(rows: list[Row], suffix: str | None) -> list[Row]:
    if suffix is None:
        return rows
    return [
        r._replace(feature=r.feature.removesuffix(suffix), op="square") if r.feature.endswith(suffix) else r
        for r in rows
    ]


def _fitness(wheels: Wheels, part: str, model: str) -> list[Row]:
    medians = {r["probe"]: float(r["median_val"]) for r in _records(wheels.read(f"{FIT}_{part.title()}_Medians.csv"))}
    rows = read_table(wheels, f"{FIT}_SubModels.csv", {"rows": f"model_name:{model}"})
    rows = [r._replace(part=part, reference=medians[r.feature] if r.op == "" else NAN) for r in rows]
    return sorted(rows, key=lambda r: ("intercept", "", "covariate").index(r.op))


def _unique(rows: list[Row], source: str, *, keep_first: bool) -> list[Row]:
    seen: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        key = row[:3]
        if key in seen and not keep_first:
            raise ValueError(f"{source} lists {row.feature} twice")
        if math.isnan(row.weight):
            raise ValueError(f"{source} has no weight for {row.feature}")
        seen.setdefault(key, row)
    return list(seen.values())
