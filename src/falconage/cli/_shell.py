"""Advice in Python (``layer='beta'``) in the words of the shell (``--layer beta``)."""

from __future__ import annotations

import ast
import re
import shlex

__all__ = ["in_shell"]

_OPTIONS = {
    "age_key",
    "age_unit",
    "clocks",
    "device",
    "feature_key",
    "genome_build",
    "layer",
    "min_coverage",
    "missing",
    "obs",
    "on_refusal",
    "reference",
    "sep",
    "sex_key",
    "sex_map",
    "species",
    "species_key",
    "tissue_key",
    "use_raw",
}
"""Keywords that the command line has under the same name."""
# A name with a value, or with none; a longer expression, such as obs=df[...], has no match in the shell.
_KEYWORD = re.compile(
    rf"(?<![\w.])(?P<name>{'|'.join(sorted(_OPTIONS, key=len, reverse=True))})="
    r"(?:(?P<value>True|\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\"|\{[^{}]*\}|\[[^\[\]]*\])(?![\w(\[])|(?![\w(\[{'\"=]))"
)


def in_shell(text: str) -> str:
    """Replace every keyword that has an option by the option, its value quoted as the shell needs it."""
    return _KEYWORD.sub(_option, text).replace("falconage.clocks.search()", "falconage clocks")


def _option(found: re.Match[str]) -> str:
    option = "--" + found["name"].replace("_", "-")
    if found["value"] is None or found["value"] == "True":
        return option
    try:
        value = ast.literal_eval(found["value"])
    except (SyntaxError, ValueError):
        return found[0]
    if isinstance(value, dict):
        value = ",".join(f"{code}={meaning}" for code, meaning in value.items())
    elif isinstance(value, list):
        value = ",".join(map(str, value))
    written = shlex.quote("\\t" if value == "\t" else str(value))
    return f"{option} {written}"
