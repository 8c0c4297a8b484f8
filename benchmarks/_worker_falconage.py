"""falconage and the floor: the whole public call, its parts, and one stacked BLAS product of the same matrix."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
import pandas as pd
from _cases import EIGHT, human_clocks, matrix, sample_names
from _common import MIB, versions
from _workers import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PARTS = {
    "samples": ("falconage.tl._score", "read_samples"),
    "plan": ("falconage.tl._score", "make_plan"),
    "plan.match": ("falconage.tl._plan", "fit_features"),
    "run": ("falconage.tl._score", "run_plan"),
    "run.kernel": ("falconage.tl._run", "run_panel"),
    "hashes": ("falconage.tl._score", "hash_names"),
    "record": ("falconage.tl._score", "store_scores"),
}
"""Parts of a call → the function that does it; ``plan.match`` is inside ``plan`` and ``run.kernel`` inside ``run``."""


@contextmanager
def _stop_watches() -> Iterator[dict[str, float]]:
    """Add up the CPU time of each part; a part whose function is not there is left out."""
    spent: dict[str, float] = {}
    kept = []
    for part, (module_name, name) in _PARTS.items():
        module = import_module(module_name)
        inner = getattr(module, name, None)
        if inner is None:
            continue
        spent[part] = 0.0

        def outer(*args: Any, _inner: Callable[..., Any] = inner, _part: str = part, **kwargs: Any) -> Any:
            start = time.process_time()
            try:
                return _inner(*args, **kwargs)
            finally:
                spent[_part] += time.process_time() - start

        kept.append((module, name, inner))
        setattr(module, name, outer)
    try:
        yield spent
    finally:
        for module, name, inner in kept:
            setattr(module, name, inner)


def _load(job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    import falconage as fa

    x = matrix(job)
    names = pd.Index(sample_names(job))
    obs = pd.DataFrame({"age": 50.0, "sex": "female", "tissue": "blood"}, index=names)
    var = pd.DataFrame(index=pd.Index(job["columns"]))
    everything = human_clocks()

    def score(clocks: list[str]) -> Callable[[], Callable[[], dict[str, Any]]]:
        def prepare() -> Callable[[], dict[str, Any]]:
            adata = ad.AnnData(x, obs=obs.copy(), var=var)

            def run() -> dict[str, Any]:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fa.tl.score_clocks(adata, clocks, to_obs=False, on_refusal="warn", progress=False)
                return dict(adata.obsm["clock_scores"])

            return run

        return prepare

    def parts(clocks: list[str]) -> Callable[[], Callable[[], dict[str, float]]]:
        def prepare() -> Callable[[], dict[str, float]]:
            run = score(clocks)()

            def watched() -> dict[str, float]:
                with _stop_watches() as spent:
                    start = time.process_time()
                    run()
                    total = time.process_time() - start
                return {"whole": total, **spent}

            return watched

        return prepare

    w = np.zeros((job["n_vars"], len(EIGHT)), dtype=x.dtype)
    position = pd.Index(job["columns"])
    for j, clock in enumerate(EIGHT):
        (terms,) = fa.clocks.get(clock).terms
        w[position.get_indexer(terms.features), j] = terms.weights

    tasks = {
        "falconage_8": score(list(EIGHT)),
        "falconage_8_parts": parts(list(EIGHT)),
        "falconage_all": score(everything),
        "falconage_all_parts": parts(everything),
        "blas": lambda: lambda: dict(zip(EIGHT, (x @ w).T, strict=True)),
    }
    packages = ("falconage", "anndata", "numpy", "scipy", "pandas", "numba")
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    facts = {
        "versions": versions(packages) | {"blas": f"{blas.get('name')} {blas.get('version')}"},
        "input_mib": round(x.nbytes / MIB, 1),
    }
    return tasks, facts


if __name__ == "__main__":
    serve(_load)
