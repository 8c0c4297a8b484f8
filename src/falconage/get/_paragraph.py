"""The sentences of the methods paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from falconage.get._fills import read_fills

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["LEFT_OUT", "floors_of", "paragraph", "show_floors"]

_MANY = 12

_SOURCES = {
    "ref_own": "the reference values published with the clock",
    "ref450k": "medians of blood samples on the 450K array",
    "sample_median": "the sample's own median over the clock's measured features",
    "medians_sex": "medians of each sex published with the clock",
    "reference=": "values given by the user",
    "dropped": "left out of the mean",
}
LEFT_OUT = frozenset({"", "none", "dropped"})


def floors_of(clocks: pd.DataFrame) -> list[list[float]]:
    """Return the floors of each clock: two, lowest and highest, where objects scored apart were combined."""
    columns = [column for column in ("floor", "floor_max") if column in clocks]
    return [[floor for floor in row if not pd.isna(floor)] for row in clocks[columns].to_numpy(dtype=float)]


def show_floors(floors: Iterable[float]) -> str:
    """Write one floor as ``"0.8"``, several as the range ``"0.5 to 0.8"``."""
    ends = sorted(floors)
    return " to ".join(dict.fromkeys(f"{floor:g}" for floor in (ends[0], ends[-1]))) if ends else ""


def paragraph(record: Mapping[str, Any], table: pd.DataFrame, n_obs: int) -> str:
    """Join the sentences that apply into a paragraph for a methods section."""
    sentences = [
        f"Scores were computed with falconage {_software(record['versions'])} for {_n(n_obs, 'sample')}.",
        _clock_sentence(table),
        _absent_sentence(record["absent"], table),
        _cells_sentence(record["clocks"]),
        _imputed_sentence(record["clocks"]),
        _strict_sentence(record["clocks"]),
        _coverage_sentence(record["clocks"]),
        _device_sentence(record),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _software(versions: Mapping[str, str]) -> str:
    names = {"python": "Python", "anndata": "anndata", "numpy": "NumPy"}
    others = ", ".join(f"{shown} {versions[name]}" for name, shown in names.items() if name in versions)
    return versions.get("falconage", "of unknown version") + (f" ({others})" if others else "")


def _clock_sentence(table: pd.DataFrame) -> str:
    if len(table) > _MANY:
        papers = table.loc[table["doi"] != "", "doi"].nunique()
        return (
            f"{len(table)} clocks of {_n(papers, 'publication')} were scored; names, versions and DOIs are in the "
            "supplementary table."
        )
    shown = "; ".join(_clock(str(clock), facts) for clock, facts in table.to_dict("index").items())
    return f"{'This clock was' if len(table) == 1 else 'These clocks were'} scored: {shown}."


def _clock(clock: str, facts: Mapping[Any, Any]) -> str:
    doi = f"; doi:{facts['doi']}" if facts["doi"] else ""
    version = facts["weights_sha256"][:8] or "unknown"
    features = _n(int(facts["n_features"]), "feature")
    return f"{facts['name']} ({clock}, in {facts['unit']}; {features}{doi}; weights sha256 {version})"


def _absent_sentence(absent: pd.DataFrame, table: pd.DataFrame) -> str:
    """Say what stood in for features that are not in the data, and which clocks went without."""
    filled = absent[~absent["filled_from"].isin(LEFT_OUT)]
    dropped = absent[absent["filled_from"] == "dropped"]
    sentences = []
    if len(filled):
        where = "; ".join(_SOURCES.get(source, source) for source in pd.unique(filled["filled_from"]))
        most, n_features = _largest(table)
        sentences.append(
            f"Absent features were replaced by {where}: {_n(int(table['n_filled'].sum()), 'feature')} over all clocks, "
            f"at most {int(table['n_filled'].max())} of {n_features} in {most}."
        )
    else:
        sentences.append("No absent feature was replaced.")
    if len(dropped):
        n_clocks = _n(dropped["clock"].nunique(), "clock")
        sentences.append(f"In {n_clocks}, means over features, absent features were left out ({len(dropped):,}).")
    return " ".join(sentences)


def _largest(table: pd.DataFrame) -> tuple[str, int]:
    position = int(table["n_filled"].to_numpy().argmax())
    return str(table.index[position]), int(table["n_features"].iloc[position])


def _cells_sentence(clocks: pd.DataFrame) -> str:
    """Say what stood in for cells without a value; silent where the record did not count them."""
    if "n_cells_filled" not in clocks:
        return ""
    counts = clocks["n_cells_filled"].fillna(0).astype(int)
    total = int(counts.sum())
    if not total:
        return "No missing cell of a feature in the data was replaced."
    fills = read_fills(clocks["fills"]) if "fills" in clocks else {}
    where = "; ".join(f"{_SOURCES.get(source, source)} ({n:,})" for source, n in fills.items() if n)
    most = int(counts.to_numpy().argmax())
    return (
        f"{_n(total, 'missing cell')} of features in the data {'was' if total == 1 else 'were'} replaced or left out, "
        f"summed over clocks and samples (most, {counts.iloc[most]:,}, in {clocks.index[most]})"
        + (f"; by source, with an absent feature counted once in each sample: {where}." if where else ".")
    )


def _imputed_sentence(clocks: pd.DataFrame) -> str:
    total = int(clocks["n_cells_imputed"].fillna(0).sum()) if "n_cells_imputed" in clocks else 0
    if not total:
        return ""
    return (
        f"{_n(total, 'cell')} that had been imputed before scoring {'was' if total == 1 else 'were'} used with the "
        "imputed value, counted as not measured in coverage and bound (summed over clocks and samples)."
    )


def _strict_sentence(clocks: pd.DataFrame) -> str:
    strict = int((clocks["missing"] == "nan").sum()) if "missing" in clocks else 0
    if not strict:
        return ""
    return f"In {_n(strict, 'clock')}, samples that lacked a feature got no score and nothing was replaced."


def _coverage_sentence(clocks: pd.DataFrame) -> str:
    floors = show_floors([floor for row in floors_of(clocks) for floor in row])
    lowest = clocks["coverage_min"].min()
    some = " (which one applies is in the supplementary table)" if " to " in floors else ""
    if "floor_max" in clocks and (clocks["floor"] < clocks["floor_max"]).any():
        some = " (by clock, and by the object that a sample was scored in)"
    below = f"below a floor of {floors}{some}" if some else f"below {floors}"
    return (
        "Coverage is the smaller of the share of features and the share of absolute weights measured in a sample; "
        f"{below} no score was given. The lowest coverage was {lowest:.3f}."
    )


def _device_sentence(record: Mapping[str, Any]) -> str:
    device = record.get("device", "")
    shown = {"cpu": "the CPU", "mixed": "several devices"}.get(device, device)
    return f"Computed on {shown}." if device else ""


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
