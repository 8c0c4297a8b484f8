"""Names of samples and features: as strings, and which of the two an axis holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Orientation", "check_orientation", "few", "find_orientation", "id_strings", "share_of_features"]

Orientation = Literal["auto", "samples_by_features", "features_by_samples"]

_FEATURE = re.compile(
    r"(?:cg|rs|mu|bc|uk|rp)\d+(?:_|$)"  # array probes, with or without a replicate suffix
    r"|ch\.\d|nv[-_]"
    r"|chr[0-9a-z]+[:_.-]\d+|(?:\d{1,2}|[xym]|mt):\d+"
    r"|ens[a-z]*g\d{6,}",
    re.IGNORECASE,
)
_PROBED = 1000
_ENOUGH = 0.5


def few(names: Sequence[str] | pd.Index, n: int = 3) -> str:
    """Quote the first few names for a message."""
    shown = ", ".join(repr(str(name)) for name in list(names[:n]))
    return f"{shown}, …" if len(names) > n else shown


def id_strings(index: pd.Index, what: str, *, fix: str) -> list[str]:
    """Names as strings: 101 and 101.0 become ``"101"``; a missing name or several levels raise.

    ``fix`` is the expression that holds the names, such as ``df.index``, for the message.
    """
    if isinstance(index, pd.MultiIndex):
        msg = (
            f"The {what} have {index.nlevels} levels of names {list(index.names)}; one is needed. "
            f"Join them: {fix} = ['_'.join(map(str, names)) for names in {fix}]"
        )
        raise InputError(msg)
    if (missing := int(np.count_nonzero(index.isna()))) > 0:
        has, them = ("has", "it") if missing == 1 else ("have", "them")
        msg = f"{missing} of {len(index)} {what} {has} no name (NaN) in {fix}. Name or drop {them} before this call."
        raise InputError(msg)
    if pd.api.types.is_float_dtype(index.dtype):
        numbers = index.to_numpy(dtype=np.float64)
        if np.all(numbers == np.round(numbers)):
            return [str(int(number)) for number in numbers]
    return [str(name) for name in index]


def share_of_features(names: Sequence[str]) -> float:
    """Share of names that look like CpG probes, genome positions or Ensembl genes (evenly spaced ones tried)."""
    if len(names) == 0:
        return 0.0
    tried = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, _PROBED).astype(np.intp))]
    return sum(_FEATURE.match(name) is not None for name in tried) / len(tried)


def check_orientation(orientation: str) -> None:
    """Raise for a word that is not an orientation."""
    if orientation not in get_args(Orientation):
        msg = f"orientation={orientation!r} is not known; use one of {list(get_args(Orientation))}."
        raise InputError(msg)


def find_orientation(rows: Sequence[str], columns: Sequence[str], orientation: Orientation) -> Orientation:
    """``samples_by_features`` or ``features_by_samples``, from the names where ``"auto"`` was given."""
    check_orientation(orientation)
    if orientation != "auto":
        return orientation
    in_rows, in_columns = share_of_features(rows) >= _ENOUGH, share_of_features(columns) >= _ENOUGH
    if in_rows != in_columns:
        return "features_by_samples" if in_rows else "samples_by_features"
    got = "both axes look" if in_rows else "neither axis looks"
    msg = (
        f"Cannot tell samples from features: {got} like CpG names or positions "
        f"(rows {few(rows)}; columns {few(columns)}). "
        "Pass orientation='samples_by_features' if each row is a sample, or "
        "orientation='features_by_samples' if each column is one."
    )
    raise InputError(msg)
