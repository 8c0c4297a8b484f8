"""What is measured: clocks of the catalogue on uniform random methylation fractions.

A case is plain JSON, so that a peer in another environment can build the very same matrix from the seed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

EIGHT = ("horvath2013", "hannum", "dnamphenoage", "skinandblood", "lin", "dnamtl", "ying_causage", "stocz")
"""Eight linear clocks that falconage, pyaging and biolearn share; 2,666 weights on 2,340 distinct CpGs."""


def matrix(case: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return n × m uniform random fractions, C order."""
    rng = np.random.default_rng(case["seed"])
    return rng.random((case["n_obs"], case["n_vars"]), dtype=np.dtype(case["dtype"]))


def sample_names(case: dict[str, Any]) -> list[str]:
    """Names of the samples."""
    return [f"sample{i}" for i in range(case["n_obs"])]


def human_clocks() -> list[str]:
    """Every clock in the package that reads human methylation arrays without statistics of a cohort."""
    import falconage as fa

    table = fa.clocks.table()
    human = table["species"].str.split(", ").map(lambda names: "human" in names)
    shipped = (table["status"] == "shipped") & (table["modality"] == "dna_methylation") & ~table["cohort_dependent"]
    return list(table.index[human & shipped])


def _clock(name: str) -> Any:
    import falconage as fa

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices about names that mean another clock elsewhere
        return fa.clocks.get(name)


def make_case(name: str, n_obs: int, n_vars: int, dtype: str, clocks: list[str], seed: int) -> dict[str, Any]:
    """Describe a matrix whose columns are the clocks' features and, up to ``n_vars``, other CpG ids, shuffled."""
    features = list(dict.fromkeys(f for c in clocks for f in _clock(c).features))
    if len(features) > n_vars:
        message = f"{len(features)} features do not fit {n_vars} columns"
        raise ValueError(message)
    rng = np.random.default_rng(seed)
    columns, have = list(features), set(features)
    while len(columns) < n_vars:
        for number in rng.integers(1, 99_999_999, n_vars - len(columns)):
            if (other := f"cg{number:08d}") not in have:
                columns.append(other)
                have.add(other)
    return {
        "name": name,
        "seed": seed,
        "n_obs": n_obs,
        "n_vars": n_vars,
        "dtype": dtype,
        "order": "C",
        "n_features": len(features),
        "columns": list(rng.permutation(columns)),
        "clocks": clocks,
    }


def weights(clocks: list[str]) -> list[dict[str, Any]]:
    """Return the numbers of linear clocks of one table, for peers that bring none of their own."""
    found = []
    for name in clocks:
        (terms,) = _clock(name).terms
        found.append(
            {
                "clock": name,
                "features": list(map(str, terms.features)),
                "weights": list(map(float, terms.weights)),
                "intercept": float(terms.intercept),
            }
        )
    return found
