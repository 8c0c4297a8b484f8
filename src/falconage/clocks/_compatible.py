"""Which clocks fit a set of features, and for each that does not, the reason as a sentence."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage.clocks import _catalog
from falconage.clocks._features import Match, index_features, looks_like, match
from falconage.clocks._lines import WEAK_SHARE, Values
from falconage.clocks._panel import Account, Stack, account, assemble, restrict, stack_clocks
from falconage.clocks._species import HUMAN, accepts, canonical_build, latin_name, species_of_build
from falconage.clocks._tissue import fits, simple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from falconage.array._panel import Panel
    from falconage.clocks._clock import Clock

__all__ = ["Fitted", "compatible", "coverage_share", "fit_features", "floor_of", "misfit"]

_MAMMAL_CLOCK = "mammalian1"
_MAMMAL_SHARE = 0.8
"""Share of the mammalian clock's features from which the data are taken for a mammalian array; human arrays carry a
fifth of them."""


class Fitted(NamedTuple):
    """Clocks matched to the features of one data set.

    ``clocks`` can run; ``stack`` and ``account`` describe their terms, ``panel`` and ``columns`` are what the kernels
    take; ``reasons`` has an entry for each clock that cannot, ``shares`` the measured share of every clock.
    """

    clocks: tuple[Clock, ...]
    stack: Stack
    account: Account
    panel: Panel | None
    columns: NDArray[np.int64]
    reasons: dict[str, str]
    shares: dict[str, float]
    any_present: bool


_NOTHING = Fitted((), None, None, None, np.empty(0, np.int64), {}, {}, any_present=False)  # type: ignore[arg-type]


@cache
def _platform_medians() -> Values:
    medians = _catalog.reference_450k()
    return Values(dict(zip(medians.index, medians.tolist(), strict=True)))


def _spelled_as_clocks(user: Mapping[str, float] | None, clocks: Sequence[Clock]) -> Values | None:
    """The user's references by the names that the clocks use; repeated spellings of a feature are averaged."""
    if user is None:
        return None
    features = pd.unique(np.concatenate([c.features for c in clocks]))
    found = match(index_features(list(user)), features)
    values = np.fromiter(user.values(), dtype=np.float64, count=len(user))
    spans = zip(features.tolist(), found.indptr[:-1], found.indptr[1:], strict=True)
    known = {name: float(values[found.columns[a:b]].mean()) for name, a, b in spans if b > a}
    if not known:
        msg = f"reference= holds none of the features of these clocks; its first is {next(iter(user), None)!r}."
        raise InputError(msg)
    return Values(known)


def floor_of(clock: Clock, min_coverage: float) -> float:
    """The smallest measured share at which a clock is reported: the caller's, or the author's where that is higher."""
    return min_coverage if np.isnan(clock.author_floor) else max(min_coverage, clock.author_floor)


def misfit(
    clock: Clock,
    *,
    kind: str,
    genome_build: str | None,
    species: Iterable[str],
    species_stated: bool,
    tissues: Iterable[str] = (),
) -> str:
    """Why a clock cannot be used on such data, before its features are looked for; ``""`` = nothing against it."""
    if clock.modality != "dna_methylation":
        return f"it needs {clock.modality.replace('_', ' ')} data; these are DNA methylation"
    if clock.status != "shipped":
        return clock.reason
    if clock.genome_build:
        if kind != "position":
            return f"its features are positions in {clock.genome_build}; the data have probe ids"
        if genome_build is None:
            build = clock.genome_build
            return f"its features are positions in {build}; type genome_build={build!r} if those of the data are"
        if canonical_build(genome_build) != canonical_build(clock.genome_build):
            return f"its features are positions in {clock.genome_build}; the data are in {genome_build}"
    elif kind == "position":
        return "its features are probe ids; the data have genome positions"
    if not species_stated and clock.species != ("human",):
        return f"it is made for {' and '.join(clock.species)}, and no species is stated; type species= or species_key="
    kinds = set(species)
    if not any(accepts(clock.species, s) for s in kinds):
        named = ", ".join(sorted(s.capitalize() or "unknown" for s in kinds))
        return f"it is made for {' and '.join(clock.species)}; the data are from {named}"
    stated = set(tissues)
    if stated == {"plasma cfDNA"} and clock.tissue != "plasma cfDNA":
        return f"it is made for {clock.tissue}; in cell-free DNA its features do not mean the same"
    return ""


def coverage_share(found: Account, owner: NDArray[np.int64], n_clocks: int) -> NDArray[np.float64]:
    """Measured share of each clock by what is absent alone: the smaller of counts and |weight|, over its tables."""
    count = 1.0 - found.n_absent / np.maximum(found.n_terms, 1)
    weight = 1.0 - np.divide(found.absent_weight, found.total, out=np.zeros_like(found.total), where=found.total > 0)
    share = np.full(n_clocks, np.inf)
    np.minimum.at(share, owner, np.minimum(count, weight))
    return share


def _too_little(clock: Clock, stack: Stack, found: Account, position: int, share: float, floor: float) -> str:
    mine = stack.owner == position
    n_terms, n_absent = int(found.n_terms[mine].max()), int(found.n_absent[mine].max())
    present = n_terms - n_absent
    if share < floor:
        return (
            f"{present} of its {n_terms} features are in the data ({share:.0%} by count or weight); "
            f"at least {floor:.0%} are needed"
        )
    weak = float((found.absent_weak[mine] / found.total[mine]).max())
    if "sample_median" in clock.missing and weak > WEAK_SHARE:
        return (
            f"{n_absent} of its {n_terms} features are absent and have no reference value; they carry {weak:.0%} of "
            f"the weight, at most {WEAK_SHARE:.0%} may be filled by a sample's median. Pass reference= for them"
        )
    if "sample_median" not in clock.missing and weak > 0:
        return f"{n_absent} of its {n_terms} features are absent, some without a reference value; pass reference="
    return ""


