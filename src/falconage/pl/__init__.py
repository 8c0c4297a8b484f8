"""Pictures of scores; needs matplotlib, ``pip install "falconage[plot]"``."""

from __future__ import annotations

from falconage.pl._age import age

__all__ = ["age"]
