"""The hand-maintained facts of ``catalogue.tsv`` and what they say about shipping."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Fact = dict[str, str]

COLUMNS = (
    *("id", "name", "year", "doi", "modality", "species", "tissue", "unit", "scale", "group", "n_features", "form"),
    *("normaliser", "link", "missing", "covariates", "expects", "status", "reason", "licence", "patent_notice"),
    *("source", "sha256", "aliases", "note", "core", "cohort_dependent", "age_min", "age_max", "age_range_confirmed"),
    *("platform", "genome_build", "target", "author_floor"),
)
"""Columns of ``clocks/data/catalog.tsv``."""

SCORABLE_FORMS = frozenset({"linear", "mean", "division"})
MODALITIES = {
    "clinical": "Clocks of clinical chemistry",
    "proteomics": "Protein clocks",
    "single_cell_rna": "Single-cell RNA clocks",
    "spatial_transcriptomics": "Spatial clocks",
    "transcriptomics": "RNA clocks",
}


def read(path: Path) -> list[Fact]:
    """Rows of a tab-separated file, as text."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(path: Path, columns: Iterable[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Tab-separated text, no quoting, one newline after each row."""
    columns = list(columns)
    lines = ["\t".join(columns), *("\t".join(row[c] for c in columns) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def has_table(fact: Fact) -> bool:
    """Whether the weights of this clock go into the package."""
    if fact["modality"] != "dna_methylation" or fact["verdict"] not in ("SHIP", "NOTICE"):
        return False
    return fact["form"] in SCORABLE_FORMS or fact["cohort_dependent"] == "yes"


def status(fact: Fact) -> tuple[str, str]:
    """Status and reason of a clock, as the package states them."""
    verdict = fact["verdict"]
    if verdict == "FETCH":
        return "fetch", fact["reason"]
    if verdict not in ("SHIP", "NOTICE"):
        return "unavailable", fact["reason"]
    if has_table(fact) and fact["cohort_dependent"] == "no" and fact["normaliser"] == "none":
        return "shipped", ""
    if has_table(fact):
        return (
            "form pending",
            "Its table is here; it needs the mean and SD of a cohort, which this version does not use.",
        )
    if fact["modality"] in MODALITIES:
        return "form pending", f"{MODALITIES[fact['modality']]} are not computed by this version."
    return "form pending", f"The form {fact['form']!r} is not computed by this version."


def check(facts: list[Fact], ambiguous: list[Fact]) -> None:
    """Every id once, every alias for one clock, no alias that is refused as ambiguous."""
    owner: dict[str, str] = {}
    refused = {row["name"].lower() for row in ambiguous if row["kind"] == "refuse"}
    for fact in facts:
        for name in (fact["id"], *filter(None, fact["aliases"].split(";"))):
            key = name.lower()
            if owner.setdefault(key, fact["id"]) != fact["id"]:
                raise ValueError(f"{name!r} names both {owner[key]} and {fact['id']}")
            if key in refused:
                raise ValueError(f"{name!r} of {fact['id']} is on the list of ambiguous names")
