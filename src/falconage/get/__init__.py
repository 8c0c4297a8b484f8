"""Read what was computed: labelled copies, joined objects, text for a paper."""

from __future__ import annotations

from falconage.get._combine import combine
from falconage.get._methods import Methods, methods_text
from falconage.get._tables import coverage, manifest, missing_bound, scores

__all__ = ["Methods", "combine", "coverage", "manifest", "methods_text", "missing_bound", "scores"]
