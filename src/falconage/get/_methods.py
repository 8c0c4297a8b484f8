"""What to write in a paper about the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from falconage._errors import FalconageError
from falconage._keys import SCORES
from falconage.get._tables import manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData

__all__ = ["Methods", "methods_text"]

_MANY = 12

_PREDICTOR = {
    "linear": "y = b + Σ w·x",
    "mean": "y = mean of the measured x",
    "division": "y = (2/k) Σ (x − β0) / (δ(1 − β0)) over the k measured CpGs",
}

_SOURCES = {
    "ref_own": "the reference values published with the clock",
    "ref450k": "medians of blood samples on the 450K array",
    "sample_median": "the sample's own median over the clock's measured features",
    "medians_sex": "medians of each sex published with the clock",
    "reference=": "values given by the user",
}
_LEFT_OUT = frozenset({"", "none", "dropped"})


class Methods(NamedTuple):
    """A paragraph and a supplementary table.

    Attributes
    ----------
    text
        One paragraph for a methods section.
    table
        One row for each clock.
    """

    text: str
    table: pd.DataFrame


def methods_text(adata: AnnData, *, key: str = SCORES) -> Methods:
    """Write the methods paragraph and the supplementary table of a scoring.

    Parameters
    ----------
    adata
        An object that :func:`falconage.tl.score_clocks` scored, or :func:`falconage.get.combine` joined.
    key
        Its ``key_added``.

    Returns
    -------
    ``text`` and ``table``; the table's columns are ``name``, ``unit``, ``n_features`` (in the model),
    ``n_present`` (measured), ``n_filled`` (absent features that got a stand-in value), ``filled_from``, ``form``,
    ``formula``, ``doi``, ``citation``, ``licence``, ``patent_notice`` and ``weights_sha256``. What is not
    known stays blank.

    Raises
    ------
    InputError
        There are no scores under ``key``, or they lost their record.

    Examples
    --------
    >>> import falconage as fa
    >>> adata = fa.datasets.toy()
    >>> fa.tl.score_clocks(adata, ["horvath2013", "hannum"])
    >>> methods = fa.get.methods_text(adata)
    >>> methods.text.startswith("Scores were computed with falconage")
    True
    """
    record = manifest(adata, key=key)
    table = _table(record)
    return Methods(_paragraph(record, table, adata.n_obs), table)


def _table(record: Mapping[str, Any]) -> pd.DataFrame:
    clocks, absent = record["clocks"], record["absent"]
    filled = absent[~absent["filled_from"].isin(_LEFT_OUT)].groupby("clock")["feature"].nunique()
    cited = _citations(clocks.index)
    columns = {
        "name": clocks["name"],
        "unit": clocks["unit"],
        "n_features": clocks["n_features"],
        "n_present": clocks["n_present"],
        "n_filled": filled.reindex(clocks.index, fill_value=0),
        "filled_from": _filled_from(absent).reindex(clocks.index, fill_value=""),
        "form": clocks["form"],
        "formula": pd.Series(
            {c: _formula(f, k) for c, f, k in zip(clocks.index, clocks["form"], clocks["link"], strict=True)},
            dtype=object,
        ),
        "doi": clocks["doi"],
        "citation": pd.Series(cited, dtype=object),
        "licence": clocks["licence"],
        "patent_notice": clocks["patent_notice"],
        "weights_sha256": clocks["weights_sha256"],
    }
    return pd.DataFrame(columns, index=clocks.index)


def _filled_from(absent: pd.DataFrame) -> pd.Series:
    """Clock → how many absent features went where, ``"3 ref450k, 1 dropped"``."""
    counts = absent.groupby(["clock", "filled_from"], sort=False).size().reset_index(name="n")
    counts["text"] = counts["n"].astype(str) + " " + counts["filled_from"].astype(object)
    return counts.groupby("clock", sort=False)["text"].agg(", ".join).astype(object)


def _formula(form: str, link: str) -> str:
    from falconage.clocks._links import LINKS

    predictor = _PREDICTOR.get(form, form)
    if link == "identity":
        return f"{predictor}; score = y" if form in _PREDICTOR else predictor
    return f"{predictor}; score = {LINKS[link].formula if link in LINKS else f'{link}(y)'}"


def _citations(ids: pd.Index) -> dict[str, str]:
    """Blank where the catalogue does not know the clock (a user's own file) or its paper."""
    from falconage.clocks._catalog import facts

    known = {clock.id: clock for clock in facts()}
    cited = {}
    for clock in ids:
        try:
            cited[clock] = known[clock].cite("text") if clock in known else ""
        except FalconageError:
            cited[clock] = ""
    return cited


def _paragraph(record: Mapping[str, Any], table: pd.DataFrame, n_obs: int) -> str:
    sentences = [
        f"Scores were computed with falconage {_software(record['versions'])} for {_n(n_obs, 'sample')}.",
        _clock_sentence(table),
        _absent_sentence(record["absent"], table),
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
    filled = absent[~absent["filled_from"].isin(_LEFT_OUT)]
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


def _coverage_sentence(clocks: pd.DataFrame) -> str:
    floors = sorted({float(f) for f in clocks["floor"].dropna()})
    floor = " or ".join(f"{f:g}" for f in floors)
    lowest = clocks["coverage_min"].min()
    return (
        "Coverage is the smaller of the share of features and the share of absolute weights measured in a sample; "
        f"below {floor} no score was given. The lowest coverage was {lowest:.3f}."
    )


def _device_sentence(record: Mapping[str, Any]) -> str:
    device = record.get("device", "")
    shown = {"cpu": "the CPU", "mixed": "several devices"}.get(device, device)
    return f"Computed on {shown}." if device else ""


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
