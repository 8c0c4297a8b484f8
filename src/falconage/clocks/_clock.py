"""What a clock is: facts and tables of terms; no AnnData, no device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["Clock", "Status", "Terms"]

Status = Literal["shipped", "form pending", "fetch", "unavailable"]
"""``shipped``: weights are here and can be scored. ``form pending``: weights or method known, this
version cannot compute it. ``fetch``: may not be bundled, the user supplies it. ``unavailable``: no
usable numbers exist, or their licence forbids use."""


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """One linear predictor, ``intercept + Σ weight · op(value)``, in the order of the source table.

    Attributes
    ----------
    part
        ``""``, or ``"female"`` / ``"male"`` where each sex has its own table.
    intercept
        Added once, before the link.
    features
        Names as the source spells them, n.
    weights
        float64, n. For divisions the de novo methylation rate δ of the source (per cell division).
    reference
        float64, n: the value the clock's own publication gives for a missing feature; NaN = none.
    second
        float64, n: for divisions the ground state β0; NaN elsewhere.
    squared
        bool, n: the term uses the square of the value.
    covariates
        Covariate name → weight (``{"age": 0.12}``, age in years).
    """

    part: str
    intercept: float
    features: NDArray[np.object_]
    weights: NDArray[np.float64]
    reference: NDArray[np.float64]
    second: NDArray[np.float64]
    squared: NDArray[np.bool_]
    covariates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """A clock: what it predicts, from what, under which licence, and its weights.

    Attributes
    ----------
    id
        The name falconage uses everywhere, e.g. ``"horvath2013"``.
    form
        ``linear``, ``mean``, ``division``, … (see the catalogue page).
    link
        Name of the function from linear predictor to unit (:mod:`falconage.clocks`).
    missing
        Policies for a feature that was not measured, tried in order: ``ref_own``, ``ref450k``,
        ``sample_median``, ``refuse``; or ``drop``, ``medians_sex``, ``zero_scaled``, …
    covariates
        What it needs besides features: ``age``, ``female``, ``gestation``, ``maturity``, ``max_age``, …
    expects
        ``beta``, ``m_value``, ``counts``, ``lognorm``, ``npx``, …
    status
        See :data:`Status`; ``reason`` says why, when it is not ``shipped``.
    age_min
        Lowest age of training in the clock's unit; NaN = not known. ``age_range_confirmed`` tells whether the
        range was read in a primary source.
    age_max
        Highest age of training.
    sha256
        Of the terms, see ``clocks/data/README.md``; empty without weights.
    """

    id: str
    name: str
    year: int | None
    doi: str
    modality: str
    species: tuple[str, ...]
    tissue: str
    unit: str
    scale: str
    group: str
    n_features: int | None
    form: str
    normaliser: str
    link: str
    missing: tuple[str, ...]
    covariates: tuple[str, ...]
    expects: str
    status: Status
    reason: str
    licence: str
    patent_notice: str
    source: str
    sha256: str
    aliases: tuple[str, ...]
    note: str
    core: bool
    cohort_dependent: bool
    age_min: float
    age_max: float
    age_range_confirmed: bool
    platform: str
    genome_build: str
    target: str
    author_floor: float
    terms: tuple[Terms, ...] = ()

    @property
    def features(self) -> NDArray[np.object_]:
        """The distinct feature names, in table order."""
        names = [t.features for t in self.terms]
        return pd.unique(np.concatenate(names)) if names else np.empty(0, dtype=object)

    @property
    def weights(self) -> pd.DataFrame:
        """One row per term: part, feature, weight, reference, second, squared."""
        frames = [
            pd.DataFrame(
                {
                    "part": np.full(len(t.features), t.part, dtype=object),
                    "feature": t.features,
                    "weight": t.weights,
                    "reference": t.reference,
                    "second": t.second,
                    "squared": t.squared,
                }
            )
            for t in self.terms
        ]
        columns = ["part", "feature", "weight", "reference", "second", "squared"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def cite(self, style: Literal["text", "bibtex"] = "text") -> str:
        """Cite the publication of the clock.

        Parameters
        ----------
        style
            ``"text"`` for a sentence, ``"bibtex"`` for an entry whose key is the id. Fields that are not known are
            left out.

        Examples
        --------
        >>> import falconage as fa
        >>> fa.clocks.get("hannum").cite()[:23]
        'Hannum G et al. (2013).'
        """
        from falconage.clocks._cite import cite

        return cite(self, style)

    def __repr__(self) -> str:
        return f"Clock({self.id!r}, {self.name!r}, {self.n_features} features, unit {self.unit!r}, {self.status})"
