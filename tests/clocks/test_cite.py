"""Citations: complete where the table is, silent where it is not."""

from __future__ import annotations

import re

import pytest

import falconage as fa
from falconage.clocks import _catalog as catalog


def test_text() -> None:
    assert fa.clocks.get("horvath2013").cite() == (
        "Horvath S (2013). DNA methylation age of human tissues and cell types. Genome Biology 14:R115. "
        "https://doi.org/10.1186/gb-2013-14-10-r115"
    )


def test_bibtex() -> None:
    assert fa.clocks.get("kdm").cite("bibtex").splitlines() == [
        "@article{kdm,",
        "  author = {Klemera, P. and Doubal, S.},",
        "  title = {{A new approach to the concept and computation of biological age}},",
        "  journal = {Mechanisms of Ageing and Development},",
        "  year = {2006},",
        "  volume = {127},",
        "  number = {3},",
        "  pages = {240--248},",
        "  doi = {10.1016/j.mad.2005.10.004},",
        "}",
    ]


def test_unknown_fields_are_left_out() -> None:
    entry = fa.clocks.get("celldrift").cite("bibtex")
    assert re.findall(r"^  (\w+) =", entry, re.MULTILINE) == ["journal", "year", "doi"]
    assert fa.clocks.get("celldrift").cite() == "(2023). Science Advances. https://doi.org/10.1126/sciadv.adf4163"


def test_a_clock_without_doi_says_so() -> None:
    epitoc3 = fa.clocks.get("epitoc3")
    assert epitoc3.doi == ""
    assert "no publication with a DOI is known" in epitoc3.cite()
    assert epitoc3.cite("bibtex").startswith("@misc{epitoc3,")


def test_every_doi_is_in_the_reference_table() -> None:
    for clock in catalog.facts():
        text, entry = clock.cite("text"), clock.cite("bibtex")
        assert entry.count("{") == entry.count("}")
        assert not re.search(r"\b(nan|None)\b", text + entry)
        if clock.doi:
            assert text.endswith(f"https://doi.org/{clock.doi}")
            assert "journal = " in entry, clock.id


def test_another_style_is_an_error() -> None:
    with pytest.raises(fa.InputError, match='"text" or "bibtex"'):
        fa.clocks.get("hannum").cite("apa")  # type: ignore[arg-type]
