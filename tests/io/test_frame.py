"""DataFrames in both orientations, with names and types as users have them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import falconage as fa

CPGS = ["cg00000029", "cg00000108", "ch.1.131529R", "rs1019916"]


def frame(dtype: str = "float64") -> pd.DataFrame:
    values = np.arange(12, dtype=dtype).reshape(3, 4) / np.array(20, dtype=dtype)
    return pd.DataFrame(values, index=["b", "a", "c"], columns=CPGS)


@pytest.mark.parametrize("names", [CPGS, ["chr1:100", "chr1:250", "chrX:3", "chr10:7"], ["cg00000029_TC11", *CPGS[1:]]])
def test_orientation_comes_from_the_names(names):
    df = frame().set_axis(names, axis=1)
    upright, lying = fa.io.from_dataframe(df), fa.io.from_dataframe(df.T)
    for adata in (upright, lying):
        assert list(adata.obs_names) == ["b", "a", "c"]
        assert list(adata.var_names) == names
        np.testing.assert_array_equal(adata.X, df.to_numpy())


def test_orientation_is_asked_for_when_the_names_do_not_tell():
    genes = frame().set_axis(["TP53", "GDF15", "KLF14", "ELOVL2"], axis=1)
    with pytest.raises(fa.InputError, match=r"neither axis.*'b', 'a', 'c'.*orientation='samples_by_features'"):
        fa.io.from_dataframe(genes)
    assert fa.io.from_dataframe(genes, orientation="samples_by_features").shape == (3, 4)
    assert fa.io.from_dataframe(genes, orientation="features_by_samples").shape == (4, 3)
    both = frame().set_axis(["cg1", "cg2", "cg3"], axis=0)
    with pytest.raises(fa.InputError, match="both axes"):
        fa.io.from_dataframe(both)
    with pytest.raises(fa.InputError, match=r"orientation='rows' is not known; use one of .*features_by_samples"):
        fa.io.from_dataframe(both, orientation="rows")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("float32", "float32"), ("float64", "float64"), ("int64", "float64"), ("int8", "float32"), ("float16", "float32")],
)
def test_types(given, kept):
    df = (frame("float64") * 20).astype(given)
    adata = fa.io.from_dataframe(df)
    assert adata.X.dtype == kept
    np.testing.assert_array_equal(adata.X, np.arange(12).reshape(3, 4))


@pytest.mark.parametrize("given", ["Float32", "Float64", "Int64", "object", "double[pyarrow]", "Sparse[float64]"])
def test_missing_values_of_every_kind_become_nan(given):
    df = pd.DataFrame(1.0, index=["s1", "s2", "s3"], columns=CPGS)
    df.iloc[1, 2] = np.nan
    df = df.astype(given)
    if given == "object":
        df.iloc[1, 2] = pd.NA
        df.iloc[0, 0] = None
    adata = fa.io.from_dataframe(df)
    assert adata.X.dtype.kind == "f"
    assert np.isnan(adata.X[1, 2])
    assert np.isnan(adata.X[0, 0]) == (given == "object")
    assert np.isnan(adata.X).sum() == (2 if given == "object" else 1)


def test_columns_without_any_value_are_kept():
    df = frame().assign(cg9=np.nan, cg10=pd.Series([None] * 3, index=["b", "a", "c"], dtype=object))
    adata = fa.io.from_dataframe(df)
    assert list(adata.var_names[-2:]) == ["cg9", "cg10"]
    assert np.isnan(adata[:, ["cg9", "cg10"]].X).all()


def test_text_columns_are_named():
    df = frame().assign(sex=["f", "m", "f"], smoker=[True, False, True])
    with pytest.raises(fa.InputError, match=r"2 of 6 columns hold no numbers: 'sex' \(such as 'f'\), 'smoker'.*obs=df"):
        fa.io.from_dataframe(df)
    numbers_as_text = frame().astype(str)
    with pytest.raises(fa.InputError, match="4 of 4 columns"):
        fa.io.from_dataframe(numbers_as_text)


@pytest.mark.parametrize("orientation", ["auto", "said"])
@pytest.mark.parametrize("name", ["Age", "sex", "FEMALE", "gender"])
@pytest.mark.parametrize("flip", [False, True])
def test_covariates_among_the_features_are_refused(flip, name, orientation):
    df = frame().assign(**{name: [30, 40, 50]})
    df = df.T if flip else df
    axis = "row" if flip else "column"
    if orientation == "said":
        orientation = "features_by_samples" if flip else "samples_by_features"
    with pytest.raises(fa.InputError, match=rf"^1 {axis} describes the samples and no feature: '{name}'") as error:
        fa.io.from_dataframe(df, orientation=orientation)
    # What the message says works.
    obs, values = re.fullmatch(r".*obs: obs=(.*), and leave them out of the values: (.*)", str(error.value)).groups()
    adata = fa.io.from_dataframe(eval(values, {"df": df}), obs=eval(obs, {"df": df}), orientation=orientation)
    assert list(adata.obs[name]) == [30, 40, 50]
    assert list(adata.var_names) == CPGS


def test_a_sample_may_be_called_as_a_covariate():
    df = frame().set_axis(["age", "sex", "c"], axis=0)
    assert list(fa.io.from_dataframe(df).obs_names) == list(fa.io.from_dataframe(df.T).obs_names) == ["age", "sex", "c"]


def test_one_and_several_in_messages():
    with pytest.raises(fa.InputError, match=r"^1 of 5 columns holds no numbers"):
        fa.io.from_dataframe(frame().assign(smoker=["f", "m", "f"]))
    with pytest.raises(fa.InputError, match=r"^The table has 0 rows and 1 column of values"):
        fa.io.from_dataframe(frame().iloc[:0, :1])


def test_numeric_sample_names_find_their_rows():
    df = frame().set_axis([101, 102, 103], axis=0)
    obs = pd.DataFrame({"age": [3.0, 1.0, 2.0]}, index=[103.0, 101.0, 102.0])
    adata = fa.io.from_dataframe(df, obs=obs)
    assert list(adata.obs_names) == ["101", "102", "103"]
    assert list(adata.obs["age"]) == [1.0, 2.0, 3.0]


def test_several_levels_of_names():
    df = frame()
    df.index = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)], names=["plate", "well"])
    with pytest.raises(fa.InputError, match=r"2 levels of names \['plate', 'well'\].*df.index = \['_'.join") as error:
        fa.io.from_dataframe(df)
    # What the message says works.
    df.index = eval(str(error.value).split("df.index = ")[1], {"df": df})
    assert list(fa.io.from_dataframe(df).obs_names) == ["x_1", "x_2", "y_1"]
    missing = frame().set_axis(["a", None, "c"], axis=0)
    with pytest.raises(fa.InputError, match=r"1 of 3 rows has no name \(NaN\) in df.index"):
        fa.io.from_dataframe(missing)


def test_obs_is_aligned_by_name():
    obs = pd.DataFrame({"age": [1, 2, 3, 4], 7: list("wxyz")}, index=["a", "b", "c", "other"])
    adata = fa.io.from_dataframe(frame(), obs=obs)
    assert list(adata.obs["age"]) == [2, 1, 3]
    assert list(adata.obs["7"]) == ["x", "w", "y"]
    with pytest.raises(fa.InputError, match="no row for 1 of 3 samples: 'c'"):
        fa.io.from_dataframe(frame(), obs=obs.drop(index="c"))
    with pytest.raises(fa.InputError, match="several rows for 1 sample: 'a'"):
        fa.io.from_dataframe(frame(), obs=pd.concat([obs, obs.loc[["a", "other"]]]))
    with pytest.raises(fa.InputError, match="obs is a dict"):
        fa.io.from_dataframe(frame(), obs={"a": 1})  # type: ignore[arg-type]


def test_obs_with_the_names_in_a_column():
    obs = pd.DataFrame({"age": [1, 2, 3], "sample": ["a", "b", "c"]})
    with pytest.raises(fa.InputError, match=r"pass obs=obs.set_index\('sample'\)"):
        fa.io.from_dataframe(frame(), obs=obs)
    assert list(fa.io.from_dataframe(frame(), obs=obs.set_index("sample")).obs["age"]) == [2, 1, 3]


def test_repeated_sample_names_share_a_row_of_obs():
    df = frame().set_axis(["a", "a", "b"], axis=0)
    with pytest.warns(UserWarning, match="not unique"):
        adata = fa.io.from_dataframe(df, obs=pd.DataFrame({"age": [5, 6]}, index=["b", "a"]))
    assert list(adata.obs["age"]) == [6, 6, 5]


@pytest.mark.parametrize("flip", [False, True])
def test_the_input_is_left_alone(flip):
    df = frame("float32").T if flip else frame("float32")
    obs = pd.DataFrame({"age": [1, 2, 3]}, index=["a", "b", "c"])
    before, obs_before = df.copy(deep=True), obs.copy(deep=True)
    adata = fa.io.from_dataframe(df, obs=obs)
    adata.X[:] = -1
    adata.obs["age"] = 0
    adata.obs_names = ["x", "y", "z"]
    pd.testing.assert_frame_equal(df, before)
    pd.testing.assert_frame_equal(obs, obs_before)


def test_what_is_no_table():
    with pytest.raises(fa.InputError, match="df is a ndarray"):
        fa.io.from_dataframe(np.zeros((2, 2)))  # type: ignore[arg-type]
    with pytest.raises(fa.InputError, match="0 rows and 4 columns"):
        fa.io.from_dataframe(frame().iloc[:0])


def test_result_can_be_written(tmp_path):
    import anndata

    obs = pd.DataFrame({"age": [1, 2, 3], "sex": ["f", None, "m"]}, index=pd.Index(["a", "b", "c"], name="age"))
    fa.io.from_dataframe(frame(), obs=obs).write_h5ad(tmp_path / "x.h5ad")
    assert list(anndata.read_h5ad(tmp_path / "x.h5ad").obs["age"]) == [2, 1, 3]
