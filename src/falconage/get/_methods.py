"""What to write in a paper about the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from falconage._errors import FalconageError
from falconage._keys import SCORES
from falconage.get._paragraph import LEFT_OUT, floors_of, paragraph, show_floors
from falconage.get._tables import manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData

__all__ = ["Methods", "methods_text"]

_PREDICTOR = {
    "linear": "y = b + Σ w·x",
    "mean": "y = mean of the measured x",
    "division": "y = (2/k) Σ (x − β0) / (δ(1 − β0)) over the k measured CpGs",
}


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
    ``n_present`` (measured), ``n_filled`` (absent features that got a stand-in value), ``filled_from`` (how many
    of them, by source), ``n_cells_filled`` (missing cells, over all samples, of features in the data),
    ``cells_filled_from`` (cells by source, where an absent feature is one in each sample), ``n_cells_imputed``
    (filled before scoring, by a recorded imputation), ``floor`` (of the coverage), ``form``, ``formula``, ``doi``,
    ``citation``, ``licence``, ``patent_notice`` and ``weights_sha256``. What is not known stays blank.

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
    record = _as_used(manifest(adata, key=key))
    table = _table(record)
    return Methods(paragraph(record, table, adata.n_obs), table)


def _as_used(record: dict[str, Any]) -> dict[str, Any]:
    """Forget the stand-ins of clocks scored with ``missing="nan"``: samples that would need them have no score."""
    clocks, absent = record["clocks"].copy(), record["absent"]
    if "missing" not in clocks:
        return record
    strict = clocks["missing"] == "nan"
    for column, nothing in (("n_cells_filled", 0), ("fills", "")):
        if column in clocks:
            clocks.loc[strict, column] = nothing
    kept = absent[~absent["clock"].isin(clocks.index[strict])]
    return {**record, "clocks": clocks, "absent": kept}


def _table(record: Mapping[str, Any]) -> pd.DataFrame:
    clocks, absent = record["clocks"], record["absent"]
    filled = absent[~absent["filled_from"].isin(LEFT_OUT)].groupby("clock")["feature"].nunique()
    cited = _citations(clocks.index)
    columns = {
        "name": clocks["name"],
        "unit": clocks["unit"],
        "n_features": clocks["n_features"],
        "n_present": clocks["n_present"],
        "n_filled": filled.reindex(clocks.index, fill_value=0),
        "filled_from": _filled_from(absent).reindex(clocks.index, fill_value=""),
        "n_cells_filled": _counts(clocks, "n_cells_filled"),
        "cells_filled_from": clocks["fills"].astype(object).fillna("") if "fills" in clocks else "",
        "n_cells_imputed": _counts(clocks, "n_cells_imputed"),
        "floor": pd.Series([show_floors(row) for row in floors_of(clocks)], index=clocks.index, dtype=object),
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


def _counts(clocks: pd.DataFrame, column: str) -> pd.Series:
    """Blank where the record was written before this was counted."""
    if column not in clocks:
        return pd.Series("", index=clocks.index, dtype=object)
    return clocks[column].map(lambda n: "" if pd.isna(n) else int(n)).infer_objects()


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
