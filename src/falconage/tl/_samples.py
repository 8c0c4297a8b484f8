"""What obs says about the samples, parsed once; problems are kept until a clock needs the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._adata import obs_column
from falconage._errors import InputError
from falconage.clocks._species import HUMAN, latin_name, latin_names, species_of_build
from falconage.clocks._tissue import simple
from falconage.tl._covariates import check_age_unit, parse_age, parse_sex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData
    from numpy.typing import NDArray

__all__ = ["Samples", "read_samples"]

_SPECIES = "species"
"""Column of obs that is read where neither ``species`` nor ``species_key`` is given."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """The samples of one object, n.

    Attributes
    ----------
    tissue, species
        n: the house's word, ``""`` where unknown.
    species_stated
        Whether the user said the species, or it follows from the genome build.
    age
        n, years; None if it could not be read, then ``age_problem`` says why.
    sex
        n: ``"female"``, ``"male"``, ``""``; None if it could not be read, then ``sex_problem`` says why.
    notes
        What was understood, for the record.
    """

    n: int
    tissue: NDArray[np.object_]
    species: NDArray[np.object_]
    species_stated: bool
    age: NDArray[np.float64] | None
    age_problem: str
    sex: NDArray[np.object_] | None
    sex_problem: str
    notes: tuple[str, ...]


def _no_column(adata: AnnData, key: str, argument: str) -> str:
    """Say that a column of obs is not there, and which one differs by letter case only."""
    near = [str(c) for c in adata.obs.columns if str(c).lower() == key.lower()]
    advice = f"type {argument}={near[0]!r}" if near else f"add it, or name another column with {argument}="
    return f"there is no obs[{key!r}]; {advice}"


def _sex(
    adata: AnnData, sex_key: str, sex_map: Mapping[Any, str] | None
) -> tuple[NDArray[np.object_] | None, str, list[str]]:
    key = sex_key if sex_key in adata.obs.columns or "female" not in adata.obs.columns else "female"
    column = obs_column(adata, key)
    if column is None:
        return None, _no_column(adata, sex_key, "sex_key"), []
    try:
        sex, odd = parse_sex(column, sex_map, key)
    except InputError as error:
        return None, str(error), []
    counts = {word: int((sex == word).sum()) for word in ("female", "male", "")}
    notes = [f"sex from obs[{key!r}]: {counts['female']} female, {counts['male']} male, {counts['']} unknown"]
    if odd:
        notes.append(f"not understood as sex: {', '.join(map(repr, odd[:5]))}")
    return sex, "", notes


def _age(adata: AnnData, key: str, unit: str) -> tuple[NDArray[np.float64] | None, str]:
    column = obs_column(adata, key)
    if column is None:
        return None, _no_column(adata, key, "age_key")
    try:
        return parse_age(column, unit, key), ""
    except InputError as error:
        return None, str(error)


def _species(
    adata: AnnData, species: str | None, species_key: str | None, genome_build: str | None
) -> tuple[NDArray[np.object_], bool]:
    n = adata.n_obs
    if species is not None and species_key is not None:
        msg = f"Got species={species!r} and species_key={species_key!r}; type one of them."
        raise InputError(msg)
    if species is not None:
        return np.full(n, latin_name(species), dtype=object), True
    if species_key is not None:
        column = obs_column(adata, species_key)
        if column is None:
            msg = f"species_key={species_key!r} is not a column of obs. Columns: {list(map(str, adata.obs.columns))}."
            raise InputError(msg)
        return latin_names(column), True
    named = obs_column(adata, _SPECIES)
    if named is not None:
        return latin_names(named), True
    known = "" if genome_build is None else species_of_build(genome_build)
    if known:
        return np.full(n, known, dtype=object), True
    return np.full(n, HUMAN, dtype=object), False


def read_samples(
    adata: AnnData,
    *,
    age_key: str,
    age_unit: str,
    sex_key: str,
    sex_map: Mapping[Any, str] | None,
    species: str | None,
    species_key: str | None,
    genome_build: str | None,
    tissue_key: str,
    needs_sex: bool,
) -> Samples:
    """Parse age, species, tissue and, if a clock needs it, sex.

    Species not stated means human, and the record says it was assumed.
    """
    check_age_unit(age_unit)
    kinds, stated = _species(adata, species, species_key, genome_build)
    age, age_problem = _age(adata, age_key, age_unit)
    sex, sex_problem, notes = _sex(adata, sex_key, sex_map) if needs_sex else (None, "", [])
    column = obs_column(adata, tissue_key)
    if column is None:
        tissue = np.full(adata.n_obs, "", dtype=object)
        notes.append(f"tissue not stated (no obs[{tissue_key!r}])")
    else:
        code, distinct = pd.factorize(column.astype(object), use_na_sentinel=False)
        tissue = np.array([simple(value) for value in distinct], dtype=object)[code]
    if age is None and age_key in adata.obs.columns:
        notes.append(f"age not read: {age_problem}")
    if not stated:
        notes.append("species not stated: taken as human")
    return Samples(adata.n_obs, tissue, kinds, stated, age, age_problem, sex, sex_problem, tuple(notes))
