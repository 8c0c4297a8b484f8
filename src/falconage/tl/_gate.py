"""Which scores may be compared with age, by their scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from falconage import _scored
from falconage._errors import RefusedError
from falconage.clocks._scales import get_scale
from falconage.tl._expected import GESTATIONAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from anndata import AnnData

__all__ = ["Choice", "choose"]


class Choice(NamedTuple):
    """Scores to work on, what the record says of them, and why others are left out.

    Attributes
    ----------
    scores
        n_obs × clocks.
    facts
        Their rows of the manifest.
    left_out
        Clock → reason.
    """

    scores: pd.DataFrame
    facts: pd.DataFrame
    left_out: dict[str, str]


def choose(
    adata: AnnData,
    kind: str,
    key: str,
    clocks: str | Sequence[str] | None,
    *,
    gestational_key: str = "gestational_age",
) -> Choice:
    """Take the scores that allow ``kind``; those named must all do."""
    scores, known = _scored.scores(adata, key), _scored.record(adata, key)["clocks"]
    asked = list(map(str, scores.columns)) if clocks is None else _scored.names(adata, key, clocks)
    facts = known.loc[asked]
    reasons = {}
    for clock, scale in facts["scale"].items():
        reason = _reason(str(scale), kind)
        if not reason and scale == GESTATIONAL and gestational_key not in adata.obs.columns:
            reason = (
                f"it needs gestational age in weeks, and there is no obs[{gestational_key!r}]: add the column, or "
                "name another with gestational_key="
            )
        if reason:
            reasons[str(clock)] = reason
    kept = [clock for clock in asked if clock not in reasons]
    if reasons and (clocks is not None or not kept):
        _refuse(reasons, kind, kept)
    return Choice(scores[kept].astype(np.float64), facts.loc[kept], reasons)


def _reason(scale: str, kind: str) -> str:
    """Say why a scale does not allow ``kind``; empty if it does."""
    rules = get_scale(scale)
    if kind == "difference" and rules.minus_age in ("no", "lifespan"):
        instead = "Type kind='residual' instead" if rules.residual else "Compare groups of samples instead"
    elif kind == "residual" and not rules.residual:
        instead = "Compare groups of samples instead"
    else:
        return ""
    return f"its scale is {scale}. {rules.note} {instead}"


def _refuse(reasons: Mapping[str, str], kind: str, kept: Sequence[str]) -> NoReturn:
    lines = "; ".join(f"{clock}: {reason}" for clock, reason in reasons.items())
    hint = f" For the others type clocks={list(kept)!r}." if kept else ""
    msg = f"No {kind} for {len(reasons)} clock{'s' if len(reasons) > 1 else ''}. {lines}.{hint}"
    raise RefusedError(msg, reasons)
