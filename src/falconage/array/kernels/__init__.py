"""Compiled loops, loaded on first use."""
