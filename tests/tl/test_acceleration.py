"""Difference and residual, against hand arithmetic and plain NumPy."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from falconage import datasets, tl
from falconage._errors import CovariateWarning, FalconageWarning, InputError, RefusedError, UnknownClockError
from falconage._sanitise import sanitise
from falconage.tl._acceleration import acceleration

pytestmark = pytest.mark.filterwarnings("ignore:.*zarr v[23].*")

KEY = "clock_scores_acceleration"
SCALES = {
    "horvath2013": ("years", "age_years"),
    "petkovich_blood": ("months", "age_months"),
    "scepiage": ("weeks", "age_weeks"),
    "bitage": ("hours", "age_hours"),
    "bohlin": ("weeks", "gestational_weeks"),
    "dunedinpoam38": ("biological years per year", "pace"),
    "dnamtl": ("kb", "telomere_kb"),
    "normalised": ("fraction of maximum lifespan", "relative_age"),
    "fraction": ("fraction", "proportion"),
}


def scored(values, **obs):
    n = len(next(iter(values.values())))
    names = [f"s{i}" for i in range(n)]
    adata = ad.AnnData(X=np.zeros((n, 1), dtype=np.float32), obs=pd.DataFrame(obs, index=names))
    adata.obsm["clock_scores"] = pd.DataFrame(values, index=adata.obs_names, dtype=np.float64)
    facts = pd.DataFrame(
        {
            "name": list(values),
            "unit": [SCALES[c][0] for c in values],
            "scale": [SCALES[c][1] for c in values],
            "weights_sha256": [f"sha of {c}" for c in values],
        },
        index=pd.Index(list(values), name="clock"),
    )
    adata.uns["falconage"] = {"scores": {"clock_scores": sanitise({"schema": 1, "clocks": facts})}}
    return adata


def record_of(adata, key=KEY):
    return adata.uns["falconage"]["acceleration"][key]


@pytest.fixture
def cohort(rng):
    n = 40
    age = rng.uniform(20, 80, n)
    adata = scored(
        {"horvath2013": 3 + 0.9 * age + rng.normal(0, 3, n), "dnamtl": 8 - 0.02 * age + rng.normal(0, 0.1, n)},
        age=age,
        bmi=rng.normal(25, 3, n),
        sex=pd.Categorical(rng.choice(["female", "male"], n)),
        control=rng.random(n) < 0.7,
    )
    return adata


def ols(y, *columns):
    design = np.column_stack([np.ones(len(y)), *columns])
    return np.linalg.lstsq(design, y, rcond=None)[0]


@pytest.mark.parametrize(
    ("clock", "score", "age_in_years", "expected"),
    [
        ("horvath2013", 52.0, 50.0, 2.0),
        ("petkovich_blood", 14.0, 1.0, 2.0),
        ("scepiage", 60.0, 1.0, 60.0 - 365.25 / 7),
        ("bitage", 100.0, 2 / 365.25, 100.0 - 48.0),
    ],
)
def test_difference_is_in_the_unit_of_the_clock(clock, score, age_in_years, expected):
    adata = scored({clock: [score]}, age=[age_in_years])
    acceleration(adata)
    assert adata.obsm[KEY].loc["s0", clock] == pytest.approx(expected, rel=1e-12)
    assert record_of(adata)["clocks"].loc[clock, "unit"] == SCALES[clock][0]


def test_age_in_another_unit_is_converted():
    adata = scored({"horvath2013": [2.0], "petkovich_blood": [30.0]}, months=[18.0])
    acceleration(adata, age_key="months", age_unit="months")
    np.testing.assert_allclose(adata.obsm[KEY], [[0.5, 12.0]])


def test_a_gestational_clock_meets_gestational_age_only():
    adata = scored({"bohlin": [39.5, 41.0]}, age=[0.0, 0.0], ga=[40.0, np.nan])
    with pytest.raises(RefusedError, match="gestational_key="):
        acceleration(adata)
    with pytest.warns(CovariateWarning, match="1 of 2 samples"):
        acceleration(adata, gestational_key="ga")
    np.testing.assert_allclose(adata.obsm[KEY]["bohlin"], [-0.5, np.nan])
    assert "gestational age" in record_of(adata)["clocks"].loc["bohlin", "formula"]


def test_gestational_age_in_days_is_noticed():
    adata = scored({"bohlin": [39.5]}, gestational_age=[280.0])
    with pytest.raises(InputError, match=r"median of 280.*weeks"):
        acceleration(adata)


def test_a_fraction_of_the_lifespan_has_a_residual_only():
    adata = scored({"normalised": [0.5, 0.4, 0.6]}, age=[1.0, 2.0, 3.0])
    with pytest.raises(RefusedError, match="fraction of the maximum lifespan"):
        acceleration(adata)
    acceleration(adata, kind="residual")
    # the line through 0.5, 0.4, 0.6 at 1, 2, 3 is 0.4 + 0.05·age
    np.testing.assert_allclose(adata.obsm[KEY]["normalised"], [0.05, -0.1, 0.05])


def test_clocks_go_by_any_name_of_the_catalogue():
    adata = scored({"horvath2013": [42.0], "petkovich_blood": [14.0]}, age=[40.0])
    acceleration(adata, clocks=["Horvath1", "horvath2013"])
    assert list(adata.obsm[KEY].columns) == ["horvath2013"]
    acceleration(adata, clocks="@age")
    assert list(adata.obsm[KEY].columns) == ["horvath2013", "petkovich_blood"]


def test_notices_of_names_were_given_at_scoring_and_unscored_ids_are_named():
    adata = scored({"bohlin": [39.5], "horvath2013": [40.0]}, age=[0.0], gestational_age=[40.0])
    acceleration(adata, clocks=["Bohlin"])
    with pytest.raises(InputError, match=r"No scores of 'dnamphenoage'.*it has bohlin, horvath2013"):
        acceleration(adata, clocks="Levine")
    with pytest.raises(InputError, match="No scores of 'grimage"):
        acceleration(adata, clocks="GrimAge")
    with pytest.raises(UnknownClockError, match=r"'horvat2013'; did you mean horvath2013.*scores here: bohlin"):
        acceleration(adata, clocks=["horvat2013"])


@pytest.mark.parametrize("scale", ["dunedinpoam38", "horvath2013"])
def test_the_note_says_what_to_remember_of_the_scale(scale, cohort):
    cohort.obs["one"] = 1.0
    adata = scored({scale: cohort.obsm["clock_scores"]["horvath2013"].to_numpy()}, **cohort.obs)
    acceleration(adata, kind="residual", covariates="one")
    note = record_of(adata)["clocks"].loc[scale, "note"]
    assert note.endswith("constant in the fit, hence left out: one")
    assert note.startswith("centre 1; say so where a residual on age is meant; ") == (scale == "dunedinpoam38")
    frozen = adata[:3].copy()
    acceleration(frozen, kind="residual", reuse=adata)
    note = record_of(frozen)["clocks"].loc[scale, "note"]
    assert note == ("centre 1; say so where a residual on age is meant" if scale == "dunedinpoam38" else "")


def test_only_own_results_are_replaced(cohort):
    before = cohort.obsm["clock_scores"].copy()
    cohort.obsm["X_pca"] = np.zeros((cohort.n_obs, 2))
    for key in ("clock_scores", "X_pca"):
        with pytest.raises(InputError, match=key):
            acceleration(cohort, clocks="horvath2013", key_added=key)
    pd.testing.assert_frame_equal(cohort.obsm["clock_scores"], before)
    assert "acceleration" not in cohort.uns["falconage"]
    acceleration(cohort, clocks="horvath2013", key_added="mine")
    acceleration(cohort, clocks="horvath2013", kind="residual", key_added="mine")
    assert record_of(cohort, "mine")["kind"] == "residual"


@pytest.mark.parametrize("clock", ["dunedinpoam38", "dnamtl", "fraction"])
def test_a_named_clock_without_a_difference_is_refused_with_the_reason(clock):
    adata = scored({clock: [1.0, 1.1], "horvath2013": [40.0, 50.0]}, age=[40.0, 50.0])
    with pytest.raises(RefusedError, match=f"its scale is {SCALES[clock][1]}") as caught:
        acceleration(adata, clocks=[clock, "horvath2013"])
    assert list(caught.value.reasons) == [clock]
    assert "falconage" in adata.uns
    assert KEY not in adata.obsm
    assert "acceleration" not in adata.uns["falconage"]


def test_without_names_the_legal_clocks_run_and_the_others_are_listed():
    adata = scored({"horvath2013": [41.0], "dunedinpoam38": [1.0], "dnamtl": [7.0]}, age=[40.0])
    with pytest.warns(FalconageWarning, match=r"dunedinpoam38.*pace.*and 1 more") as caught:
        acceleration(adata)
    assert len(caught) == 1
    assert list(adata.obsm[KEY].columns) == ["horvath2013"]
    assert list(record_of(adata)["left_out"].index) == ["dunedinpoam38", "dnamtl"]


def test_residual_rules_follow_the_scale(cohort):
    acceleration(cohort, kind="residual", clocks=["dnamtl"])
    proportion = scored({"fraction": np.linspace(0.1, 0.2, 9)}, age=np.linspace(20, 80, 9))
    with pytest.raises(RefusedError, match="proportion"):
        acceleration(proportion, kind="residual")


def test_residual_equals_least_squares(cohort):
    acceleration(cohort, kind="residual")
    age = cohort.obs["age"].to_numpy()
    for clock in ("horvath2013", "dnamtl"):
        y = cohort.obsm["clock_scores"][clock].to_numpy()
        b = ols(y, age)
        np.testing.assert_allclose(cohort.obsm[KEY][clock], y - b[0] - b[1] * age, atol=1e-10)
    assert list(record_of(cohort)["clocks"]["n_fit"]) == [40, 40]


def test_residual_with_covariates_fitted_on_controls(cohort):
    acceleration(cohort, kind="residual", clocks="horvath2013", covariates=["bmi", "sex"], fit_on="control")
    y = cohort.obsm["clock_scores"]["horvath2013"].to_numpy()
    age, bmi = cohort.obs["age"].to_numpy(), cohort.obs["bmi"].to_numpy()
    male = (cohort.obs["sex"] == "male").to_numpy(float)
    rows = cohort.obs["control"].to_numpy()
    b = ols(y[rows], age[rows], bmi[rows], male[rows])
    np.testing.assert_allclose(cohort.obsm[KEY]["horvath2013"], y - b[0] - b[1] * age - b[2] * bmi - b[3] * male)
    record = record_of(cohort)
    assert record["clocks"].loc["horvath2013", "n_fit"] == rows.sum()
    assert record["fit_on"] == "obs['control']"
    table = record["coefficients"].set_index(["term", "level"])["coefficient"]
    np.testing.assert_allclose(
        [table[("intercept", "")], table[("age", "")], table[("bmi", "")], table[("sex", "male")]], b, rtol=1e-8
    )
    assert table[("sex", "female")] == 0


def test_fit_on_takes_an_array(cohort):
    acceleration(cohort, kind="residual", fit_on="control")
    by_name = cohort.obsm[KEY].copy()
    acceleration(cohort, kind="residual", fit_on=cohort.obs["control"])
    pd.testing.assert_frame_equal(cohort.obsm[KEY], by_name)


def test_a_constant_covariate_is_left_out_with_a_note(cohort):
    acceleration(cohort, kind="residual", clocks="horvath2013")
    plain = cohort.obsm[KEY].copy()
    cohort.obs["all_female"] = pd.Categorical(["female"] * cohort.n_obs)
    cohort.obs["one"] = 1.0
    acceleration(cohort, kind="residual", clocks="horvath2013", covariates=["all_female", "one"])
    np.testing.assert_allclose(cohort.obsm[KEY], plain)
    assert "all_female, one" in record_of(cohort)["clocks"].loc["horvath2013", "note"]


def test_a_level_the_fit_never_saw_gives_nan(cohort):
    with pytest.warns(CovariateWarning, match="new to the fit"):
        acceleration(cohort, kind="residual", covariates="sex", fit_on=(cohort.obs["sex"] == "female").to_numpy())
    male = (cohort.obs["sex"] == "male").to_numpy()
    assert cohort.obsm[KEY]["horvath2013"].isna().to_numpy().tolist() == male.tolist()


def test_missing_scores_ages_and_covariates_give_nan_and_are_counted(cohort):
    cohort.obsm["clock_scores"].iloc[0, 0] = np.nan
    cohort.obs.loc["s1", "age"] = np.nan
    cohort.obs.loc["s2", "bmi"] = np.nan
    with pytest.warns(CovariateWarning, match="2 of 40 samples"):
        acceleration(cohort, kind="residual", covariates="bmi")
    result = cohort.obsm[KEY]
    assert result["horvath2013"].isna().sum() == 3
    assert result["dnamtl"].isna().sum() == 2
    clocks = record_of(cohort)["clocks"]
    assert list(clocks["n_fit"]) == [37, 38]
    assert list(clocks["n_missing"]) == [3, 2]
    assert list(clocks["n_without_age_or_covariate"]) == [2, 2]


@pytest.mark.parametrize("fmt", ["h5ad", "zarr"])
def test_frozen_coefficients_are_reused_on_other_samples(cohort, tmp_path, fmt):
    reference, others = cohort[:30].copy(), cohort[30:].copy()
    acceleration(reference, kind="residual", covariates=["bmi", "sex"])
    getattr(reference, f"write_{fmt}")(tmp_path / "reference")
    reference = getattr(ad, f"read_{fmt}")(tmp_path / "reference")
    acceleration(others, kind="residual", reuse=reference)
    y, age = (cohort.obsm["clock_scores"]["dnamtl"].to_numpy(), cohort.obs["age"].to_numpy())
    bmi, male = cohort.obs["bmi"].to_numpy(), (cohort.obs["sex"] == "male").to_numpy(float)
    b = ols(y[:30], age[:30], bmi[:30], male[:30])
    expected = y - b[0] - b[1] * age - b[2] * bmi - b[3] * male
    np.testing.assert_allclose(others.obsm[KEY]["dnamtl"], expected[30:], rtol=1e-8, atol=1e-12)
    assert list(record_of(others)["clocks"]["n_fit"]) == [0, 0]
    assert list(record_of(others)["covariates"]) == ["bmi", "sex"]
    assert record_of(others)["fit_on"] == "coefficients of another object"


def test_reuse_refuses_other_weights_and_missing_results(cohort):
    reference = cohort.copy()
    with pytest.raises(InputError, match="no residuals under"):
        acceleration(cohort, kind="residual", reuse=reference)
    acceleration(reference, kind="residual")
    cohort.uns["falconage"]["scores"]["clock_scores"]["clocks"].loc["dnamtl", "weights_sha256"] = "other"
    with pytest.raises(InputError, match=r"other weights of \['dnamtl'\]"):
        acceleration(cohort, kind="residual", reuse=reference)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "ratio"}, "'difference'"),
        ({"clocks": "hannum"}, "'hannum'"),
        ({"clocks": []}, "clocks is empty"),
        ({"clocks": 3}, "clocks=3"),
        ({"clocks": [3]}, "named by text"),
        ({"key": ["clock_scores"]}, "key="),
        ({"key_added": "a/b"}, "'a/b'"),
        ({"key_added": ""}, "key_added=''"),
        ({"key_added": 3}, "key_added=3"),
        ({"key": "nope"}, "'clock_scores'"),
        ({"age_key": "years_old"}, "age_key="),
        ({"age_unit": "decades"}, "age_unit"),
        ({"fit_on": "control"}, "kind='residual'"),
        ({"covariates": "bmi"}, "kind='residual'"),
        ({"kind": "residual", "fit_on": "nope"}, "not a column"),
        ({"kind": "residual", "fit_on": "bmi"}, "40 booleans"),
        ({"kind": "residual", "fit_on": [True, False]}, "40 booleans"),
        ({"kind": "residual", "fit_on": np.arange(40) < 2}, "at least 3"),
        ({"kind": "residual", "covariates": "nope"}, "not in adata.obs"),
        ({"kind": "residual", "covariates": "age"}, "already in the regression"),
        ({"kind": "residual", "covariates": ["bmi", "bmi2"]}, "determine each other"),
        ({"kind": "residual", "age_key": "same_age"}, "have age 50"),
    ],
)
def test_mistakes_say_what_to_type_and_leave_the_object_alone(cohort, arguments, words):
    cohort.obs["bmi2"] = 2 * cohort.obs["bmi"]
    cohort.obs["same_age"] = 50.0
    with pytest.raises(InputError, match=words):
        acceleration(cohort, **{"clocks": "horvath2013", **arguments})
    assert KEY not in cohort.obsm


def test_copy_and_views(cohort):
    out = acceleration(cohort, clocks="horvath2013", copy=True)
    assert KEY not in cohort.obsm
    assert KEY in out.obsm
    view = cohort[:5]
    acceleration(view, clocks="horvath2013", key_added="mine")
    assert not view.is_view
    assert view.obsm["mine"].shape == (5, 1)
    assert "mine" not in cohort.obsm


def test_the_scores_are_not_changed(cohort):
    before = cohort.obsm["clock_scores"].copy()
    acceleration(cohort, clocks="horvath2013")
    cohort.obsm[KEY].iloc[0, 0] = 99
    pd.testing.assert_frame_equal(cohort.obsm["clock_scores"], before)


@pytest.mark.parametrize("fmt", ["h5ad", "zarr"])
def test_result_survives_a_file(cohort, tmp_path, fmt):
    acceleration(cohort, kind="residual", covariates="sex")
    getattr(cohort, f"write_{fmt}")(tmp_path / "x")
    back = getattr(ad, f"read_{fmt}")(tmp_path / "x")
    np.testing.assert_array_equal(back.obsm[KEY], cohort.obsm[KEY])
    assert record_of(back)["kind"] == "residual"
    assert list(record_of(back)["clocks"].index) == ["horvath2013", "dnamtl"]


def test_end_to_end_on_toy_data():
    adata = datasets.toy()
    tl.score_clocks(adata, ["horvath2013", "dnamtl"])
    acceleration(adata, clocks="horvath2013")
    expected = adata.obsm["clock_scores"]["horvath2013"] - adata.obs["age"]
    np.testing.assert_allclose(adata.obsm[KEY]["horvath2013"], expected)
    assert abs(expected.mean()) < 4
