"""Ways in which a plausible number could be wrong, found by reading the code with suspicion."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse

import falconage as fa

BOUND = "clock_scores_missing_bound"


def test_a_sentinel_for_missing_is_not_taken_for_m_values(make):
    adata = make("hannum")
    adata.X[2, 5] = -1.0
    with pytest.raises(fa.InputError, match=r"np\.nan") as caught:
        fa.tl.score_clocks(adata, "hannum")
    assert "M-values" not in str(caught.value)


def test_advice_for_raw_does_not_name_x_alone(make):
    adata = make("hannum")
    adata.raw = AnnData(adata.X * 100, var=adata.var)
    with pytest.raises(fa.InputError, match=r"raw\.to_adata\(\)"):
        fa.tl.score_clocks(adata, "hannum", use_raw=True)


def test_bound_is_infinite_where_a_choice_has_no_score(make, score):
    """bernabeu_cage has no value below 20; heavy CpGs that are missing could take the predictor there."""
    adata = make("bernabeu_cage", n=3)
    terms = fa.clocks.get("bernabeu_cage").terms[0]
    single = pd.Series(terms.features).map(pd.Series(terms.features).value_counts()).to_numpy() == 1
    heavy = np.flatnonzero(single & ~terms.squared & (terms.weights > 0))
    heavy = heavy[np.argsort(-terms.weights[heavy])][:30]
    adata.X[:, [adata.var_names.get_loc(f) for f in terms.features[heavy]]] = 1.0
    beta = adata.to_df()[terms.features].to_numpy()
    y = (beta ** np.where(terms.squared, 2, 1)) @ terms.weights + terms.intercept
    adata.X[0, [adata.var_names.get_loc(f) for f in terms.features[heavy]]] = np.nan
    reference = dict.fromkeys(terms.features[heavy], 1.0)
    got = score(adata, "bernabeu_cage", min_coverage=0.1, reference=reference)
    value = got.obsm["clock_scores"].iloc[0, 0]
    assert value == pytest.approx(y[0])
    assert value >= 20
    assert value - terms.weights[heavy].sum() < 20
    assert np.isinf(got.obsm[BOUND][0, 0])


def test_column_female_of_numbers_is_not_told_the_reverse(make):
    adata = make("dnamfit_gait_noage")
    adata.obs = pd.DataFrame({"female": [1, 0] * 3}, index=adata.obs_names)
    with pytest.raises(fa.RefusedError, match=r"sex_map=\{1: 'female', 0: 'male'\}"):
        fa.tl.score_clocks(adata, "dnamfit_gait_noage")


@pytest.mark.parametrize("matrix", [sparse.csr_matrix, sparse.csc_matrix])
def test_cells_that_a_sparse_matrix_does_not_store_are_named(matrix, make):
    adata = make("hannum")
    x = adata.X.copy()
    x[np.random.default_rng(0).random(x.shape) < 0.3] = 0.0
    adata.X = matrix(x)
    with pytest.warns(fa.FalconageWarning, match=r"sparse matrix stores .* NaN"):
        fa.tl.score_clocks(adata, "hannum")


def test_share_below_the_ground_state_is_recorded_and_negative_divisions_are_named():
    livers = fa.datasets.liver_450k()
    with pytest.warns(fa.FalconageWarning, match=r"negative divisions.*epitoc2 3 of 6"):
        fa.tl.score_clocks(livers, "epitoc2")
    terms = fa.clocks.get("epitoc2").terms[0]
    below = livers.to_df()[terms.features].to_numpy(np.float64) < terms.second
    assert fa.get.manifest(livers)["clocks"].loc["epitoc2", "share_below_ground"] == pytest.approx(below.mean())


@pytest.mark.parametrize("word", ["N/A", "missing", "?", "Not available", None])
def test_words_for_unknown_are_no_tissue(word, make, score):
    adata = make("hannum")
    adata.obs["tissue"] = [word] * 6
    assert list(score(adata).obsm["clock_scores"].columns) == ["hannum"]


def test_a_column_that_differs_by_case_is_suggested(make):
    adata = make("dnamfit_gait_noage")
    adata.obs = pd.DataFrame({"Sex": ["F", "M"] * 3}, index=adata.obs_names)
    with pytest.raises(fa.RefusedError, match="sex_key='Sex'"):
        fa.tl.score_clocks(adata, "dnamfit_gait_noage")


@pytest.mark.parametrize(
    ("argument", "value"),
    [("genome_build", 10), ("tissue_key", ["a"]), ("species", 3), ("layer", 1), ("modality", 2.0)],
)
def test_arguments_that_are_no_text(argument, value, make):
    with pytest.raises(fa.InputError, match=f"{argument}=.*expected text"):
        fa.tl.score_clocks(make("hannum"), "hannum", **{argument: value})


def test_device_that_is_no_text(make):
    with pytest.raises(fa.DeviceError, match="device=5"):
        fa.tl.score_clocks(make("hannum"), "hannum", device=5)


def test_an_embedding_is_not_replaced(make):
    adata = make("hannum")
    adata.obsm["X_pca"] = np.zeros((6, 2))
    with pytest.raises(fa.InputError, match="X_pca"):
        fa.tl.score_clocks(adata, "hannum", key_added="X_pca")
