"""Many clocks → one panel of terms: which columns to gather, what stands in for a missing value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from falconage._errors import InputError
from falconage.array._panel import Panel
from falconage.clocks._features import Match
from falconage.clocks._lines import Lines, Values, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from falconage.clocks._clock import Clock

__all__ = ["Account", "Stack", "account", "assemble", "restrict", "stack_clocks"]


def _rows_of(
    op: NDArray[np.int64], param: NDArray[np.float64], source: NDArray[np.int64], first: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Derived rows: one for each distinct (source row, operation, parameter); −1 where none is needed."""
    row = np.full(len(op), -1, dtype=np.int64)
    needed = np.flatnonzero((op > 0) & (source >= 0))
    if len(needed) == 0:
        return row, needed
    key = pd.MultiIndex.from_arrays([source[needed], op[needed], param[needed]])
    code, _ = pd.factorize(key)
    _, pick = np.unique(code, return_index=True)
    row[needed] = first + code
    return row, needed[pick]


class Stack(NamedTuple):
    """The terms of many clocks, one predictor after the other; t terms, c predictors."""

    lines: Lines
    intercept: NDArray[np.float64]
    feature: NDArray[np.object_]
    predictor: NDArray[np.int64]
    owner: NDArray[np.int64]
    part: tuple[str, ...]

    def keep(self, clocks: NDArray[np.bool_]) -> Stack:
        """The terms of some clocks only; clocks are numbered anew."""
        stay = clocks[self.owner]
        terms = stay[self.predictor]
        return Stack(
            Lines._make(column[terms] for column in self.lines),
            self.intercept[stay],
            self.feature[terms],
            (np.cumsum(stay) - 1)[self.predictor[terms]],
            (np.cumsum(clocks) - 1)[self.owner[stay]],
            tuple(p for p, s in zip(self.part, stay, strict=True) if s),
        )


class Account(NamedTuple):
    """What is known of each predictor before a value is read; c predictors, t terms.

    ``n_terms``, ``total``: terms and the sum of absolute weights in table order; ``n_absent``, ``absent_weight``,
    ``absent_weak``: terms whose feature is not in the data, their absolute weight, and what only a median can fill;
    ``n_columns`` t: data columns that carry the feature of each term.
    """

    n_terms: NDArray[np.int64]
    total: NDArray[np.float64]
    n_absent: NDArray[np.int64]
    absent_weight: NDArray[np.float64]
    absent_weak: NDArray[np.float64]
    n_columns: NDArray[np.int64]


def stack_clocks(clocks: Sequence[Clock], *, user: Values | None, platform: Values | None) -> Stack:
    """Put the terms of clocks behind each other, each with the value that stands in for it.

    Parameters
    ----------
    clocks
        With their terms; forms ``linear``, ``mean`` or ``division``.
    user, platform
        Feature → value: the user's own references, and the platform medians of ``ref450k``.
    """
    owner, part, lines, names = [], [], [], []
    for position, clock in enumerate(clocks):
        if not clock.terms:
            msg = f"Clock {clock.id!r} has no weights here: {clock.reason}"
            raise InputError(msg)
        for terms in clock.terms:
            owner.append(position)
            part.append(terms.part)
            lines.append(lines_of(clock, terms, user, platform))
            names.append(terms.features)
    return Stack(
        lines=Lines._make(np.concatenate(column) for column in zip(*lines, strict=True)),
        intercept=np.array([t.intercept for c in clocks for t in c.terms], dtype=np.float64),
        feature=np.concatenate(names),
        predictor=np.repeat(np.arange(len(names)), [len(n) for n in names]),
        owner=np.array(owner, dtype=np.int64),
        part=tuple(part),
    )


def account(stack: Stack, n_columns: NDArray[np.int64]) -> Account:
    """Count what the data lack, from the number of data columns of each term's feature."""
    absent = n_columns == 0
    size = np.abs(stack.lines.weight)
    none_stated = np.isnan(stack.lines.reference)
    c = len(stack.owner)

    def add(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(stack.predictor[mask], weights=size[mask], minlength=c), dtype=np.float64)

    return Account(
        n_terms=np.bincount(stack.predictor, minlength=c),
        total=add(np.ones(len(size), dtype=bool)),
        n_absent=np.bincount(stack.predictor[absent], minlength=c),
        absent_weight=add(absent),
        absent_weak=add(absent & none_stated),
        n_columns=n_columns,
    )


class _Sources(NamedTuple):
    """Where the rows of a panel come from: features as gathered columns or as groups of them."""

    columns: NDArray[np.int64]
    group_ptr: NDArray[np.int64]
    group_row: NDArray[np.int64]
    row: NDArray[np.int64]


def _sources(found: Match) -> _Sources:
    counts = np.diff(found.indptr)
    columns, raw = np.unique(found.columns, return_inverse=True)
    several = np.flatnonzero(counts > 1)
    row = np.full(len(counts), -1, dtype=np.int64)
    row[counts == 1] = raw[found.indptr[:-1][counts == 1]]
    row[several] = len(columns) + np.arange(len(several))
    return _Sources(
        columns.astype(np.int64),
        np.concatenate([[0], np.cumsum(counts[several])]).astype(np.int64),
        raw[np.repeat(counts > 1, counts)].astype(np.int64),
        row,
    )


def assemble(stack: Stack, code: NDArray[np.int64], found: Match) -> tuple[Panel, NDArray[np.int64]]:
    """Make the panel that the kernels take, and list the data columns it gathers.

    Parameters
    ----------
    stack
        The terms.
    code
        t: position in ``found`` of each term's feature.
    found
        The columns of each distinct feature.
    """
    lines, c = stack.lines, len(stack.owner)
    source = _sources(found)
    term_row = source.row[code]
    n_raw = len(source.columns)
    first_derived = n_raw + len(source.group_ptr) - 1
    derived, pick = _rows_of(lines.op, lines.param, term_row, first_derived)
    fixed = first_derived + len(pick)
    absent = term_row < 0
    constant, which = np.unique(lines.reference[absent], return_inverse=True)
    row = np.where(derived >= 0, derived, term_row)
    row[absent] = fixed + which
    lengths = np.bincount(stack.predictor, minlength=c)
    none_stated = np.isnan(lines.reference)
    panel = Panel(
        n_raw=n_raw,
        fixed=fixed,
        longest=int(max(lengths.max(initial=1), np.diff(source.group_ptr).max(initial=1))),
        group_ptr=source.group_ptr,
        group_row=source.group_row,
        base=term_row[pick],
        op=lines.op[pick],
        param=lines.param[pick],
        constant=constant,
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        row=row.astype(np.int64),
        weight=lines.weight,
        reference=lines.reference,
        low=lines.low,
        high=lines.high,
        intercept=stack.intercept,
        weak=np.bincount(stack.predictor[none_stated], minlength=c) > 0,
        weak_absent=np.bincount(stack.predictor[none_stated & absent], minlength=c) > 0,
    )
    return panel, source.columns


def restrict(found: Match, code: NDArray[np.int64]) -> tuple[NDArray[np.int64], Match]:
    """Drop features that no term uses: new codes, and the columns of what is left."""
    used, new = np.unique(code, return_inverse=True)
    counts = np.diff(found.indptr)
    stay = np.zeros(len(counts), dtype=bool)
    stay[used] = True
    indptr = np.concatenate([[0], np.cumsum(counts[used])]).astype(np.int64)
    return new, Match(indptr, found.columns[np.repeat(stay, counts)])