def fit_features(
    names: Sequence[str] | pd.Index,
    clocks: Sequence[Clock],
    *,
    min_coverage: float,
    user: Mapping[str, float] | None = None,
    species_stated: bool = True,
) -> Fitted:
    """Match clocks to feature names and refuse those whose absent features leave too little.

    Raises
    ------
    InputError
        The features are those of a mammalian array and no species was stated.
    """
    if not clocks:
        return _NOTHING
    platform = _platform_medians() if any("ref450k" in c.missing for c in clocks) else None
    stack = stack_clocks(clocks, user=_spelled_as_clocks(user, clocks), platform=platform)
    probe = np.empty(0, dtype=object) if species_stated else _catalog.load([_MAMMAL_CLOCK])[0].features
    code, unique = pd.factorize(np.concatenate([stack.feature, probe]))
    found = match(index_features(names), unique)
    n_columns = np.diff(found.indptr)[code]
    if len(probe) and (n_columns[len(stack.feature) :] > 0).mean() >= _MAMMAL_SHARE:
        msg = (
            "The features are those of a mammalian array, on which human clocks look complete for any mammal. "
            "Type species='human' (or another name), or species_key= with a column of obs."
        )
        raise InputError(msg)
    code, n_columns = code[: len(stack.feature)], n_columns[: len(stack.feature)]
    found_account = account(stack, n_columns)
    shares = coverage_share(found_account, stack.owner, len(clocks))
    reasons = {}
    for i, clock in enumerate(clocks):
        reason = _too_little(clock, stack, found_account, i, shares[i], floor_of(clock, min_coverage))
        if reason:
            reasons[clock.id] = reason
    stay = np.array([c.id not in reasons for c in clocks])
    return _fitted(clocks, stack, code, found, stay, reasons, shares, any_present=bool((n_columns > 0).any()))


def _fitted(
    clocks: Sequence[Clock],
    stack: Stack,
    code: NDArray[np.int64],
    found: Match,
    stay: NDArray[np.bool_],
    reasons: dict[str, str],
    shares: NDArray[np.float64],
    *,
    any_present: bool,
) -> Fitted:
    code = code[stay[stack.owner][stack.predictor]]
    kept = stack.keep(stay)
    code, found = restrict(found, code)
    panel, columns = assemble(kept, code, found) if stay.any() else (None, np.empty(0, np.int64))
    return Fitted(
        tuple(c for c, s in zip(clocks, stay, strict=True) if s),
        kept,
        account(kept, np.diff(found.indptr)[code]),
        panel,
        columns,
        reasons,
        {c.id: float(s) for c, s in zip(clocks, shares, strict=True)},
        any_present,
    )


def compatible(
    names: Sequence[str] | pd.Index,
    *,
    clocks: str | Sequence[str] | None = None,
    species: str | None = None,
    tissue: str | None = None,
    genome_build: str | None = None,
    min_coverage: float = 0.8,
) -> pd.DataFrame:
    """Tell for each clock whether it can be scored from these features.

    Parameters
    ----------
    names
        Feature names, e.g. ``adata.var_names``.
    clocks
        Names, wildcards or groups; None = every clock in the catalogue.
    species, tissue, genome_build
        What is known of the samples; species None = human.
    min_coverage
        Smallest share of features, and of their absolute weight, that must be present (0 to 1).

    Returns
    -------
    DataFrame indexed by clock id: ``compatible``, ``coverage`` (share of features present, NaN where not looked up),
    ``tissue_fits`` and ``reason``.

    Examples
    --------
    >>> import falconage as fa
    >>> table = fa.clocks.compatible(fa.datasets.toy().var_names, clocks=["hannum", "thompson"])
    >>> table["compatible"].to_dict()
    {'hannum': True, 'thompson': False}
    """
    ids = [c.id for c in _catalog.facts()] if clocks is None else _catalog.resolve(clocks)
    rows = {c.id: c for c in _catalog.facts()}
    of_build = "" if genome_build is None else species_of_build(genome_build)
    stated = species is not None or of_build != ""
    kind, kinds = looks_like(names), {latin_name(species) if species is not None else of_build or HUMAN}
    word = simple(tissue or "")
    given = {"kind": kind, "genome_build": genome_build, "species": kinds, "species_stated": stated}
    reasons = {i: misfit(rows[i], **given, tissues={word}) for i in ids}  # type: ignore[arg-type]
    left = [i for i in ids if not reasons[i]]
    shares: dict[str, float] = {}
    if left:
        fitted = fit_features(
            names, _catalog.load(left), min_coverage=min_coverage, species_stated=stated or kind != "cpg"
        )
        reasons.update(fitted.reasons)
        shares = fitted.shares
    return pd.DataFrame(
        {
            "compatible": [not reasons[i] for i in ids],
            "coverage": [shares.get(i, np.nan) for i in ids],
            "tissue_fits": [fits(rows[i].tissue, word) for i in ids],
            "reason": [reasons[i] for i in ids],
        },
        index=pd.Index(ids, name="clock"),
    )
