"""Scored objects made by hand, as fa.tl.score_clocks leaves them."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from falconage._sanitise import sanitise

FACTS = {
    "horvath2013": ("Horvath pan-tissue clock", "years", "age_years", "age", 353, "horvath20"),
    "bohlin": ("Bohlin gestational age", "weeks", "gestational_weeks", "gestational", 251, "div7"),
    "dunedinpoam38": ("DunedinPoAm38", "biological years per year", "pace", "pace", 46, "identity"),
}


def scored_object(values, names, *, device="cpu", sha="0", created="2025-01-01T00:00:00+00:00", absent=()):
    """values: clock id → list of scores."""
    n, k = len(names), len(values)
    adata = ad.AnnData(X=np.zeros((n, 2), dtype=np.float32), obs=pd.DataFrame(index=list(names)))
    adata.obsm["clock_scores"] = pd.DataFrame(values, index=adata.obs_names, dtype=np.float64)
    coverage = np.linspace(0.9, 1.0, n * k, dtype=np.float32).reshape(n, k)
    adata.obsm["clock_scores_coverage"] = coverage
    adata.obsm["clock_scores_missing_bound"] = (1 - coverage) * 10
    rows = []
    for j, clock in enumerate(values):
        name, unit, scale, group, n_features, link = FACTS[clock]
        filled = sum(a[0] == clock for a in absent)
        rows.append(
            {
                "name": name,
                "group": group,
                "unit": unit,
                "scale": scale,
                "form": "linear",
                "link": link,
                "n_features": n_features,
                "n_present": n_features - filled,
                "n_absent_filled": filled,
                "coverage_min": float(coverage[:, j].min()),
                "coverage_median": float(np.median(coverage[:, j])),
                "n_scored": int(np.isfinite(values[clock]).sum()),
                "floor": 0.8,
                "device_requested": "auto",
                "device": device,
                "computed_in": "float64",
                "precision": "exact",
                "licence": "CC BY 4.0",
                "patent_notice": "",
                "weights_sha256": f"{clock}-{sha}",
                "doi": "10.1186/gb-2013-14-10-r115",
            }
        )
    record = {
        "schema": 1,
        "created": created,
        "params": {"min_coverage": 0.8, "layer": None, "clocks": list(values)},
        "input": {"n_obs": n, "n_vars": 2, "dtype": "float32", "obs_names_sha256": "-".join(names)},
        "output": {"scores_sha256": "abc"},
        "versions": {"falconage": "0.1.0", "python": "3.11.7", "numpy": "2.4.6", "anndata": "0.12.19"},
        "clocks": pd.DataFrame(rows, index=pd.Index(list(values), name="clock")),
        "refused": pd.DataFrame({"reason": ["needs age"]}, index=pd.Index(["grimage_v1"], name="clock")),
        "absent": pd.DataFrame(list(absent), columns=["clock", "feature", "filled_from"], dtype=object),
        "warnings": [],
        "device": device,
    }
    adata.uns["falconage"] = {"scores": {"clock_scores": sanitise(record)}}
    return adata


@pytest.fixture
def make():
    return scored_object


@pytest.fixture
def scored():
    return scored_object(
        {"horvath2013": [40.0, 50.0, np.nan], "dunedinpoam38": [1.0, 1.1, 0.9]},
        ["s1", "s2", "s3"],
        absent=[("horvath2013", "cg001", "ref_own"), ("horvath2013", "cg002", "ref450k")],
    )


@pytest.fixture(params=["memory", "h5ad", "zarr"])
def stored(request, tmp_path):
    """The object as it is, and as files give it back."""

    def store(adata):
        path = tmp_path / f"{adata.obs_names[0]}.{request.param}"
        if request.param == "h5ad":
            adata.write_h5ad(path)
            return ad.read_h5ad(path)
        if request.param == "zarr":
            adata.write_zarr(path)
            return ad.read_zarr(path)
        return adata

    return store
