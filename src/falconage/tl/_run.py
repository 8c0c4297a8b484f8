"""Run a plan: one read of the matrix, block by block; nothing is written to the object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from falconage._errors import CoverageWarning, FalconageWarning, InputError
from falconage._settings import settings
from falconage.array._blocks import block_rows, row_blocks
from falconage.array._panel import Found, run_panel
from falconage.clocks._lines import FILLS
from falconage.clocks._links import LINKS
from falconage.tl._finish import LOST, SAID_ELSEWHERE, Block, Finisher
from falconage.tl._imputed import count_imputed
from falconage.tl._values import check_rows, check_sample_of_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray
    from scipy import sparse

    from falconage._adata import Source
    from falconage.tl._plan import Plan

__all__ = ["Result", "run_plan"]

_LOW_COVERAGE = 0.95
_LONG = 2
_NAMED = 4


class Result(NamedTuple):
    """Everything computed, which terms were missing in any row, and what to warn of."""

    block: Block
    term_missing: NDArray[np.bool_]
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
    done: list[Block] = []
    seen: list[Found] = []
    for part, block, columns in _progress(
        row_blocks(source.x, plan.fitted.columns, rows), -(-n // rows), progress=progress
    ):
        found = run_panel(block, columns, panel)
        cells = None if imputed is None else imputed[part][:, plan.fitted.columns]
        more = None if cells is None else count_imputed(block, columns, cells, panel, plan.fitted.stack.predictor)
        done.append(finish(found, part, more))
        seen.append(found._replace(predictor=np.empty((0, 0)), missing=np.empty((0, 0, 0))))
    block = done[0] if len(done) == 1 else Block(*(np.concatenate(column) for column in zip(*done, strict=True)))
    low, high, count = (np.concatenate([getattr(f, k) for f in seen]) for k in ("low", "high", "seen"))
    notes: list[tuple[type[Warning], str]] = [
        (FalconageWarning, text) for text in check_rows(low, high, count, names, source.where)
    ]
    if missing == "raise":
        _raise_on_missing(plan, block, names)
    holes = np.logical_or.reduce([f.holes for f in seen])
    term_missing = np.append(holes, True)[np.minimum(panel.row, panel.fixed)]
    notes += _coverage_notes(plan, block, term_missing)
    return Result(block, term_missing, tuple(notes))


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


def _clocks(count: int) -> str:
    return "1 clock has" if count == 1 else f"{count} clocks have"


def _few(items: list[str]) -> str:
    return ", ".join(items[:_NAMED]) + (f" and {len(items) - _NAMED} more" if len(items) > _NAMED else "")


def _coverage_notes(plan: Plan, block: Block, term_missing: NDArray[np.bool_]) -> list[tuple[type[Warning], str]]:
    """One line a kind: low coverage, NaN with the reason, medians that stood in, the blood profile elsewhere."""
    notes: list[tuple[type[Warning], str]] = []
    clocks = plan.clocks
    with np.errstate(invalid="ignore"):
        low = ((block.coverage < _LOW_COVERAGE) & (block.lost < 0)).any(axis=0)
    if low.any():
        worst = [f"{clocks[j].id} {np.nanmin(block.coverage[:, j]):.0%}" for j in np.flatnonzero(low)]
        notes.append(
            (CoverageWarning, f"{_clocks(int(low.sum()))} samples below {_LOW_COVERAGE:.0%} coverage: {_few(worst)}")
        )
    for j in np.flatnonzero(block.odd.any(axis=0)):
        count, note = int(block.odd[:, j].sum()), LINKS[clocks[j].link].outside_note
        notes.append((FalconageWarning, f"{clocks[j].id}, {count} of {len(block.odd)} samples: {note}"))
    for code, reason in enumerate(LOST):
        if code in SAID_ELSEWHERE:
            continue
        count = (block.lost == code).sum(axis=0)
        if count.any():
            items = [f"{clocks[j].id} {count[j]} of {len(block.lost)}" for j in np.flatnonzero(count)]
            notes.append((CoverageWarning, f"NaN because {reason}: {_few(items)}"))
    weak = (block.weak & (block.lost < 0)).any(axis=0)
    if weak.any():
        items = [clocks[j].id for j in np.flatnonzero(weak)]
        notes.append((CoverageWarning, f"missing features without a reference took the sample's median: {_few(items)}"))
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
            notes.append((CoverageWarning, f"{text}: {_few(items)}"))
    return notes
