"""What will be computed and what will not, with the reasons; nothing but names and obs is read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from falconage._errors import CovariateWarning, InputError, MismatchWarning, RefusedError
from falconage._text import few, number
from falconage.clocks import _catalog
from falconage.clocks._compatible import Fitted, fit_features, floor_of, misfit
from falconage.clocks._features import looks_like
from falconage.clocks._links import LINKS
from falconage.clocks._species import accepts, life_history
from falconage.clocks._tissue import CFDNA, DEFAULT_TISSUES, fits
from falconage.tl._covariates import PER_YEAR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from falconage._adata import Source
    from falconage.clocks._clock import Clock
    from falconage.tl._samples import Samples

__all__ = ["Plan", "Request", "make_plan", "plan_table", "read_request"]

_MODALITIES = ("dna_methylation",)
_FEW = 3


class Request(NamedTuple):
    """Which clocks were asked for: their ids, and those among them that were typed by name."""

    ids: tuple[str, ...]
    named: frozenset[str]
    default: bool


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Clocks that run, matched to the data; clocks that do not, with the reason; what to warn of."""

    request: Request
    modality: str
    fitted: Fitted
    refused: dict[str, str]
    warnings: tuple[tuple[type[Warning], str], ...]
    floors: dict[str, float]
    samples: Samples

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The clocks that run, in the order of the scores."""
        return self.fitted.clocks


def read_request(clocks: str | Sequence[str] | None) -> Request:
    """Resolve every name before anything else happens; None stands for the core clocks."""
    if clocks is None:
        return Request(tuple(c.id for c in _catalog.facts() if c.core), frozenset(), default=True)
    names = [clocks] if isinstance(clocks, str) else list(clocks) if isinstance(clocks, Iterable) else []
    if not names or not all(isinstance(name, str) for name in names):
        msg = (
            f"clocks={clocks!r}; expected names, e.g. clocks=['horvath2013', '@mitotic'], or None for the core clocks."
        )
        raise InputError(msg)
    ids = _catalog.resolve(names)
    typed = [n for n in names if n.lower() != "all" and not n.startswith("@") and not set("*?[") & set(n)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a notice on a name was given by the line above
        named = _catalog.resolve(typed) if typed else []
    return Request(tuple(ids), frozenset(named), default=False)


def _modality(names: pd.Index, obs_names: pd.Index, raw_names: pd.Index | None, asked: str | None) -> tuple[str, str]:
    """The kind of data and of feature names; or an error that says what the names look like."""
    kind = looks_like(names)
    if asked is not None and asked not in _MODALITIES:
        msg = f"modality={asked!r}: this version scores DNA methylation only. Type modality='dna_methylation'."
        raise InputError(msg)
    if kind != "other":
        return _MODALITIES[0], kind
    shown = ", ".join(repr(n) for n in list(names[:_FEW]))
    if looks_like(obs_names) != "other":
        msg = f"The CpG ids are in obs_names, the features are {shown}: the object is transposed. Type adata = adata.T."
        raise InputError(msg)
    if raw_names is not None and looks_like(raw_names) != "other":
        msg = f"The features are {shown}, and adata.raw holds CpG ids. Type use_raw=True."
        raise InputError(msg)
    if asked is not None:
        return asked, "cpg"
    msg = (
        f"The features are {shown}: neither CpG ids (cg00000029) nor positions (chr10:111559529). If a column of "
        "var holds the CpG ids, type feature_key=; if some features are CpGs, modality='dna_methylation'."
    )
    raise InputError(msg)


def _unfit_by_default(clock: Clock, tissues: set[str]) -> str:
    """Why a core clock is left out where no clock was asked for: it is made for another tissue.

    Where the tissue is not stated, multi-tissue and blood clocks stay.
    """
    known = sorted(t for t in tissues if t)
    if (not known and clock.tissue in DEFAULT_TISSUES) or any(fits(clock.tissue, t) for t in known):
        return ""
    return f"not run by default: it is made for {clock.tissue}, and the tissue is {', '.join(known) or 'not stated'}"


def _lacks_covariates(clock: Clock, samples: Samples) -> str:
    if "female" in clock.covariates and samples.sex is None:
        return f"it needs sex: {samples.sex_problem}"
    if "age" in clock.covariates and samples.age is None:
        return f"it needs age: {samples.age_problem}"
    for name in LINKS[clock.link].needs:
        kinds = pd.unique(samples.species)
        if np.isnan(life_history(kinds)[name]).all():
            named = ", ".join(sorted(kind.capitalize() for kind in kinds))
            return f"it needs the {name.replace('_', ' ')} of {named}, which the table of species does not have"
    return ""


def _mismatches(clocks: Sequence[Clock], samples: Samples) -> list[tuple[type[Warning], str]]:
    """One warning a kind: tissue, confirmed age range, assumed or missing covariates."""
    notes: list[tuple[type[Warning], str]] = []
    known = sorted(t for t in set(samples.tissue) if t)
    other = [c for c in clocks if any(not fits(c.tissue, t) for t in known)]
    if other:
        named = few([f"{c.id} ({c.tissue})" for c in other])
        who = number(len(other), "clock", ("is", "are"))
        notes.append((MismatchWarning, f"{who} used outside their tissue on {', '.join(known)}: {named}"))
    outside = []
    if samples.age is not None:
        for c in clocks:
            per = {"age_months": PER_YEAR["months"], "age_weeks": PER_YEAR["weeks"]}.get(c.scale, 1.0)
            stated = not (np.isnan(c.age_min) and np.isnan(c.age_max)) and c.age_min != c.age_max
            if c.age_range_confirmed and stated:
                low, high = np.nan_to_num(c.age_min, nan=-np.inf), np.nan_to_num(c.age_max, nan=np.inf)
                n = int(((samples.age * per < low) | (samples.age * per > high)).sum())
                if n:
                    outside.append(f"{c.id} ({c.age_min:g} to {c.age_max:g}; {n} samples)")
    if outside:
        who = number(len(outside), "clock", ("is", "are"))
        notes.append((MismatchWarning, f"{who} used outside their training ages: {few(outside)}"))
    for name, values in (("female", samples.sex), ("age", samples.age)):
        users = [c.id for c in clocks if name in c.covariates]
        if users and values is not None:
            lost = int((values == "").sum()) if name == "female" else int(np.isnan(samples.age).sum())  # type: ignore[arg-type]
            if lost:
                word = "sex" if name == "female" else "age"
                text = f"{lost} of {samples.n} samples without {word} get NaN for {few(users)}"
                notes.append((CovariateWarning, text))
    return notes + _wrong_samples(clocks, samples)


def _wrong_samples(clocks: Sequence[Clock], samples: Samples) -> list[tuple[type[Warning], str]]:
    """Samples that a clock leaves out: of another species, without the species' traits, or cell-free DNA."""
    notes: list[tuple[type[Warning], str]] = []
    code, kinds = pd.factorize(samples.species)
    counts = np.bincount(code)
    life = life_history(kinds)
    lost: dict[str, int] = {}
    for clock in clocks:
        out = np.array([not accepts(clock.species, kind) for kind in kinds])
        for name in LINKS[clock.link].needs:
            out |= np.isnan(life[name])
        if out.any():
            lost[clock.id] = int(counts[out].sum())
    if lost:
        named = few([f"{i} ({n} of {samples.n})" for i, n in lost.items()])
        notes.append(
            (
                CovariateWarning,
                f"NaN for samples of a species that is not known, or that the clock is not made for: {named}",
            )
        )
    free = int((samples.tissue == CFDNA).sum())
    other = [c.id for c in clocks if c.tissue != CFDNA]
    if free and other:
        notes.append((MismatchWarning, f"{free} of {samples.n} samples are cell-free DNA: NaN for {few(other)}"))
    return notes


