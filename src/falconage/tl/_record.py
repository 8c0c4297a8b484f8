"""The manifest: what was computed, from what, on what."""

from __future__ import annotations

import hashlib
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import falconage
from falconage._sanitise import sanitise
from falconage.clocks._lines import FILLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from falconage.array._device import Device
    from falconage.tl._plan import Plan
    from falconage.tl._run import Result

__all__ = ["hash_array", "hash_names", "make_record", "merge_records"]

SCHEMA = 1
_FACTS = ("name", "group", "unit", "scale", "form", "link", "tissue", "doi")
_PACKAGES = ("anndata", "numpy", "scipy", "pandas", "numba")


@cache
def _versions() -> dict[str, str]:
    packages = {"falconage": falconage.__version__, **{p: version(p) for p in _PACKAGES}}
    return {**packages, "python": platform.python_version()}


def hash_names(names: pd.Index) -> str:
    """SHA-256 of names joined by line feeds, in order."""
    try:
        text = "\n".join(names)
    except TypeError:
        text = "\n".join(map(str, names))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_array(values: np.ndarray[Any, Any]) -> str:
    """SHA-256 of the little-endian bytes of an array in C order."""
    plain = np.ascontiguousarray(values)
    return hashlib.sha256(plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes()).hexdigest()


def _clock_rows(plan: Plan, result: Result, device: Device, missing: str, created: str) -> pd.DataFrame:
    block, clocks = result.block, plan.clocks
    counted = _count_features(plan, result)
    if missing == "nan":  # nothing stood in: what lacked a feature has no score
        counted |= {"n_cells_filled": 0, "n_absent_filled": 0, "fills": "", "references_used": ""}
    low, middle = _coverage_of(block.coverage)
    measured, below = (_by_clock(plan, row) for row in result.ground)
    columns: dict[str, Any] = {
        **{k: [getattr(c, k) for c in clocks] for k in _FACTS},
        "missing_policy": [" > ".join(c.missing) for c in clocks],
        "species": [", ".join(c.species) for c in clocks],
        **counted,
        "n_cells_imputed": _by_clock(plan, result.imputed).astype(np.int64),
        "n_samples_median_filled": (block.weak > 0).sum(axis=0),
        "median_filled_share_max": block.weak.max(axis=0).astype(np.float64),
        "share_below_ground": np.divide(below, measured, out=np.full(len(clocks), np.nan), where=measured > 0),
        "coverage_min": low,
        "coverage_median": middle,
        "n_scored": (block.lost < 0).sum(axis=0),
        "floor": [plan.floors[c.id] for c in clocks],
        "device_requested": device.requested,
        "device": device.used,
        "computed_in": "float64",
        "backend": "numba",
        "precision": "exact",
        **{k: [getattr(c, k) for c in clocks] for k in ("licence", "patent_notice", "source")},
        "weights_sha256": [c.sha256 for c in clocks],
        "missing": missing,
        "scored_at": created,
        "call": "1",
    }
    return pd.DataFrame(columns, index=pd.Index([c.id for c in clocks], name="clock", dtype=object))


