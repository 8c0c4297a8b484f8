"""Synthetic blood methylation whose clock scores follow known ages."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from falconage._errors import InputError

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from falconage.clocks._clock import Terms

__all__ = ["toy"]

_AGES = (20.0, 80.0)
_MIDDLE = 50.0
# Predictor at 50 years and its change per year. Horvath's link is 21·y + 20 from the age of 20.
_TRUTH = {
    "horvath2013": (30 / 21, 1 / 21),
    "skinandblood": (30 / 21, 1 / 21),
    "hannum": (50.0, 1.0),
    "dnamphenoage": (50.0, 1.0),
    "dnamtl": (7.1, -0.02),
    "epitoc2": (1900.0, 25.0),
}
_PRECISION = 300.0


class _Model(NamedTuple):
    """CpGs (n), their mean β at 50 years, change of β per year, and standard deviation between people."""

    cpgs: list[str]
    level: NDArray[np.float64]
    slope: NDArray[np.float64]
    spread: NDArray[np.float64]


def toy(n_obs: int = 24, *, rng: int | np.random.Generator | None = 0) -> AnnData:
    """Make **synthetic** blood methylation of people of known age, for examples and tests.

    Every CpG of Horvath 2013, Skin & Blood, Hannum, DNAm PhenoAge, DNAmTL and epiTOC2 starts from the 450K
    reference profile and drifts linearly with age, by the smallest drift that makes these scores follow the
    truth: the four ages equal ``obs["age"]``, DNAmTL is 7.1 kb at 50 years and loses 0.02 kb a year, epiTOC2 is
    1,900 divisions at 50 and gains 25 a year. Independent noise per CpG then blurs a single score (the ages by
    2–4 years, one standard deviation). Sex and batch have no effect at all. It is no model of biology.

    Parameters
    ----------
    n_obs
        Number of people.
    rng
        Seed or generator; the same seed gives the same values.

    Returns
    -------
    n_obs × 1,439 CpGs, β (0–1), float32. ``obs``: ``age`` (years, 20–80), ``sex`` (female, male), ``tissue``
    (blood), ``batch`` (A, B).

    Raises
    ------
    InputError
        ``n_obs`` is not a positive whole number.

    Examples
    --------
    >>> import falconage as fa
    >>> adata = fa.datasets.toy()
    >>> list(adata.obs.columns)
    ['age', 'sex', 'tissue', 'batch']
    """
    from anndata import AnnData

    if not isinstance(n_obs, int | np.integer) or isinstance(n_obs, bool) or n_obs < 1:
        msg = f"n_obs={n_obs!r}: a positive whole number of people is needed, such as n_obs=24."
        raise InputError(msg)
    model = _model()
    random = np.random.default_rng(rng)
    age = np.round(random.uniform(*_AGES, size=n_obs), 1)
    sex = random.permutation(np.arange(n_obs) % 2)
    noise = random.standard_normal((n_obs, len(model.cpgs)), dtype=np.float32)
    beta = model.level + (age - _MIDDLE)[:, None] * model.slope + noise * model.spread
    obs = pd.DataFrame(
        {
            "age": age,
            "sex": pd.Categorical(np.array(["female", "male"])[sex]),
            "tissue": pd.Categorical(["blood"] * n_obs),
            "batch": pd.Categorical(np.array(["A", "B"])[np.arange(n_obs) * 2 // n_obs]),
        },
        index=pd.Index([f"person_{i + 1}" for i in range(n_obs)]),
    )
    matrix = np.clip(beta, 0.001, 0.999).astype(np.float32)
    return AnnData(matrix, obs=obs, var=pd.DataFrame(index=pd.Index(model.cpgs)))


@cache
def _model() -> _Model:
    """Solve for the smallest shift and drift of β that give every clock its level and slope."""
    from falconage.clocks import _catalog

    terms = [clock.terms[0] for clock in _catalog.load(list(_TRUTH))]
    cpgs = sorted({str(cpg) for one in terms for cpg in one.features})
    reference = _catalog.reference_450k().reindex(cpgs).fillna(0.5).to_numpy(dtype=np.float64)
    position = {cpg: i for i, cpg in enumerate(cpgs)}
    weights = np.zeros((len(terms), len(cpgs)))
    intercept = np.zeros(len(terms))
    for row, one in enumerate(terms):
        weight, intercept[row] = _linear(one)
        np.add.at(weights[row], [position[str(cpg)] for cpg in one.features], weight)
    # CpGs near 0 or 1 have less room: movement is dearer by 1 / (β(1 − β)).
    room = reference * (1 - reference)
    lever = room * weights
    cost = lever @ weights.T
    at_middle, per_year = (np.array(column) for column in zip(*_TRUTH.values(), strict=True))
    shift = lever.T @ np.linalg.solve(cost, at_middle - intercept - weights @ reference)
    slope = lever.T @ np.linalg.solve(cost, per_year)
    level: NDArray[np.float64] = np.asarray(reference + shift, dtype=np.float64)
    spread: NDArray[np.float64] = np.sqrt(room / (_PRECISION + 1))
    return _Model(cpgs, level, slope, spread)


def _linear(terms: Terms) -> tuple[NDArray[np.float64], float]:
    """Weights and intercept; the number of divisions 2·mean((β − β0) / (δ(1 − β0))) is linear in β too."""
    if np.isnan(terms.second).all():
        return terms.weights, terms.intercept
    per_beta = 2 / (len(terms.weights) * terms.weights * (1 - terms.second))
    return per_beta, -float(per_beta @ terms.second)
