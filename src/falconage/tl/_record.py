"""The manifest: what was computed, from what, on what."""

from __future__ import annotations

import hashlib
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import falconage
from falconage._sanitise import sanitise
from falconage.clocks._lines import FILLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from falconage.array._device import Device
    from falconage.tl._plan import Plan
    from falconage.tl._run import Result

__all__ = ["hash_array", "hash_names", "make_record", "merge_records"]

SCHEMA = 1
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
    fitted, block = plan.fitted, result.block
    stack, account = fitted.stack, fitted.account
    origin = np.array(FILLS, dtype=object)
    missing_term = account.n_columns == 0
    filled = ~np.isin(stack.lines.origin, [FILLS.index("none"), FILLS.index("dropped")])
    owner = stack.owner[stack.predictor]
    rows = []
    for i, c in enumerate(plan.clocks):
        mine = owner == i
        coverage = block.coverage[:, i]
        some = coverage[~np.isnan(coverage)]
        used = sorted(set(origin[stack.lines.origin[mine & result.term_missing]]) - {"none"})
        features = {
            name: pd.unique(stack.feature[mine & mask])
            for name, mask in (("all", mine), ("present", ~missing_term), ("filled", missing_term & filled))
        }
        rows.append(
            {
                **{k: getattr(c, k) for k in ("name", "group", "unit", "scale", "form", "link", "tissue", "doi")},
                "missing_policy": " > ".join(c.missing),
                "species": ", ".join(c.species),
                "n_features": len(features["all"]),
                "n_present": len(features["present"]),
                "n_absent_filled": len(features["filled"]),
                "coverage_min": float(some.min()) if len(some) else np.nan,
                "coverage_median": float(np.median(some)) if len(some) else np.nan,
                "n_scored": int((block.lost[:, i] < 0).sum()),
                "floor": plan.floors[c.id],
                "device_requested": device.requested,
                "device": device.used,
                "computed_in": "float64",
                "backend": "numba",
                "precision": "exact",
                "references_used": ", ".join(used),
                **{k: getattr(c, k) for k in ("licence", "patent_notice", "source")},
                "weights_sha256": c.sha256,
                "missing": missing,
                "scored_at": created,
            }
        )
    return pd.DataFrame(rows, index=pd.Index([c.id for c in plan.clocks], name="clock"))


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
    return {
        "schema": SCHEMA,
        "created": created,
        "params": dict(params),
        "input": dict(described),
        "versions": _versions(),
        "clocks": _clock_rows(plan, result, device, str(params["missing"]), created),
        "refused": _frame_of_reasons(plan.refused),
        "absent": _absent_rows(plan),
        "warnings": warnings,
        "samples": list(plan.samples.notes),
    }


def merge_records(old: Mapping[str, Any], new: dict[str, Any], order: list[str]) -> dict[str, Any]:
    """Keep what an earlier call recorded of the clocks that this one did not score."""
    if old:
        fresh = set(new["clocks"].index)
        kept = old["clocks"].loc[[i for i in old["clocks"].index if i not in fresh]]
        new["clocks"] = pd.concat([kept, new["clocks"]]).reindex(order)
        absent = old["absent"]
        new["absent"] = pd.concat([absent[~absent["clock"].isin(fresh)], new["absent"]], ignore_index=True)
        new["absent"].index = new["absent"].index.astype(str)
        refused = old["refused"]
        stay = [i for i in refused.index if i not in order and i not in new["refused"].index]
        again = new["refused"].loc[[i for i in new["refused"].index if i not in order]]
        new["refused"] = pd.concat([refused.loc[stay], again])
        asked = [*old["params"].get("clocks", []), *new["params"]["clocks"]]
        new["params"]["clocks"] = list(dict.fromkeys(map(str, asked)))
    devices = sorted(set(new["clocks"]["device"]))
    new["device"] = devices[0] if len(devices) == 1 else "mixed"
    return dict(sanitise(new))
