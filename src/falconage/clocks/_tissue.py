"""Whether a clock's tissue fits a sample's."""

from __future__ import annotations

from falconage._text import plain_word

__all__ = ["CFDNA", "DEFAULT_TISSUES", "fits", "simple"]

CFDNA = "plasma cfDNA"

_WORDS = {
    "blood": ("blood", "whole blood", "peripheral blood", "pbmc", "pbmcs", "leukocyte", "leukocytes", "buffy coat",
              "peripheral blood mononuclear cell", "venous blood", "blood spot", "dried blood spot", "wbc"),
    "cord blood": ("cord blood", "umbilical cord blood", "umbilical cord"),
    "saliva": ("saliva",),
    "buccal": ("buccal", "buccal swab", "cheek", "cheek swab", "buccal epithelium"),
    "brain": ("brain",),
    "brain cortex": ("cortex", "brain cortex", "prefrontal cortex", "frontal cortex", "temporal cortex", "dlpfc",
                     "cerebral cortex"),
    "liver": ("liver", "hepatocyte", "hepatocytes"),
    "skin": ("skin", "epidermis", "dermis", "fibroblast", "fibroblasts", "keratinocyte"),
    "skeletal muscle": ("muscle", "skeletal muscle", "vastus lateralis"),
    "placenta": ("placenta", "chorionic villi"),
    "prostate": ("prostate",),
    "B cells": ("b cell", "b cells", "b-cell", "b lymphocyte"),
    CFDNA: ("cfdna", "cell-free dna", "cell free dna", "plasma cfdna", "ctdna", "plasma cell-free dna"),
}  # fmt: skip
_SIMPLE = {word: tissue for tissue, words in _WORDS.items() for word in words}

_ACCEPTS = {
    "blood": {"blood"},
    "blood, children": {"blood"},
    "blood, newborn": {"blood", "cord blood"},
    "blood+saliva": {"blood", "saliva"},
    "skin+blood": {"blood", "skin", "saliva", "buccal"},
    "brain": {"brain", "brain cortex"},
    "PBMC": {"blood"},
}

DEFAULT_TISSUES = frozenset({"multi-tissue", "blood", "blood+saliva", "skin+blood"})
"""Tissues of the clocks that run by default where the data do not say what they are."""


def simple(tissue: object) -> str:
    """The house's word for a tissue as people write it; unknown words come back in lower case, missing as ``""``."""
    text = plain_word(tissue)
    return _SIMPLE.get(text, text)


def fits(clock_tissue: str, sample_tissue: str) -> bool:
    """Whether a clock was made for this tissue. Multi-tissue clocks fit all but cell-free DNA; ``""`` fits all."""
    if sample_tissue == "":
        return True
    if clock_tissue == "multi-tissue":
        return sample_tissue != CFDNA
    return sample_tissue in _ACCEPTS.get(clock_tissue, {clock_tissue})
