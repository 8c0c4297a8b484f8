"""Run a plan: one read of the matrix, block by block; nothing is written to the object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from falconage._errors import CoverageWarning, FalconageWarning, InputError
from falconage._settings import settings
from falconage._text import few, number
from falconage.array._blocks import block_rows, row_blocks
from falconage.array._panel import Found, run_panel
from falconage.clocks._lines import FILLS
from falconage.clocks._links import LINKS
from falconage.tl._finish import LOST, SAID_ELSEWHERE, Block, Finisher
from falconage.tl._ground import count_below_ground
from falconage.tl._imputed import count_imputed
from falconage.tl._values import check_rows, check_sample_of_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from falconage._adata import Source
    from falconage.tl._plan import Plan

__all__ = ["Result", "run_plan"]

_LOW_COVERAGE = 0.95
_LONG = 2
_STORED = 0.9


class Result(NamedTuple):
    """Everything computed; t terms, c predictors.

    ``term_cells`` t: samples in which each term was missing; ``imputed`` c: cells that an imputation had filled;
    ``ground`` 2 × c: values measured and those below the ground state; ``warnings``: what to warn of.
    """

    block: Block
    term_cells: NDArray[np.int64]
    imputed: NDArray[np.int64]
    ground: NDArray[np.int64]
    warnings: tuple[tuple[type[Warning], str], ...]


def _progress(blocks: Iterable[Any], total: int, *, progress: bool | None) -> Iterable[Any]:
    setting = settings.progress
    shown = progress if progress is not None else (setting == "on" or (setting == "auto" and sys.stderr.isatty()))
    if not shown or total < _LONG:
        return blocks
    from tqdm.auto import tqdm

    bar: Iterable[Any] = tqdm(blocks, total=total, desc="scoring", unit="block")
    return bar


def run_plan(
    plan: Plan,
    source: Source,
    names: pd.Index,
    *,
    missing: str,
    imputed: sparse.csr_matrix | None,
    batch_size: int,
    progress: bool | None,
) -> Result:
    """Score every row.

    Raises
    ------
    InputError
        Values are not what the clocks expect, or ``missing="raise"`` and something is missing.
    """
    panel, n = plan.fitted.panel, source.x.shape[0]
    if panel is None:
        msg = "A plan without clocks cannot be run."
        raise InputError(msg)
    check_sample_of_values(source.x, plan.fitted.columns, source.where)
    rows = block_rows(len(panel.intercept), batch_size or settings.batch_size)
    finish = Finisher(plan, missing)
    n_imputed = np.zeros(len(panel.intercept), dtype=np.int64)
    ground = np.zeros((2, len(panel.intercept)), dtype=np.int64)
    done: list[Block] = []
    seen: list[Found] = []
    for part, block, columns in _progress(
        row_blocks(source.x, plan.fitted.columns, rows), -(-n // rows), progress=progress
    ):
        found = run_panel(block, columns, panel)
        cells = None if imputed is None else imputed[part][:, plan.fitted.columns]
        more = None if cells is None else count_imputed(block, columns, cells, panel, plan.fitted.stack.predictor)
        if more is not None:
            n_imputed += more[0].sum(axis=0).astype(np.int64)
        ground += count_below_ground(block, columns, panel, plan.fitted.stack.predictor)
        done.append(finish(found, part, more))
        seen.append(found._replace(predictor=np.empty((0, 0)), missing=np.empty((0, 0, 0))))
    block = done[0] if len(done) == 1 else Block(*(np.concatenate(column) for column in zip(*done, strict=True)))
    low, high, count = (np.concatenate([getattr(f, k) for f in seen]) for k in ("low", "high", "seen"))
    notes: list[tuple[type[Warning], str]] = [
        (FalconageWarning, text) for text in check_rows(low, high, count, names, source.where)
    ]
    if missing == "raise":
        _raise_on_missing(plan, block, names)
    holes = np.append(np.sum([f.holes for f in seen], axis=0), n)
    cells = holes[np.minimum(panel.row, panel.fixed)]
    notes += _coverage_notes(plan, block, cells > 0) + _negative_notes(plan, block, ground)
    if sparse.issparse(source.x):
        notes += _unstored_notes(source.x, plan.fitted.columns)
    return Result(block, cells, n_imputed, ground, tuple(notes))


def _raise_on_missing(plan: Plan, block: Block, names: pd.Index) -> None:
    worst = np.argwhere(block.filled > 0)
    if len(worst) == 0:
        return
    i, j = worst[0]
    msg = (
        f"missing='raise': {len(worst)} scores lack features; the first is {plan.clocks[j].id} of sample {names[i]!r}, "
        f"which lacks {block.filled[i, j]}. Type missing='catalogue' to fill by the policy of each clock."
    )
    raise InputError(msg)


def _negative_notes(plan: Plan, block: Block, ground: NDArray[np.int64]) -> list[tuple[type[Warning], str]]:
    """Counts of divisions below zero come from sites below their ground state: say so, never clip."""
    items = []
    for j, clock in enumerate(plan.clocks):
        negative = int((block.scores[:, j] < 0).sum()) if clock.form == "division" else 0
        if negative:
            seen, below = ground[:, plan.fitted.stack.owner == j].sum(axis=1)
            items.append(f"{clock.id} {negative} of {len(block.scores)} samples ({below / max(seen, 1):.0%} of values)")
    if not items:
        return []
    return [(FalconageWarning, f"negative divisions, as beta lies below the ground state of the sites: {few(items)}")]


def _unstored_notes(x: Any, columns: NDArray[np.int64]) -> list[tuple[type[Warning], str]]:
    """Cells that a sparse matrix does not store are zeros, not missing values."""
    cells = x.shape[0] * len(columns)
    wanted = np.zeros(x.shape[1], dtype=bool)
    wanted[columns] = True
    stored = int(wanted[x.indices].sum() if x.format == "csr" else np.diff(x.indptr)[wanted].sum())
    if cells == 0 or stored >= _STORED * cells:
        return []
    text = f"the sparse matrix stores {stored / cells:.0%} of the cells of these clocks; the others count as beta 0"
    return [(FalconageWarning, f"{text}. Store missing values as NaN")]


def _coverage_notes(plan: Plan, block: Block, term_missing: NDArray[np.bool_]) -> list[tuple[type[Warning], str]]:
    """One line a kind: low coverage, NaN with the reason, medians that stood in, the blood profile elsewhere."""
    notes: list[tuple[type[Warning], str]] = []
    clocks = plan.clocks
    with np.errstate(invalid="ignore"):
        low = ((block.coverage < _LOW_COVERAGE) & (block.lost < 0)).any(axis=0)
    if low.any():
        worst = [f"{clocks[j].id} {np.nanmin(block.coverage[:, j]):.0%}" for j in np.flatnonzero(low)]
        who = number(int(low.sum()), "clock", ("has", "have"))
        notes.append((CoverageWarning, f"{who} samples below {_LOW_COVERAGE:.0%} coverage: {few(worst)}"))
    for j in np.flatnonzero(block.odd.any(axis=0)):
        count, note = int(block.odd[:, j].sum()), LINKS[clocks[j].link].outside_note
        notes.append((FalconageWarning, f"{clocks[j].id}, {count} of {len(block.odd)} samples: {note}"))
    for code, reason in enumerate(LOST):
        if code in SAID_ELSEWHERE:
            continue
        count = (block.lost == code).sum(axis=0)
        if count.any():
            items = [f"{clocks[j].id} {count[j]} of {len(block.lost)}" for j in np.flatnonzero(count)]
            notes.append((CoverageWarning, f"NaN because {reason}: {few(items)}"))
    weak = ((block.weak > 0) & (block.lost < 0)).any(axis=0)
    if weak.any():
        items = [clocks[j].id for j in np.flatnonzero(weak)]
        notes.append((CoverageWarning, f"missing features without a reference took the sample's median: {few(items)}"))
    tissues = sorted(t for t in set(plan.samples.tissue) if t and t != "blood")
    if tissues:
        stack = plan.fitted.stack
        used = np.zeros(len(clocks), bool)
        blood = term_missing & (stack.lines.origin == FILLS.index("ref450k"))
        used[stack.owner[stack.predictor[blood]]] = True
        if used.any():
            items = [clocks[j].id for j in np.flatnonzero(used)]
            named = ", ".join(tissues)
            text = f"the 450K medians that stand in for missing CpGs are a blood profile; the data are {named}"
            notes.append((CoverageWarning, f"{text}: {few(items)}"))
    return notes
