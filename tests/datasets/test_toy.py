"""The synthetic data: deterministic, plausible, and true to the ages it states."""

from __future__ import annotations

import time

import numpy as np
import pytest

import falconage as fa

CLOCKS = ["horvath2013", "skinandblood", "hannum", "dnamphenoage", "dnamtl", "epitoc2"]


def by_hand(adata, name):
    """Score of a clock in plain NumPy, from the published formulas."""
    terms = fa.clocks.get(name).terms[0]
    beta = adata.to_df()[list(terms.features)].to_numpy(dtype=np.float64)
    if name == "epitoc2":
        return 2 * np.mean((beta - terms.second) / (terms.weights * (1 - terms.second)), axis=1)
    y = beta @ terms.weights + terms.intercept
    if name in {"horvath2013", "skinandblood"}:
        return np.where(y < 0, 21 * np.exp(y) - 1, 21 * y + 20)
    return y


def test_contents():
    adata = fa.datasets.toy()
    assert adata.n_obs == 24
    assert list(adata.obs.columns) == ["age", "sex", "tissue", "batch"]
    assert adata.obs["age"].between(20, 80).all()
    assert set(adata.obs["sex"]) == {"female", "male"}
    assert set(adata.obs["tissue"]) == {"blood"}
    assert set(adata.obs["batch"]) == {"A", "B"}
    assert adata.X.dtype == np.float32
    assert ((adata.X > 0) & (adata.X < 1)).all()
    features = {str(f) for name in CLOCKS for f in fa.clocks.get(name).features}
    assert set(adata.var_names) == features


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", CLOCKS)
def test_scores_follow_age(name, seed):
    adata = fa.datasets.toy(24, rng=seed)
    r = np.corrcoef(by_hand(adata, name), adata.obs["age"])[0, 1]
    assert (-r if name == "dnamtl" else r) > 0.9


@pytest.mark.parametrize(
    ("name", "at_fifty", "a_year", "noise"),
    [
        ("horvath2013", 50, 1, 4),
        ("skinandblood", 50, 1, 4),
        ("hannum", 50, 1, 4),
        ("dnamphenoage", 50, 1, 4),
        ("dnamtl", 7.1, -0.02, 0.1),
        ("epitoc2", 1900, 25, 100),
    ],
)
def test_the_truth_is_what_the_docstring_says(name, at_fifty, a_year, noise):
    adata = fa.datasets.toy(400, rng=3)
    age = adata.obs["age"].to_numpy()
    slope, level = np.polyfit(age - 50, by_hand(adata, name), 1)
    residual = by_hand(adata, name) - at_fifty - a_year * (age - 50)
    assert slope == pytest.approx(a_year, rel=0.05)
    assert level == pytest.approx(at_fifty, abs=5 * noise / 20)
    assert np.std(residual) < noise


def test_one_seed_one_result():
    np.testing.assert_array_equal(fa.datasets.toy().X, fa.datasets.toy(rng=np.random.default_rng(0)).X)
    assert fa.datasets.toy().obs.equals(fa.datasets.toy().obs)
    assert not np.array_equal(fa.datasets.toy(rng=1).X, fa.datasets.toy().X)


def test_results_are_independent_objects():
    one = fa.datasets.toy()
    one.X[:] = 0
    one.var_names = [f"x{i}" for i in range(one.n_vars)]
    assert fa.datasets.toy().X.min() > 0
    assert fa.datasets.toy().var_names[0].startswith("cg")


def test_speed():
    fa.datasets.toy()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        fa.datasets.toy()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05


@pytest.mark.parametrize("n_obs", [0, -1, 2.5, True, "3"])
def test_number_of_people(n_obs):
    with pytest.raises(fa.InputError, match="positive whole number"):
        fa.datasets.toy(n_obs)
    assert fa.datasets.toy(1).shape[0] == 1
