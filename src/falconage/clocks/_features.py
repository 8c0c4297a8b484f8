"""Which columns of the data hold a clock's features: CpG ids, array suffixes, positions; knows no AnnData."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    Names = Sequence[str] | NDArray[np.object_] | pd.Index

__all__ = ["FeatureIndex", "Match", "canonical", "index_features", "looks_like", "match"]

# All patterns are read by RE2 (Arrow) and applied to lower-case names.
_PROBE = r"^(?:cg|ch|nv|rs)[0-9.\-]"
_SUFFIXED = _PROBE + r".*_[tb][co][0-9]{2,3}$"
_REPLICATE = r"^cg[0-9]+\.[0-9]+$"
_POSITION = r"^chr[^:]+:[0-9]+$"
_UNDERSCORED = r"^chr[^_:]+_[0-9]+$"
_BARE_POSITION = r"^(?:[0-9]{1,2}|x|y|m|mt):[0-9]+$"

_LOOKS_CPG = re.compile(r"cg[0-9]+(?:[._]\S+)?|ch\.[0-9xy]+\.[0-9]+[fr](?:_\S+)?", re.IGNORECASE)
_LOOKS_POSITION = re.compile(r"chr[^\s:]+[:_][0-9]+|(?:[0-9]{1,2}|x|y|m|mt):[0-9]+", re.IGNORECASE)
_LOOKS_AT = 200


class Match(NamedTuple):
    """The columns of each feature, as in a CSR matrix.

    Attributes
    ----------
    indptr
        int64, n_features + 1. Feature ``i`` has ``columns[indptr[i]:indptr[i + 1]]``; none = absent.
    columns
        int64, positions in the indexed names. Within a feature they are sorted by full name, then by
        position, so that the order of the columns in the data cannot change a mean over them.
    """

    indptr: NDArray[np.int64]
    columns: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureIndex:
    """The names of the data, prepared for :func:`match`.

    Attributes
    ----------
    names
        Arrow strings, the names as given, n.
    keys
        Arrow strings, their canonical form, n.
    replicates
        int64, positions of names with a replicate number (``cg18473521.2``).
    replicate_keys
        Arrow strings, the bare ids (``cg18473521``) of those.
    """

    names: Any
    keys: Any
    replicates: NDArray[np.int64]
    replicate_keys: Any

    def __len__(self) -> int:
        return len(self.names)


def index_features(names: Names) -> FeatureIndex:
    """Prepare the feature names of a data set for matching.

    Parameters
    ----------
    names
        The feature names, in column order; duplicates are allowed.

    Raises
    ------
    InputError
        A name is missing or is not text.
    """
    strings = _strings(names, "feature names")
    keys = _canonical(strings)
    is_replicate, bare = _bare(keys)
    return FeatureIndex(strings, keys, np.flatnonzero(is_replicate), bare)


def match(index: FeatureIndex, features: Names) -> Match:
    """Find the columns of each feature; call it once for the features of all clocks together.

    A feature owns every column that is a spelling of the same locus: any letter case, the replicates of
    EPICv2 and mouse arrays (``cg00000029_TC21``, ``cg00000029_TC22``), ``chr10:111`` and ``chr10_111``
    (and ``10:111``, never ``10_111``), and repeated names. Plain and suffixed columns side by side, as in
    a concatenation of two array generations, belong together. Exceptions, in which closer names win:

    * a feature that carries an array suffix, or is neither probe nor position, takes the columns
      spelled exactly like it, else those that differ by letter case only, where there are any;
    * a feature with a Mammal40 replicate number (``cg18473521.2``) takes that replicate, else the bare
      id, never another replicate; a bare id takes the bare columns, else all its replicates.

    Parameters
    ----------
    index
        From :func:`index_features`.
    features
        The names a clock uses, n_features.

    Returns
    -------
    The columns of each feature, in the order of ``features``.
    """
    pa, pc = _arrow()
    wanted = _strings(features, "clock features")
    keys = _canonical(wanted)
    is_replicate, bare = _bare(keys)
    # Hashing the few wanted names and streaming the many measured ones past them is ~10× faster than the reverse.
    distinct = pa.concat_arrays([keys, bare]).unique()
    n = len(distinct)
    own_codes = _codes(keys, distinct)
    bare_codes = own_codes.copy()
    bare_codes[is_replicate] = _codes(bare, distinct)

    by_key = _group(_codes(index.keys, distinct), n, np.arange(len(index), dtype=np.int64), index.names)
    by_bare = _group(_codes(index.replicate_keys, distinct), n, index.replicates, index.names)
    starts = np.concatenate([by_key.indptr[:-1], by_bare.indptr[:-1] + len(by_key.columns)])
    sizes = np.concatenate([np.diff(by_key.indptr), np.diff(by_bare.indptr)])
    slots = np.where(sizes[own_codes] > 0, own_codes, np.where(is_replicate, bare_codes, own_codes + n))

    indptr = _pointers(sizes[slots])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], sizes[slots])
    columns = np.concatenate([by_key.columns, by_bare.columns])[np.repeat(starts[slots], sizes[slots]) + within]

    lower = pc.ascii_lower(wanted)
    probe, position = _mask(keys, _PROBE), _mask(keys, _POSITION)
    closest = (probe & _numpy(pc.not_equal(lower, keys))) | ~(probe | position)
    return _closest(Match(indptr, columns), closest, index.names, wanted)


def looks_like(names: Names) -> Literal["cpg", "position", "other"]:
    """Tell CpG ids, genome positions and anything else apart, from up to 200 evenly spaced names.

    More than half of them must be of the kind; entries that are not text count as other.
    """
    n = len(names)
    picked = [names[int(i)] for i in np.unique(np.linspace(0, n - 1, min(n, _LOOKS_AT)).astype(np.int64))] if n else []
    texts = [name for name in picked if isinstance(name, str)]
    if 2 * sum(_LOOKS_CPG.fullmatch(text) is not None for text in texts) > len(picked):
        return "cpg"
    if 2 * sum(_LOOKS_POSITION.fullmatch(text) is not None for text in texts) > len(picked):
        return "position"
    return "other"


def canonical(name: str) -> str:
    """Return the form in which names are compared: lower case, no array suffix, ``chr10:111``.

    A Mammal40 replicate number stays (``cg18473521.2``), as does every other ending.
    """
    return str(_canonical(_strings([name], "a feature name"))[0].as_py())


def _arrow() -> tuple[Any, Any]:
    """Import Arrow on first use; it has no types."""
    return import_module("pyarrow"), import_module("pyarrow.compute")


def _strings(names: Names, what: str) -> Any:
    """Turn names into an Arrow string array without touching them one by one."""
    pa, _ = _arrow()
    if isinstance(names, str):
        raise InputError(_complaint(names, what))
    try:
        array = pa.array(getattr(names, "array", names), from_pandas=True)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
    except (pa.ArrowException, TypeError, ValueError):
        array = None
    text = array is not None and (pa.types.is_string(array.type) or pa.types.is_large_string(array.type))
    if array is None or array.null_count or not (text or len(array) == 0):
        raise InputError(_complaint(names, what))
    return array.cast(pa.large_string())


def _complaint(names: Names, what: str) -> str:
    """Name the first entry that is not usable text."""
    advice = "Every name must be text; convert or drop the others, e.g. adata.var_names = adata.var_names.astype(str)."
    if isinstance(names, str):
        return f"The {what} are the single text {names!r}; expected a sequence of names. {advice}"
    for i, name in enumerate(names):
        if not isinstance(name, str):
            return f"The {what} hold {name!r} ({type(name).__name__}) at position {i}. {advice}"
    return f"The {what} hold text that cannot be written as UTF-8. {advice}"


def _canonical(strings: Any) -> Any:
    """Canonical form of Arrow strings; plain names only pay for the look that finds nothing to do."""
    _, pc = _arrow()
    keys = pc.ascii_lower(strings)
    if _numpy(pc.match_substring(keys, "_")).any():
        keys = _rewrite(keys, _mask(keys, _SUFFIXED), _strip_suffix)
    if _numpy(pc.match_substring(keys, ":")).any():
        keys = _rewrite(keys, _mask(keys, _BARE_POSITION), lambda bare: pc.utf8_replace_slice(bare, 0, 0, "chr"))
    if _numpy(pc.starts_with(keys, "chr")).any():
        keys = _rewrite(keys, _mask(keys, _UNDERSCORED), lambda names: pc.replace_substring(names, "_", ":"))
    return keys


def _strip_suffix(suffixed: Any) -> Any:
    """Cut ``_tc21`` or ``_tc211``."""
    _, pc = _arrow()
    two_digits = pc.equal(pc.utf8_slice_codeunits(suffixed, -5, -4), "_")
    short, long = (pc.utf8_slice_codeunits(suffixed, 0, -width) for width in (5, 6))
    return pc.if_else(two_digits, short, long)


def _bare(keys: Any) -> tuple[NDArray[np.bool_], Any]:
    """Which keys carry a Mammal40 replicate number, and the ids of those without it."""
    pa, pc = _arrow()
    found = _numpy(pc.match_substring(keys, "."))
    if found.any():
        dotted = np.flatnonzero(found)
        found[dotted] = _mask(keys.take(pa.array(dotted)), _REPLICATE)
    return found, pc.replace_substring_regex(keys.filter(pa.array(found)), r"\.[0-9]+$", "")


def _codes(keys: Any, distinct: Any) -> NDArray[np.int64]:
    """Position of each key in ``distinct``, −1 where it is not there."""
    _, pc = _arrow()
    codes: NDArray[np.int64] = pc.fill_null(pc.index_in(keys, value_set=distinct), -1).to_numpy().astype(np.int64)
    return codes


def _group(codes: NDArray[np.int64], n: int, columns: NDArray[np.int64], names: Any) -> Match:
    """Columns of each code; within a code by full name, then by position."""
    pa, _ = _arrow()
    hit = np.flatnonzero(codes >= 0)
    hit = hit[np.argsort(codes[hit], kind="stable")]
    codes, columns = codes[hit], columns[hit]
    sizes = np.bincount(codes, minlength=n)
    shared = np.flatnonzero(sizes[codes] > 1)
    if len(shared):
        block = columns[shared]
        table = pa.table({"code": codes[shared], "name": names.take(pa.array(block)), "column": block})
        order = table.sort_by([("code", "ascending"), ("name", "ascending"), ("column", "ascending")])
        columns[shared] = order["column"].to_numpy()
    return Match(_pointers(sizes), columns)


def _closest(found: Match, features: NDArray[np.bool_], names: Any, wanted: Any) -> Match:
    """Of the columns of each of these features keep those spelled most like it: exactly, else but for case."""
    pa, pc = _arrow()
    sizes = np.diff(found.indptr)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.flatnonzero((features & (sizes > 1))[owner])
    if not len(rows):
        return found
    have, want = names.take(pa.array(found.columns[rows])), wanted.take(pa.array(owner[rows]))
    closeness = np.zeros(len(owner), dtype=np.int8)
    closeness[rows] = _numpy(pc.equal(have, want)).astype(np.int8) + _numpy(
        pc.equal(*map(pc.ascii_lower, (have, want)))
    )
    best = np.zeros(len(sizes), dtype=np.int8)
    np.maximum.at(best, owner, closeness)
    keep = closeness == best[owner]
    return Match(_pointers(np.bincount(owner[keep], minlength=len(sizes))), found.columns[keep])


def _rewrite(keys: Any, mask: NDArray[np.bool_], function: Callable[[Any], Any]) -> Any:
    """Replace the keys under ``mask`` by ``function`` of them."""
    pa, pc = _arrow()
    if mask.all():
        return function(keys)
    if not mask.any():
        return keys
    where = pa.array(mask)
    return pc.replace_with_mask(keys, where, function(keys.filter(where)))


def _mask(strings: Any, pattern: str) -> NDArray[np.bool_]:
    return _numpy(_arrow()[1].match_substring_regex(strings, pattern))


def _numpy(booleans: Any) -> NDArray[np.bool_]:
    array: NDArray[np.bool_] = booleans.to_numpy(zero_copy_only=False)
    return array if array.flags.writeable else array.copy()


def _pointers(sizes: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
