"""Species by name, and the life-history numbers that mammalian clocks need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage.clocks._catalog import species_table
from falconage.clocks._links import star_max_age

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["HUMAN", "MOUSE", "accepts", "latin_name", "latin_names", "life_history"]

HUMAN, MOUSE = "homo sapiens", "mus musculus"
_CLOCK_WORDS = {"human": HUMAN, "mouse": MOUSE, "rat": "rattus norvegicus", "monkey": "macaca mulatta"}
_UNKNOWN = frozenset({"", "nan", "na", "none", "unknown", "<na>"})


def latin_name(name: object) -> str:
    """Latin name in lower case of a species given by its common or latin name; ``""`` where missing.

    Raises
    ------
    InputError
        The species is not in the table of traits and is none that a clock names.
    """
    text = " ".join(str(name).strip().lower().replace("_", " ").split())
    if text in _UNKNOWN:
        return ""
    if text in _CLOCK_WORDS:
        return _CLOCK_WORDS[text]
    table = species_table()
    if text in table.index:
        return text
    common = table["common"].fillna("").str.lower()
    hits = table.index[common == text]
    if len(hits):
        return str(hits[0])
    msg = f"Species {str(name)!r} is not known. Type its latin name, e.g. species='Mus musculus', or 'human', 'mouse'."
    raise InputError(msg)


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