def _refuse_or_go_on(request: Request, refused: dict[str, str], ran: Sequence[Clock], on_refusal: str) -> None:
    """Stop if a clock that was typed by name cannot be computed, or if none can."""
    named = {i: r for i, r in refused.items() if i in request.named}
    if on_refusal != "show" and ((named and on_refusal == "raise") or not ran):
        chosen = named or refused
        lines = "\n".join(f"  {i}: {r}" for i, r in list(chosen.items())[:10])
        more = f"\n  and {len(chosen) - 10} more" if len(chosen) > 10 else ""
        what = "No clock can be computed" if not ran else f"{len(chosen)} of the clocks asked for cannot be computed"
        advice = "" if not ran else "\nDrop them from clocks=, or type on_refusal='warn' to compute the others."
        msg = f"{what}:\n{lines}{more}{advice}"
        raise RefusedError(msg, chosen)


def _nothing_found(source: Source, raw_names: pd.Index | None, clocks: Sequence[Clock]) -> InputError:
    shown = ", ".join(repr(n) for n in list(source.names[:_FEW]))
    hint = ""
    if raw_names is not None and looks_like(raw_names) != "other":
        hint = " adata.raw holds CpG ids: type use_raw=True."
    n = len({f for c in clocks for f in c.features})
    whose = "this clock" if len(clocks) == 1 else f"these {len(clocks)} clocks"
    msg = f"None of the {n} features of {whose} is in the data, whose features are {shown}.{hint}"
    return InputError(msg)


