"""Preparation: matrix → matrix."""

__all__: list[str] = []
