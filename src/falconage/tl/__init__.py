"""Tools: matrix → results."""

from falconage.tl._acceleration import acceleration
from falconage.tl._score import plan_clocks, score_clocks

__all__ = ["acceleration", "plan_clocks", "score_clocks"]
