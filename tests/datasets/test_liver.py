"""The bundled livers: what is in them, and that their scores are what is known."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import falconage as fa

DATA = Path(fa.datasets.__file__).parent / "data"


@pytest.fixture(scope="module")
def livers():
    return fa.datasets.liver_450k()


def test_contents(livers):
    assert list(livers.obs_names) == ["adult_1", "adult_2", "adult_3", "fetal_1", "fetal_2", "fetal_3"]
    assert list(livers.obs["geo_accession"]) == [f"GSM17113{i}" for i in range(60, 66)]
    assert list(livers.obs["stage"]) == ["adult"] * 3 + ["fetal"] * 3
    assert set(livers.obs["tissue"]) == {"liver"}
    assert list(livers.obs["gestational_weeks"].astype(object).fillna("")) == [""] * 3 + ["20–22"] * 3
    # Neither is known, so neither is made up.
    assert not {"age", "sex", "female"} & set(livers.obs.columns)
    assert livers.X.dtype == np.float32
    assert livers.shape == (6, 49206)
    assert livers.var_names.is_unique
    assert (livers.X > 0).all()
    assert (livers.X < 1).all()


def test_horvath_2013_in_plain_numpy(livers):
    clock = fa.clocks.get("horvath2013")
    beta = livers.to_df()[list(clock.features)].to_numpy(dtype=np.float64)
    y = beta @ clock.terms[0].weights + 0.695507258
    years = np.where(y < 0, 21 * np.exp(y) - 1, 21 * y + 20)
    # Known to one digit from a computation on all 485,512 probes with the intercept rounded to 0.696.
    np.testing.assert_allclose(years[:3] + 21 * (0.696 - 0.695507258), [45.3, 45.8, 57.8], atol=0.05)
    assert ((years[3:] > 0.01) & (years[3:] < 0.235)).all()


def test_every_call_gives_a_fresh_object(livers):
    other = fa.datasets.liver_450k()
    other.X[:] = 0
    other.obs["stage"] = "none"
    again = fa.datasets.liver_450k()
    np.testing.assert_array_equal(again.X, livers.X)
    assert list(again.obs["stage"]) == list(livers.obs["stage"])


def test_it_can_be_written(livers, tmp_path):
    import anndata

    livers.write_h5ad(tmp_path / "x.h5ad")
    assert list(anndata.read_h5ad(tmp_path / "x.h5ad").obs["stage"]) == list(livers.obs["stage"])


def test_it_is_small_and_its_licence_lies_beside_it():
    assert (DATA / "liver_450k.parquet").stat().st_size < 2_500_000
    assert "MIT License" in (DATA / "LICENSE-methylcheck.txt").read_text()


@pytest.mark.network
def test_building_again_gives_the_same_values(repository, tmp_path):
    import pyarrow.parquet as pq

    # FALCONAGE_METHYLCHECK: the source archive, where it has been downloaded already.
    given = os.environ.get("FALCONAGE_METHYLCHECK")
    command = [sys.executable, str(repository / "tools" / "build_datasets.py"), "--out", str(tmp_path)]
    subprocess.run([*command, *(["--sdist", given] if given else [])], check=True)
    built, shipped = tmp_path / "liver_450k.parquet", DATA / "liver_450k.parquet"
    assert pq.read_table(built).equals(pq.read_table(shipped), check_metadata=True)
    if pq.read_metadata(built).created_by == pq.read_metadata(shipped).created_by:
        assert built.read_bytes() == shipped.read_bytes()