def make_plan(
    source: Source,
    obs_names: pd.Index,
    samples: Samples,
    request: Request,
    *,
    modality: str | None,
    genome_build: str | None,
    min_coverage: float,
    user: Mapping[str, float] | None,
    on_refusal: str,
    raw_names: pd.Index | None = None,
) -> Plan:
    """Decide for every clock: run it, or refuse it with a reason.

    Raises
    ------
    InputError
        The features are not those of methylation data, the object is transposed, or nothing matches.
    RefusedError
        A clock typed by name cannot be computed and ``on_refusal`` is ``"raise"``, or no clock can; never if it is
        ``"show"``.
    """
    found_modality, kind = _modality(source.names, obs_names, raw_names, modality)
    species, tissues = set(samples.species), set(samples.tissue)
    refused: dict[str, str] = {}
    for clock in (_catalog.by_id()[i] for i in request.ids):
        reason = misfit(
            clock,
            kind=kind,
            genome_build=genome_build,
            species=species,
            species_stated=samples.species_stated,
            tissues=tissues,
        )
        if not reason and request.default:
            reason = _unfit_by_default(clock, tissues)
        reason = reason or _lacks_covariates(clock, samples)
        if reason:
            refused[clock.id] = reason
    left = _catalog.load([i for i in request.ids if i not in refused])
    if not left:
        _refuse_or_go_on(request, refused, (), on_refusal)
    fitted = fit_features(
        source.names, left, min_coverage=min_coverage, user=user, species_stated=samples.species_stated or kind != "cpg"
    )
    if left and not fitted.any_present and on_refusal != "show":
        raise _nothing_found(source, raw_names, left)
    refused.update(fitted.reasons)
    _refuse_or_go_on(request, refused, fitted.clocks, on_refusal)
    return Plan(
        request=request,
        modality=found_modality,
        fitted=fitted,
        refused={i: refused[i] for i in request.ids if i in refused},
        warnings=tuple(_mismatches(fitted.clocks, samples)),
        floors={i: floor_of(_catalog.by_id()[i], min_coverage) for i in request.ids},
        samples=samples,
    )


def plan_table(plan: Plan) -> pd.DataFrame:
    """Show a plan, one row a clock asked for: decision, reason, measured share, unit, tissue, licence."""
    rows: list[dict[str, Any]] = []
    for name in plan.request.ids:
        clock = _catalog.by_id()[name]
        rows.append(
            {
                "clock": name,
                "decision": "refuse" if name in plan.refused else "run",
                "coverage": plan.fitted.shares.get(name, np.nan),
                "floor": plan.floors.get(name, np.nan),
                "unit": clock.unit,
                "group": clock.group,
                "species": ", ".join(clock.species),
                "tissue": clock.tissue,
                "licence": clock.licence,
                "reason": plan.refused.get(name, ""),
            }
        )
    return pd.DataFrame(rows).set_index("clock")