def _coverage_of(coverage: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and median coverage of each clock over the samples that have one."""
    if not np.isnan(coverage).any():
        return coverage.min(axis=0).astype(np.float64), np.median(coverage, axis=0).astype(np.float64)
    columns = [column[~np.isnan(column)] for column in coverage.T]
    low = np.array([c.min() if len(c) else np.nan for c in columns])
    return low, np.array([np.median(c) if len(c) else np.nan for c in columns])


def _count_features(plan: Plan, result: Result) -> dict[str, Any]:
    """Distinct features of each clock, those in the data, those absent and filled, and where fills came from."""
    stack = plan.fitted.stack
    absent = plan.fitted.account.n_columns == 0
    filled = ~np.isin(stack.lines.origin, [FILLS.index("none"), FILLS.index("dropped")])
    owner = stack.owner[stack.predictor]
    starts = np.searchsorted(owner, np.arange(len(plan.clocks) + 1))
    counts = ("n_features", "n_present", "n_absent_filled", "n_cells_filled", "fills", "references_used")
    out: dict[str, list[Any]] = {k: [] for k in counts}
    for a, b in pairwise(starts):
        mine = slice(a, b)
        names, cells, origin = stack.feature[mine], result.term_cells[mine], stack.lines.origin[mine]
        by_source = dict(enumerate(np.bincount(origin, weights=cells, minlength=len(FILLS)).astype(int)))
        used = {FILLS[o]: n for o, n in by_source.items() if n and FILLS[o] != "none"}
        out["n_cells_filled"].append(int(cells[~absent[mine] & (origin > 0)].sum()))
        out["fills"].append(", ".join(f"{name} {n}" for name, n in used.items()))
        out["n_features"].append(pd.Index(names).nunique())
        out["n_present"].append(pd.Index(names[~absent[mine]]).nunique())
        out["n_absent_filled"].append(pd.Index(names[absent[mine] & filled[mine]]).nunique())
        out["references_used"].append(", ".join(sorted(used)))
    return out


def _by_clock(plan: Plan, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum what was counted for each predictor over the predictors of each clock."""
    sums = np.bincount(plan.fitted.stack.owner, weights=counts, minlength=len(plan.clocks))
    return np.asarray(sums, dtype=np.float64)


def _absent_rows(plan: Plan) -> pd.DataFrame:
    stack = plan.fitted.stack
    absent = np.flatnonzero(plan.fitted.account.n_columns == 0)
    ids = np.array([c.id for c in plan.clocks], dtype=object)
    frame = pd.DataFrame(
        {
            "clock": ids[stack.owner[stack.predictor[absent]]],
            "feature": stack.feature[absent],
            "filled_from": np.array(FILLS, dtype=object)[stack.lines.origin[absent]],
        }
    )
    frame = frame.drop_duplicates(ignore_index=True)
    frame.index = frame.index.astype(str)
    return frame


def _frame_of_reasons(refused: Mapping[str, str]) -> pd.DataFrame:
    index = pd.Index(list(refused), name="clock", dtype=object)
    return pd.DataFrame({"reason": np.array(list(refused.values()), dtype=object)}, index=index)


def make_record(
    plan: Plan,
    result: Result,
    device: Device,
    *,
    params: Mapping[str, Any],
    described: Mapping[str, Any],
    warnings: list[str],
) -> dict[str, Any]:
    """Build the manifest of one call; plain values only, so that h5ad and zarr take it."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    call = {
        "created": created,
        "params": dict(params),
        "input": dict(described),
        "warnings": warnings,
        "samples": list(plan.samples.notes),
    }
    return {
        "schema": SCHEMA,
        **call,
        "calls": {"1": call},
        "versions": _versions(),
        "clocks": _clock_rows(plan, result, device, str(params["missing"]), created),
        "refused": _frame_of_reasons(plan.refused),
        "absent": _absent_rows(plan),
    }


def merge_records(old: Mapping[str, Any], new: dict[str, Any], order: list[str]) -> dict[str, Any]:
    """Keep what an earlier call recorded of the clocks that this one did not score."""
    if old:
        if "parts" in old:
            new["parts"] = old["parts"]
        fresh = set(new["clocks"].index)
        kept = old["clocks"].loc[[i for i in old["clocks"].index if i not in fresh]]
        calls = old.get("calls", {})
        number = str(1 + max(map(int, calls), default=0))
        new["clocks"]["call"] = number
        named = kept.get("call", ())
        stay_calls = {c: calls[c] for c in dict.fromkeys(named) if c in calls}
        new["calls"] = {**stay_calls, number: new["calls"]["1"]}
        new["clocks"] = pd.concat([kept, new["clocks"]]).reindex(order)
        absent = old["absent"]
        new["absent"] = pd.concat([absent[~absent["clock"].isin(fresh)], new["absent"]], ignore_index=True)
        new["absent"].index = new["absent"].index.astype(str)
        refused = old["refused"]
        stay = [i for i in refused.index if i not in order and i not in new["refused"].index]
        again = new["refused"].loc[[i for i in new["refused"].index if i not in order]]
        new["refused"] = pd.concat([refused.loc[stay], again])
        asked = [*old["params"].get("clocks", []), *new["params"]["clocks"]]
        new["params"] = {**new["params"], "clocks": list(dict.fromkeys(map(str, asked)))}
    devices = sorted(set(new["clocks"]["device"]))
    new["device"] = devices[0] if len(devices) == 1 else "mixed"
    return dict(sanitise(new))
