"""Write `catalogue.md`, the page of all clocks, from the catalogue that is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

import falconage as fa

if TYPE_CHECKING:
    from sphinx.application import Sphinx

STATUSES = ("shipped", "form pending", "fetch", "unavailable")
INTRO = """---
html_theme.sidebar_secondary.remove: true
---

# Catalogue of clocks

Every score falconage knows, by group. *Scores* are listed, not papers: one paper may bring many scores, and the
proteins of one EpiScore study or the organs of another are many rows, so numbers are only given group by group.

| status | means |
|---|---|
| shipped | the weights come with falconage and the score can be computed now |
| form pending | the method or the weights are known, this version cannot compute it yet |
| fetch | the numbers may not be bundled: you bring them under the terms of their owner |
| unavailable | no usable numbers exist, or their licence forbids use |

The same table in Python: {func}`falconage.clocks.table`; by words: {func}`falconage.clocks.search`.
"""


def cell(value: object) -> str:
    """One table cell; blanks stay blank."""
    text = "" if pd.isna(value) else str(value)
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("*", "\\*").replace("$", "\\$")


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def with_kind(table: pd.DataFrame) -> pd.DataFrame:
    """Add `kind`: the group, and for others than human clocks whom they are for."""
    species = table["species"]
    other = {"human": "", "mouse": ", mouse", "mouse, rat": ", mouse and rat", "C. elegans": ", C. elegans"}
    return table.assign(kind=table["group"].str.replace("_", " ") + species.map(other).fillna(", several species"))


def counts(table: pd.DataFrame) -> list[str]:
    """How many scores of each status a kind has, as a table in Markdown."""
    found = with_kind(table).groupby(["kind", "status"]).size().unstack(fill_value=0).reindex(columns=[*STATUSES])
    rows = [row(str(kind), *(str(n) for n in numbers)) for kind, numbers in found.fillna(0).astype(int).iterrows()]
    return [row("group", *STATUSES), row("---", *["---:"] * 4), *rows]


def doi(value: object) -> str:
    text = cell(value)
    return f"[{text}](https://doi.org/{text})" if text.startswith("10.") and " " not in text else text


def section(group: str, table: pd.DataFrame) -> list[str]:
    """One group: a line a score, those first that can be computed."""
    columns = ["status", "name", "species", "tissue", "unit", "n_features"]
    if table["species"].nunique() == 1:
        columns.remove("species")
    titles = ["id", *columns[:-1], "features", "paper", "licence, or why it is not shipped"]
    lines = [f"## {group[0].upper()}{group[1:]}", "", row(*titles), row(*["---"] * len(titles))]
    for name, clock in table.sort_values("status", key=lambda s: s.map(STATUSES.index), kind="stable").iterrows():
        facts = [cell(clock[column]) for column in columns]
        lines.append(row(f"`{name}`", *facts, doi(clock["doi"]), cell(clock["reason"] or clock["licence"])))
    return lines


def link(found: re.Match[str]) -> str:
    """Turn the first cell of a count into a link to the section."""
    slug = re.sub(r"[^a-z ]", "", found[1].lower()).replace(" ", "-")
    return f"| [{found[1]}](#{slug}) | "


def page(table: pd.DataFrame) -> str:
    linked = [re.sub(r"^\| ([a-zC][^|]*) \| (?=\d)", link, line) for line in counts(table)]
    parts = [INTRO, "## Numbers by group", "", *linked, ""]
    for group, each in with_kind(table).groupby("kind"):
        parts += [*section(str(group), each), ""]
    return "\n".join(parts)


def write(app: Sphinx) -> None:
    """Write the page when it would change."""
    target = Path(app.srcdir) / "catalogue.md"
    text = page(fa.clocks.table())
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before Sphinx looks for sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    print("\n".join(counts(fa.clocks.table())))
