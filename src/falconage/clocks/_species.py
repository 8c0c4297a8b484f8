"""Species by name, and the life-history numbers that mammalian clocks need."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage._text import plain_word
from falconage.clocks._catalog import species_table
from falconage.clocks._links import star_max_age

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = [
    "HUMAN",
    "MOUSE",
    "accepts",
    "canonical_build",
    "latin_name",
    "latin_names",
    "life_history",
    "species_of_build",
]

HUMAN, MOUSE = "homo sapiens", "mus musculus"
RAT = "rattus norvegicus"
_CLOCK_WORDS = {"human": HUMAN, "mouse": MOUSE, "rat": RAT, "monkey": "macaca mulatta"}
_WORDS = {
    **_CLOCK_WORDS,
    **dict.fromkeys(("humans", "h. sapiens", "hs"), HUMAN),
    **dict.fromkeys(("mice", "house mouse", "m. musculus", "mm"), MOUSE),
    **dict.fromkeys(("rats", "norway rat", "brown rat"), RAT),
}
_BUILDS = {
    **{"grcm37": "mm9", "grcm38": "mm10", "grcm39": "mm39", "ncbi37": "mm9"},
    **{"ncbi36": "hg18", "grch37": "hg19", "grch38": "hg38", "b37": "hg19"},
}


def latin_name(name: object) -> str:
    """Latin name in lower case of a species given by its common or latin name; ``""`` where missing.

    Raises
    ------
    InputError
        The species is not in the table of traits and is none that a clock names, or a common name has several rows.
    """
    text = plain_word(name)
    if text == "" or text in _WORDS:
        return _WORDS.get(text, "")
    table = species_table()
    if text in table.index:
        return text
    hits = _common_names().get(text.replace("-", " "), [])
    if len(hits) == 1:
        return hits[0]
    if hits:
        msg = f"{str(name)!r} stands for several species. Type the latin name of one: {', '.join(map(repr, hits))}."
        raise InputError(msg)
    near = get_close_matches(text, [*_WORDS, *_common_names(), *table.index], n=3)
    meant = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
    msg = f"Species {str(name)!r} is not known.{meant} Type its latin name, e.g. species='Mus musculus', or 'human'."
    raise InputError(msg)


@cache
def _common_names() -> dict[str, list[str]]:
    """Common name in lower case → latin names; a cell of the table may hold several names."""
    table = species_table()
    out: dict[str, list[str]] = {}
    for latin, common in table["common"].items():
        for word in str(common).lower().replace("-", " ").split(";"):
            if word.strip():
                out.setdefault(word.strip(), []).append(str(latin))
    return out


def canonical_build(build: str) -> str:
    """Genome build under one name, e.g. ``"mm10"`` for GRCm38; an unknown one comes back in lower case."""
    text = build.strip().lower()
    return _BUILDS.get(text, text)


def species_of_build(build: str) -> str:
    """Latin name of the species of a genome build; ``""`` if the build is not known."""
    name = canonical_build(build)
    return next((latin for prefix, latin in (("mm", MOUSE), ("hg", HUMAN), ("rn", RAT)) if _is_build(name, prefix)), "")


def _is_build(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].isdigit()


def latin_names(values: pd.Series) -> NDArray[np.object_]:
    """:func:`latin_name` of every sample, each distinct value looked up once."""
    code, distinct = pd.factorize(values.astype(object), use_na_sentinel=False)
    return np.array([latin_name(value) for value in distinct], dtype=object)[code]


def accepts(clock_species: tuple[str, ...], sample: str) -> bool:
    """Whether a clock was made for this species (latin name, lower case)."""
    if "mammals" in clock_species:
        return sample != ""
    return sample in {_CLOCK_WORDS.get(word, word.lower()) for word in clock_species}


def life_history(species: NDArray[np.object_]) -> Mapping[str, NDArray[np.float64]]:
    """Gestation, maturity and maximum age of each sample in years, NaN where the table has none.

    ``max_age_star`` is L* of the universal clocks, see :func:`falconage.clocks._links.star_max_age`.
    """
    table = species_table()
    rows = table.reindex(pd.Index(species, dtype=object))
    out = {name: rows[name].to_numpy(np.float64) for name in ("gestation", "maturity", "max_age")}
    out["max_age_star"] = star_max_age(out["max_age"], species)
    return out
