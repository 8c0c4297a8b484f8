"""What the build compares before it writes: other copies, intercepts, counts, outputs at all-0 and all-1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from _sources import directives, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _sources import Row
    from _wheels import Wheels

TOLERANCE = 1e-6
LINKS: dict[str, Callable[[float], float]] = {
    "identity": lambda y: y,
    "horvath20": lambda y: 21 * math.exp(y) - 1 if y < 0 else 21 * y + 20,
    "horvath48m": lambda y: (49 * math.exp(y) - 1 if y < 0 else 49 * y + 48) / 12,
    "ensemble_anti": lambda y: math.exp(y) - 0.06 if y <= math.log(1.26) else 1.26 * (y - math.log(1.26)) + 1.2,
    "petkovich": lambda y: ((y + 1.712) / 0.1666) ** (1 / 0.4185) / 30.5,
    "two_power": lambda y: 2**y / 30.5,
    "div7": lambda y: y / 7,
    "div30.5": lambda y: y / 30.5,
    "one_minus": lambda y: 1 - y,
    "times2": lambda y: 2 * y,
}


class Difference(NamedTuple):
    """How another copy of a clock differs: the largest gap of shared weights, and in words what is above rounding."""

    source: str
    largest: float
    words: str


def compare(wheels: Wheels, fact: Mapping[str, str], rows: list[Row]) -> list[Difference]:
    """Compare with each other copy that the catalogue names."""
    how = directives(fact["select"])
    keep = {"drop_zero": "", **{k: how[k] for k in ("factor",) if k in how}}
    sources = filter(None, fact["compare"].split(";"))
    return [_difference(source, rows, read_table(wheels, source, keep), fact["form"]) for source in sources]


def _difference(source: str, rows: list[Row], other: list[Row], form: str) -> Difference:
    ours = {r.feature: (r.weight, r.second) for r in rows if r.op == "" and r.weight != 0.0}
    theirs = {r.feature: (r.weight, r.second) for r in other if r.op == ""}
    shared = ours.keys() & theirs.keys()
    gaps = [abs(a - b) for k in shared for a, b in zip(ours[k], theirs[k], strict=True) if not math.isnan(a)]
    # A mean needs only the names: other copies write 1/n for the same thing.
    largest = 0.0 if form == "mean" else max(gaps, default=0.0)
    words = []
    if ours.keys() != theirs.keys():
        words.append(f"{len(ours)} features here, {len(theirs)} there, {len(shared)} shared")
    if largest > TOLERANCE:
        words.append(f"weights differ by {largest:.3g}")
    mine, yours = (next((r.weight for r in table if r.op == "intercept"), None) for table in (rows, other))
    if mine is not None and yours is not None and abs(mine - yours) > TOLERANCE:
        words.append(f"intercept {mine!r} here, {yours!r} there")
    return Difference(source, largest, ", ".join(words))


def facts(fact: Mapping[str, str], rows: list[Row]) -> list[str]:
    """Where the rows disagree with the count, the intercept and the outputs that the catalogue states."""
    found = []
    count = len({r.feature for r in rows if r.op in ("", "square")})
    if str(count) != fact["n_features"]:
        found.append(f"n_features {count}, catalogue {fact['n_features']}")
    intercept = next((r.weight for r in rows if r.op == "intercept"), None)
    if fact["intercept"] and intercept is not None and abs(intercept - float(fact["intercept"])) > 1e-9:
        found.append(f"intercept {intercept!r}, catalogue {fact['intercept']}")
    if fact["link"] in LINKS and not any(r.part for r in rows):
        for column, value in (("check_all0", 0.0), ("check_all1", 1.0)):
            if fact[column]:
                got, want = LINKS[fact["link"]](predictor(rows, fact["form"], value)), float(fact[column])
                if abs(got - want) > 1e-8 * max(1.0, abs(want)):
                    found.append(f"{column} {got!r}, catalogue {want!r}")
    return found


def predictor(rows: list[Row], form: str, value: float) -> float:
    """The predictor of a clock whose features all have one value."""
    if form == "mean":
        return value
    if form == "division":
        return sum((value - r.second) / (r.weight * (1 - r.second)) for r in rows) / len(rows)
    return sum(r.weight if r.op == "intercept" else r.weight * value for r in rows)
