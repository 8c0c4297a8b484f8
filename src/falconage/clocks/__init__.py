"""The catalogue of clocks: what each predicts, from what, under which licence, and its weights."""

from falconage.clocks._catalog import get, search, table
from falconage.clocks._clock import Clock, Terms
from falconage.clocks._compatible import compatible
from falconage.clocks._scales import scales

__all__ = ["Clock", "Terms", "compatible", "get", "scales", "search", "table"]
