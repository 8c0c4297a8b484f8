"""Every key falconage writes into an AnnData."""

from __future__ import annotations

__all__ = ["BOUND_SUFFIX", "COVERAGE_SUFFIX", "IMPUTED", "ROOT", "SCORES"]

ROOT = "falconage"
"""The one key in ``uns``."""

SCORES = "clock_scores"
"""Default ``key_added`` of :func:`falconage.tl.score_clocks`: a DataFrame in ``obsm``."""

COVERAGE_SUFFIX = "_coverage"
"""``obsm[key + suffix]``: float32 array, n_obs × n_scores, same column order as the scores."""

BOUND_SUFFIX = "_missing_bound"
"""``obsm[key + suffix]``: float32 array, the most that unmeasured cells can move each score."""

IMPUTED = "falconage_imputed"
"""Layer of booleans: cells that an imputation filled."""
