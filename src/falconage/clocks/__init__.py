"""The catalogue of clocks: what each predicts, from what, under which licence, and its weights."""

from falconage.clocks._catalog import get, search, table
from falconage.clocks._clock import Clock
from falconage.clocks._compatible import compatible
from falconage.clocks._scales import scales

__all__ = ["Clock", "compatible", "get", "scales", "search", "table"]
