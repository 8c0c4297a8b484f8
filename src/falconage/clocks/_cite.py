"""Cite the publication of a clock: only what the reference table holds, nothing made up."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal

from falconage._errors import InputError
from falconage.clocks._store import read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from falconage.clocks._clock import Clock

__all__ = ["Style", "cite"]

Style = Literal["text", "bibtex"]

_VOLUME = re.compile(r"(?P<volume>\d+)?(?:\((?P<number>[^)]+)\))?:?(?P<pages>.*)")
_INITIALS = re.compile(r"(?P<family>.+) (?P<initials>[A-Z]{1,4})")
_SPECIAL = re.compile(r"([&%$#_{}])")


def cite(clock: Clock, style: Style) -> str:
    """Cite a clock as a sentence or as a BibTeX entry; fields that are not known are left out."""
    if style not in ("text", "bibtex"):
        msg = f'style is {style!r}; type "text" or "bibtex"'
        raise InputError(msg)
    reference = _references().get(clock.doi.lower(), {})
    return _text(clock, reference) if style == "text" else _bibtex(clock, reference)


@cache
def _references() -> dict[str, dict[str, str]]:
    return {row["doi"].lower(): row for row in read_rows("references.tsv")}


def _text(clock: Clock, reference: Mapping[str, str]) -> str:
    if not clock.doi:
        return f"{clock.name}: no publication with a DOI is known."
    year = reference.get("year", "")
    who = " ".join(filter(None, (reference.get("authors_short", ""), f"({year})" if year else "")))
    where = " ".join(filter(None, (reference.get("journal", ""), reference.get("volume_pages", ""))))
    parts = [part.rstrip(".") for part in (who, reference.get("title", ""), where) if part]
    return ". ".join([*parts, f"https://doi.org/{clock.doi}"])


def _bibtex(clock: Clock, reference: Mapping[str, str]) -> str:
    if not clock.doi:
        values = {"note": f"{_escape(clock.name)}: no publication with a DOI is known"}
        return _entry("misc", clock.id, values)
    title = reference.get("title", "")
    values = {
        "author": _authors(reference.get("authors_short", "")),
        "title": f"{{{_escape(title)}}}" if title else "",
        "journal": _escape(reference.get("journal", "")),
        "year": reference.get("year", ""),
        **_volume(reference.get("volume_pages", "")),
        "doi": clock.doi,
    }
    return _entry("article" if values["journal"] else "misc", clock.id, values)


def _entry(kind: str, key: str, values: Mapping[str, str]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in values.items() if value)
    return f"@{kind}{{{key},\n{lines}}}"


def _authors(short: str) -> str:
    listed, _, others = short.partition(" et al.")
    names = [_author(name) for name in listed.split(", ") if name]
    return " and ".join([*names, "others"] if others or short.endswith("et al.") else names)


def _author(name: str) -> str:
    match = _INITIALS.fullmatch(name)
    if match is None:
        return _escape(name)
    return f"{_escape(match['family'])}, {' '.join(letter + '.' for letter in match['initials'])}"


def _volume(text: str) -> dict[str, str]:
    match = _VOLUME.fullmatch(text)
    found = match.groupdict(default="") if match else {}
    return {key: value.replace("-", "--") if key == "pages" else value for key, value in found.items()}


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
