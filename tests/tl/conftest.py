"""Small methylation data, and the specification of a linear clock as a loop that anybody can check by eye."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData

import falconage as fa
from falconage.clocks import _catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from falconage.clocks._clock import Terms


@pytest.fixture(scope="session")
def make() -> Callable[..., AnnData]:
    """``make(clocks, n=6, seed=0, **obs)``: random β in float64 for the union of the features of these clocks."""

    def build(clocks: str | Sequence[str], n: int = 6, seed: int = 0, **obs: Any) -> AnnData:
        ids = [clocks] if isinstance(clocks, str) else clocks
        features = sorted({str(f) for clock in _catalog.load(list(ids)) for f in clock.features})
        x = np.random.default_rng(seed).uniform(0.02, 0.98, (n, len(features)))
        names = pd.Index([f"s{i}" for i in range(n)])
        return AnnData(x, obs=pd.DataFrame(obs, index=names), var=pd.DataFrame(index=pd.Index(features)))

    return build


@pytest.fixture(scope="session")
def score() -> Callable[..., AnnData]:
    """Score a copy and return it; its warnings are not of interest."""

    def run(adata: AnnData, clocks: Any = None, **arguments: Any) -> AnnData:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scored = fa.tl.score_clocks(adata, clocks, copy=True, **arguments)
        assert scored is not None
        return scored

    return run


@pytest.fixture(scope="session")
def warned() -> Callable[..., list[warnings.WarningMessage]]:
    """Score in place and return the warnings."""

    def run(adata: AnnData, clocks: Any = None, **arguments: Any) -> list[warnings.WarningMessage]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fa.tl.score_clocks(adata, clocks, **arguments)
        return list(caught)

    return run


@pytest.fixture(scope="session")
def loop() -> Callable[..., np.ndarray]:
    """``loop(frame, terms)``: b, then + w·x in table order, one accumulator; a missing x takes ``reference``."""

    def predictor(frame: pd.DataFrame, terms: Terms, reference: np.ndarray | None = None) -> np.ndarray:
        values = terms.reference if reference is None else reference
        columns = dict(zip(frame.columns, frame.to_numpy(np.float64).T.copy(), strict=True))
        nothing = np.full(len(frame), np.nan)
        acc = np.full(len(frame), float(terms.intercept))
        for name, w, r, squared in zip(terms.features, terms.weights, values, terms.squared, strict=True):
            x = columns.get(name, nothing)
            x = np.where(np.isnan(x), r, x)
            acc = acc + w * (x * x if squared else x)
        return acc

    return predictor


@pytest.fixture(scope="session")
def bits() -> Callable[[Any], np.ndarray]:
    """The 64 bits of each number, every NaN the same."""

    def view(values: Any) -> np.ndarray:
        x = np.array(values, dtype=np.float64, order="C")
        x[np.isnan(x)] = np.nan
        return x.view(np.int64)

    return view
