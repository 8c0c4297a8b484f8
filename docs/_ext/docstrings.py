"""Two things about docstrings that Sphinx does not know: prose after `Returns`, and fields of a NamedTuple."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.ext.napoleon import NumpyDocstring

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def prose(self: NumpyDocstring, section: str) -> list[str]:
    """Show what is returned as it is written; the signature tells the type."""
    return self._format_block(":returns: ", self._dedent(self._consume_to_next_section()))


def whole(self: NumpyDocstring) -> list[str]:
    """Take no part of a property's summary line for its type."""
    return self._dedent(self._consume_to_end())


def skip_alias(app: Sphinx, what: str, name: str, obj: object, skip: object, options: object) -> bool | None:
    """Leave out the fields of a NamedTuple, which its own docstring explains."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Teach napoleon and autodoc."""
    NumpyDocstring._parse_returns_section = prose
    NumpyDocstring._parse_attribute_docstring = whole
    app.connect("autodoc-skip-member", skip_alias)
    return {"parallel_read_safe": True}
