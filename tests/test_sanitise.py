"""Records survive h5ad and zarr, and are refused where they would not."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from falconage._errors import InputError
from falconage._sanitise import sanitise

pytestmark = pytest.mark.filterwarnings("ignore:.*zarr v[23].*")


def round_trip(value, path, fmt):
    adata = ad.AnnData(obs=pd.DataFrame(index=["s1"]))
    adata.uns["falconage"] = value
    if fmt == "h5ad":
        adata.write_h5ad(path / "x.h5ad")
        return ad.read_h5ad(path / "x.h5ad").uns["falconage"]
    adata.write_zarr(path / "x.zarr")
    return ad.read_zarr(path / "x.zarr").uns["falconage"]


@pytest.fixture(params=["h5ad", "zarr"])
def through_file(request, tmp_path):
    return lambda value: round_trip(value, tmp_path, request.param)


def test_record_means_the_same_after_a_round_trip(through_file):
    frame = pd.DataFrame(
        {
            "unit": ["years", None, "weeks"],
            "n": [1, 2, 3],
            "floor": [0.8, None, np.nan],
            "weak": [True, False, True],
            "when": pd.to_datetime(["2024-01-02", "2024-01-03", None]),
        },
        index=pd.Index(["hannum", "pedbe", "bohlin"], name="clock"),
    )
    record = {
        "layer": None,
        "params": {"clocks": ("hannum", "pedbe"), "n": np.int32(3), "share": np.float32(0.5), "flag": np.bool_(True)},
        "created": dt.datetime(2025, 3, 4, 5, 6, 7, tzinfo=dt.UTC),
        "path": Path("some") / "file.h5ad",
        "a/b": "slash",
        7: "number key",
        "warnings": [],
        "empty": {},
        "text": "",
        "numbers": [1, None, 2.5],
        "texts": ["a", None],
        "matrix": [[1, 2], [3, 4]],
        "clocks": frame,
        "none": pd.DataFrame({"reason": pd.Series([], dtype=object)}),
    }
    got = through_file(sanitise(record))

    assert "layer" not in got
    assert list(got["params"]["clocks"]) == ["hannum", "pedbe"]
    assert got["params"]["n"] == 3
    assert got["params"]["share"] == 0.5
    assert got["params"]["flag"]
    assert got["created"] == "2025-03-04T05:06:07+00:00"
    assert got["path"] == str(Path("some") / "file.h5ad")
    assert got["a_b"] == "slash"
    assert got["7"] == "number key"
    assert got["warnings"].shape == (0,)
    assert got["empty"] == {}
    assert got["text"] == ""
    np.testing.assert_array_equal(got["numbers"], [1, np.nan, 2.5])
    assert list(got["texts"]) == ["a", ""]
    np.testing.assert_array_equal(got["matrix"], [[1, 2], [3, 4]])
    assert list(got["clocks"].index) == ["hannum", "pedbe", "bohlin"]
    assert got["clocks"].index.name == "clock"
    assert list(got["clocks"]["unit"]) == ["years", "", "weeks"]
    assert list(got["clocks"]["n"]) == [1, 2, 3]
    np.testing.assert_array_equal(got["clocks"]["floor"], [0.8, np.nan, np.nan])
    assert got["clocks"]["weak"].dtype == bool
    assert list(got["clocks"]["when"]) == ["2024-01-02T00:00:00", "2024-01-03T00:00:00", ""]
    assert got["none"].shape == (0, 1)
    assert list(got["none"].columns) == ["reason"]


def test_what_was_read_can_be_sanitised_and_written_again(through_file, tmp_path):
    once = through_file(sanitise({"names": ["a", "b"], "table": pd.DataFrame({"x": ["u", "v"]})}))
    (tmp_path / "second").mkdir()
    again = round_trip(sanitise(once), tmp_path / "second", "h5ad")
    assert list(again["names"]) == ["a", "b"]
    assert list(again["table"]["x"]) == ["u", "v"]


@pytest.mark.parametrize("dtype", ["object", "str", "string", "category"])
def test_every_text_dtype_of_pandas_is_written(through_file, dtype):
    frame = pd.DataFrame({"x": pd.Series(["u", "v", None], dtype=object).astype(dtype if dtype != "str" else object)})
    if dtype == "str":
        frame = pd.DataFrame({"x": ["u", "v", None]})  # the dtype this pandas infers
    got = through_file(sanitise(frame.to_dict("series") | {"frame": frame}))
    assert list(got["frame"]["x"].astype(object).fillna("")) == ["u", "v", ""]


def test_nullable_and_categorical_columns_keep_their_kind(through_file):
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "b": pd.array([True, None], dtype="boolean"),
            "f": pd.array([1.5, None], dtype="Float64"),
            "c": pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True),
        }
    )
    got = through_file(sanitise({"frame": frame}))["frame"]
    assert got["i"].isna().tolist() == [False, True]
    assert got["b"].isna().tolist() == [False, True]
    np.testing.assert_array_equal(got["f"], [1.5, np.nan])
    assert list(got["c"].cat.categories) == ["b", "a"]
    assert got["c"].cat.ordered


def test_empty_frames_survive(through_file):
    frames = {
        "no_rows": pd.DataFrame({"clock": pd.Series([], dtype=object), "n": pd.Series([], dtype=float)}),
        "nothing": pd.DataFrame(),
        "no_columns": pd.DataFrame(index=["a", "b"]),
    }
    got = through_file(sanitise(frames))
    assert list(got["no_rows"].columns) == ["clock", "n"]
    assert got["nothing"].shape == (0, 0)
    assert list(got["no_columns"].index) == ["a", "b"]


def test_input_is_not_changed_and_not_shared():
    array, frame = np.arange(3.0), pd.DataFrame({"x": [1.0, 2.0]})
    record = {"array": array, "frame": frame, "inner": {"none": None}}
    clean = sanitise(record)
    clean["array"][0] = 99
    clean["frame"].iloc[0, 0] = 99
    assert array[0] == 0
    assert frame.iloc[0, 0] == 1
    assert record["inner"] == {"none": None}


def test_sanitising_twice_changes_nothing():
    once = sanitise({"a": ["x", None], "b": (1, 2), "f": pd.DataFrame({"t": ["x", None], "n": [1, 2]})})
    twice = sanitise(once)
    assert list(twice["a"]) == list(once["a"])
    np.testing.assert_array_equal(twice["b"], once["b"])
    pd.testing.assert_frame_equal(twice["f"], once["f"])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"steps": [{"a": 1}, {"b": 2}]}, "steps"),
        ({"model": object()}, "model"),
        ({"outer": {"inner": b"bytes"}}, "inner"),
        ({"mix": [1, "a"]}, "mix"),
        ({("a", "b"): 1}, "text keys"),
        ({"a/b": 1, "a_b": 2}, "two keys"),
        ({"": 1}, "key ''"),
        ({"big": 2**70}, "big"),
        ({"text": "a\0b"}, "NUL"),
        ({"f": pd.DataFrame({"x": [1, "a"]})}, "mixes"),
        ({"f": pd.DataFrame({"dtype": ["float32"]})}, "column 'dtype'"),
        ({"f": pd.DataFrame([[1, 2]], columns=["x", "x"])}, "two columns"),
        ({"f": pd.DataFrame({"x": [1]}, index=pd.Index(["a"], name="x"))}, "both called"),
        ({"f": pd.DataFrame({"x": [1]}, index=pd.MultiIndex.from_tuples([("a", 1)]))}, "MultiIndex"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_by_name(value, words):
    with pytest.raises(InputError, match=words):
        sanitise(value)
