"""The arguments that scoring and planning share, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage.tl._record import hash_array, hash_names

if TYPE_CHECKING:
    from falconage.tl._plan import Request

__all__ = ["Arguments", "one_of", "read_reference"]

_TEXTS = ("layer", "feature_key", "modality", "genome_build", "species_key", "species")
_KEYS = ("age_key", "age_unit", "sex_key", "tissue_key")


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise an error that lists what is allowed, if this is not."""
    if value not in allowed:
        msg = f"{name}={value!r} is not known; expected {' or '.join(map(repr, allowed))}."
        raise InputError(msg)


def read_reference(reference: Mapping[str, float] | pd.Series | None) -> pd.Series | None:
    """The user's own values for missing features, as a Series of fractions."""
    if reference is None:
        return None
    if not isinstance(reference, Mapping | pd.Series):
        msg = f"reference= is a {type(reference).__name__}; expected feature → beta, e.g. {{'cg00000029': 0.61}}."
        raise InputError(msg)
    series = pd.Series(reference)
    try:
        values = series.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        msg = "reference= holds values that are not numbers; expected feature → beta, e.g. {'cg00000029': 0.61}."
        raise InputError(msg) from error
    if series.index.has_duplicates or np.isinf(values).any():
        msg = "reference= holds a feature twice, or an infinite value; expected one finite beta a feature."
        raise InputError(msg)
    if ((values < 0.0) | (values > 1.0)).any():
        msg = (
            f"reference= runs from {np.nanmin(values):.4g} to {np.nanmax(values):.4g}; expected methylation fractions "
            "(beta) between 0 and 1. Divide percentages by 100."
        )
        raise InputError(msg)
    return pd.Series(values, index=series.index.astype(object))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Arguments:
    """What to score, where the matrix and the covariates are, and by which rules; see ``score_clocks``."""

    request: Request
    layer: str | None
    use_raw: bool
    feature_key: str | None
    modality: str | None
    genome_build: str | None
    age_key: str
    age_unit: str
    sex_key: str
    sex_map: Mapping[Any, str] | None
    species_key: str | None
    species: str | None
    tissue_key: str
    min_coverage: float
    reference: pd.Series | None
    on_refusal: str

    def __post_init__(self) -> None:
        """Refuse values of the wrong kind before anything is read."""
        for name in (*_TEXTS, *_KEYS):
            value = getattr(self, name)
            if not isinstance(value, str) and not (value is None and name in _TEXTS):
                msg = f"{name}={value!r} is a {type(value).__name__}; expected text, e.g. {name}='...'."
                raise InputError(msg)
        share = self.min_coverage
        if not isinstance(share, int | float | np.number) or not 0.0 <= share <= 1.0:
            msg = f"min_coverage={share!r}; expected a share between 0 and 1, e.g. min_coverage=0.8."
            raise InputError(msg)

    @property
    def user(self) -> dict[str, float] | None:
        """Feature → beta of ``reference``."""
        known = self.reference
        return None if known is None else dict(zip(known.index, known.to_numpy().tolist(), strict=True))

    def record(self) -> dict[str, Any]:
        """Plain values for the manifest; the references by their hash."""
        known = self.reference
        return {
            "clocks": list(self.request.ids),
            "use_raw": self.use_raw,
            **{name: getattr(self, name) or "" for name in (*_TEXTS, *_KEYS)},
            "sex_map": "" if self.sex_map is None else repr(dict(self.sex_map)),
            "min_coverage": self.min_coverage,
            "reference_sha256": "" if known is None else f"{hash_array(known.to_numpy())}:{hash_names(known.index)}",
        }
