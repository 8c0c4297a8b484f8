"""Age and sex from obs: read where a clock needs them, never guessed, unknown is NaN for that sample."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import falconage as fa
from falconage.clocks import _catalog

SEX, BOTH, PLAIN = "dnamfit_grip_noage", "dnamfit_grip_wage", "epitoc1"


def parts(clock):
    return {t.part: t for t in _catalog.load([clock])[0].terms}


@pytest.fixture(scope="module")
def by_sex(make, loop):
    """Scores of six samples as if all were female, and as if all were male."""
    frame = make(SEX).to_df()
    return {part: loop(frame, terms) for part, terms in parts(SEX).items()}


def scores_with(make, score, column, key="sex", clock=SEX, **arguments):
    adata = make(clock)
    adata.obs[key] = column
    return score(adata, clock, **arguments).obsm["clock_scores"][clock].to_numpy()


def expected(by_sex, letters):
    return np.array([np.nan if s == "-" else by_sex[{"f": "female", "m": "male"}[s]][i] for i, s in enumerate(letters)])


# ---- sex


@pytest.mark.parametrize(
    "words",
    [
        ["female", "male", "female", "male", "female", "male"],
        ["F", "M", "f", "m", "F", "M"],
        ["Female", "MALE", " female ", "Male", "FEMALE", "male\n"],
        ["woman", "man", "girl", "boy", "Women", "MEN"],
    ],
)
@pytest.mark.parametrize("kind", [list, pd.Categorical, lambda w: pd.array(w, dtype="string")])
def test_sex_as_words_in_any_case(words, kind, make, score, by_sex):
    np.testing.assert_array_equal(scores_with(make, score, kind(words)), expected(by_sex, "fmfmfm"))


@pytest.mark.parametrize("dtype", [bool, "boolean", object])
def test_a_boolean_column_named_female_is_understood(dtype, make, score, by_sex):
    column = np.array([True, False, True, True, False, False])
    column = pd.array(column, dtype=dtype) if dtype == "boolean" else column.astype(dtype)
    np.testing.assert_array_equal(scores_with(make, score, column, key="female"), expected(by_sex, "fmffmm"))
    got = scores_with(make, score, column, key="female", sex_key="female")
    np.testing.assert_array_equal(got, expected(by_sex, "fmffmm"))


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_a_boolean_column_named_female_with_a_gap_is_unknown_for_that_sample(gap, make, score, by_sex):
    column = pd.Series([True, False, gap, True, False, False], dtype=object).to_numpy()
    np.testing.assert_array_equal(scores_with(make, score, column, key="female"), expected(by_sex, "fm-fmm"))
    nullable = pd.array([True, False, pd.NA, True, False, False], dtype="boolean")
    np.testing.assert_array_equal(scores_with(make, score, nullable, key="female"), expected(by_sex, "fm-fmm"))


def test_a_boolean_column_of_another_name_needs_to_be_told(make):
    adata = make(SEX, sex=[True, False] * 3)
    with pytest.raises(fa.RefusedError, match=r"(?s)boolean.*sex_map=\{True: 'female', False: 'male'\}"):
        fa.tl.score_clocks(adata, SEX)


def test_a_boolean_column_of_another_name_with_a_map(make, score, by_sex):
    got = scores_with(make, score, np.array([True, False] * 3), sex_map={True: "male", False: "female"})
    np.testing.assert_array_equal(got, expected(by_sex, "mfmfmf"))


@pytest.mark.parametrize("codes", [[0, 1] * 3, [1, 2] * 3, ["0", "1"] * 3, [1.0, 2.0] * 3, ["1", "2"] * 3])
@pytest.mark.parametrize("key", ["sex", "female", "Gender"])
def test_numbers_need_sex_map_whatever_the_column_is_called(codes, key, make):
    adata = make(SEX, **{key: codes})
    with pytest.raises(fa.RefusedError, match=r"(?s)codes sex as.*sex_map=\{") as info:
        fa.tl.score_clocks(adata, SEX, sex_key=key)
    assert SEX in info.value.reasons


@pytest.mark.parametrize("codes", [[0, 1] * 3, ["0", "1"] * 3, [0.0, 1.0] * 3, pd.Categorical([0, 1] * 3)])
@pytest.mark.parametrize("keys", [(0, 1), ("0", "1"), (0.0, 1.0)])
def test_sex_map_is_followed_either_way_however_numbers_are_stored(codes, keys, make, score, by_sex):
    a = scores_with(make, score, codes, sex_map={keys[0]: "female", keys[1]: "male"})
    b = scores_with(make, score, codes, sex_map={keys[0]: "M", keys[1]: "F"})
    np.testing.assert_array_equal(a, expected(by_sex, "fmfmfm"))
    np.testing.assert_array_equal(b, expected(by_sex, "mfmfmf"))


def test_sex_map_for_words_of_another_language(make, score, by_sex):
    got = scores_with(make, score, ["weiblich", "männlich"] * 3, sex_map={"weiblich": "female", "männlich": "male"})
    np.testing.assert_array_equal(got, expected(by_sex, "fmfmfm"))


def test_a_value_that_sex_map_lacks_is_unknown(make, score, by_sex):
    got = scores_with(make, score, [0, 1, 9, 0, 1, -1], sex_map={0: "female", 1: "male"})
    np.testing.assert_array_equal(got, expected(by_sex, "fm-fm-"))


@pytest.mark.parametrize(
    ("sex_map", "words"), [({0: "female", 1: "xx"}, r"sex_map.*'xx'"), ({5: "female", 6: "male"}, r"sex_map.*fits no")]
)
def test_sex_map_that_cannot_be_right(sex_map, words, make):
    with pytest.raises((fa.InputError, fa.RefusedError), match=words):
        fa.tl.score_clocks(make(SEX, sex=[0, 1] * 3), SEX, sex_map=sex_map)


@pytest.mark.parametrize("unknown", ["", "unknown", "NA", None, np.nan, "?", "not available"])
def test_unknown_sex_is_nan_for_that_sample_with_one_warning(unknown, make, warned, by_sex):
    adata = make([SEX, PLAIN], sex=["female", "male", unknown, "male", unknown, "female"])
    frame_score = expected(by_sex, "fm-m-f")
    alone = make(SEX, sex=["female", "male", unknown, "male", unknown, "female"])
    notes = warned(alone, SEX)
    np.testing.assert_array_equal(alone.obsm["clock_scores"][SEX], frame_score)
    assert len(notes) == 1
    assert issubclass(notes[0].category, fa.CovariateWarning)
    assert "2 of 6" in str(notes[0].message)
    assert SEX in str(notes[0].message)
    # Other clocks are not touched.
    warned(adata, [SEX, PLAIN])
    assert adata.obsm["clock_scores"][PLAIN].notna().all()


def test_many_clocks_that_need_sex_give_one_warning(make, warned):
    ids = ["dnamfit_gait_noage", "dnamfit_grip_noage", "dnamfit_vo2max"]
    notes = warned(make(ids, sex=["f", "m", "?", "m", "m", "f"], age=[40.0] * 6), ids)
    assert len(notes) == 1


def test_sex_coded_minus_one_is_not_a_person(make):
    adata = make(SEX, sex=["female", "male", "-1", "male", "male", "-1"])
    with pytest.raises(fa.RefusedError, match="-1"):
        fa.tl.score_clocks(adata, SEX)


def test_a_word_that_is_not_understood_is_unknown_and_echoed(make, warned):
    adata = make(SEX, sex=["female", "male", "hermaphrodite", "male", "female", "female"])
    notes = warned(adata, SEX)
    assert np.isnan(adata.obsm["clock_scores"][SEX].iloc[2])
    record = fa.get.manifest(adata)
    assert len(notes) >= 1
    assert any("hermaphrodite" in str(s) for s in [*record["samples"], *(str(n.message) for n in notes)])


def test_what_was_understood_is_echoed_in_the_manifest(make, score):
    record = fa.get.manifest(score(make(SEX, sex=["f", "m", "f", "f", "m", "?"]), SEX))
    assert any("3 female, 2 male, 1 unknown" in str(s) for s in record["samples"])


def test_all_of_one_sex_is_fine(make, score, by_sex):
    np.testing.assert_array_equal(scores_with(make, score, ["female"] * 6), expected(by_sex, "ffffff"))


# ---- age


@pytest.mark.parametrize(
    ("unit", "per_year"), [("years", 1), ("months", 12), ("weeks", 365.25 / 7), ("days", 365.25), ("hours", 8766)]
)
def test_age_unit(unit, per_year, make, score, loop):
    age = np.array([20.0, 31.5, 40.0, 52.0, 63.0, 74.0])
    adata = make(BOTH, sex=["female"] * 6, age=age * per_year)
    terms = parts(BOTH)["female"]
    want = loop(adata.to_df(), terms) + terms.covariates["age"] * age
    got = score(adata, BOTH, age_unit=unit).obsm["clock_scores"][BOTH]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_age_unit_unknown(make):
    with pytest.raises((fa.InputError, fa.RefusedError), match=r"age_unit='decades'.*'years'.*'months'"):
        fa.tl.score_clocks(make(BOTH, sex=["f"] * 6, age=[3.0] * 6), BOTH, age_unit="decades")


def test_age_unit_unknown_is_an_error_even_where_no_clock_needs_age(make):
    with pytest.raises(fa.InputError, match="age_unit='decades'"):
        fa.tl.score_clocks(make(PLAIN, age=[3.0] * 6), PLAIN, age_unit="decades")


def test_ages_in_days_read_as_years_are_recognised(make):
    adata = make(BOTH, sex=["f"] * 6, age=[9000.0 + i for i in range(6)])
    with pytest.raises(fa.RefusedError, match=r"(?s)age_unit="):
        fa.tl.score_clocks(adata, BOTH)


@pytest.mark.parametrize("kind", [list, pd.Categorical, lambda a: [str(v) for v in a], lambda a: np.array(a, object)])
def test_ages_as_text_or_categories_are_numbers(kind, make, score, loop):
    age = [20, 31, 40, 52, 63, 74]
    adata = make(BOTH, sex=["male"] * 6)
    adata.obs["age"] = kind(age)
    terms = parts(BOTH)["male"]
    want = loop(adata.to_df(), terms) + terms.covariates["age"] * np.array(age, float)
    np.testing.assert_allclose(score(adata, BOTH).obsm["clock_scores"][BOTH], want, rtol=1e-13)


def test_age_key(make, score):
    a = score(make(BOTH, sex=["f"] * 6, age=[50.0] * 6), BOTH).obsm["clock_scores"]
    b = score(make(BOTH, sex=["f"] * 6, Alter=[50.0] * 6), BOTH, age_key="Alter").obsm["clock_scores"]
    assert a.equals(b)


def test_unknown_age_is_nan_for_that_sample_with_one_warning(make, warned):
    adata = make(BOTH, sex=["f"] * 6, age=[50.0, np.nan, 40.0, 30.0, np.nan, 20.0])
    notes = warned(adata, BOTH)
    assert adata.obsm["clock_scores"][BOTH].isna().tolist() == [False, True, False, False, True, False]
    assert [issubclass(n.category, fa.CovariateWarning) for n in notes] == [True]
    assert "2 of 6" in str(notes[0].message)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "float32", object])
def test_ages_of_nullable_types_with_a_gap(dtype, make, warned, loop):
    age = [20, 31, None, 52, 63, 74]
    adata = make(BOTH, sex=["male"] * 6)
    adata.obs["age"] = pd.Series(age, dtype=dtype).to_numpy() if dtype == "float32" else pd.array(age, dtype=dtype)
    warned(adata, BOTH)
    terms = parts(BOTH)["male"]
    want = loop(adata.to_df(), terms) + terms.covariates["age"] * np.array(age, float)
    np.testing.assert_allclose(adata.obsm["clock_scores"][BOTH], want, rtol=1e-13)


def test_age_that_is_text_names_the_value(make):
    adata = make(BOTH, sex=["f"] * 6, age=["50", "forty", "30", "20", "10", "5"])
    with pytest.raises(fa.RefusedError, match=r"(?s)'forty'.*age_key="):
        fa.tl.score_clocks(adata, BOTH)


@pytest.mark.parametrize("age", [np.inf, -200.0])
def test_impossible_ages_do_not_become_scores(age, make, score):
    adata = make(BOTH, sex=["f"] * 6, age=[50.0, 40.0, age, 30.0, 20.0, 10.0])
    try:
        got = score(adata, BOTH).obsm["clock_scores"][BOTH].iloc[2]
    except fa.FalconageError:
        got = np.nan
    assert np.isnan(got)


# ---- covariates that are not there


def test_missing_columns_refuse_only_the_clocks_that_need_them(make, warned):
    ids = [SEX, BOTH, PLAIN]
    adata = make(ids, age=[50.0] * 6)
    warned(adata, ids, on_refusal="warn")
    assert list(adata.obsm["clock_scores"].columns) == [PLAIN]
    refused = fa.get.manifest(adata)["refused"]["reason"]
    assert set(refused.index) == {SEX, BOTH}
    for reason in refused:
        assert "sex" in reason
        assert "sex_key=" in reason


def test_missing_age_names_the_column_and_the_argument(make):
    adata = make([BOTH, SEX], sex=["f"] * 6)
    with pytest.raises(fa.RefusedError, match=r"(?s)obs\['age'\].*age_key=") as info:
        fa.tl.score_clocks(adata, [BOTH, SEX])
    assert set(info.value.reasons) == {BOTH}


def test_bad_covariates_do_not_disturb_clocks_that_need_none(make, warned):
    adata = make(PLAIN, sex=[0, 1] * 3, age=["old", "young", "x", "y", "z", "?"])
    assert warned(adata, PLAIN) == []
    assert adata.obsm["clock_scores"][PLAIN].notna().all()


def test_a_sex_map_that_fits_nothing_does_not_disturb_clocks_that_need_none(make, warned):
    adata = make(PLAIN, sex=["a"] * 6)
    assert warned(adata, PLAIN, sex_map={0: "female", 1: "male"}) == []


def test_scores_of_other_clocks_do_not_depend_on_age_or_sex(make, score):
    ids = ["hannum", "epitoc2"]
    a = score(make(ids), ids).obsm["clock_scores"]
    b = score(make(ids, age=[30.0] * 6, sex=["f"] * 6), ids).obsm["clock_scores"]
    assert a.equals(b)


def test_coverage_counts_the_features_of_the_samples_own_table(make, score):
    adata = make(SEX, sex=["female", "male"] * 3)
    tables = parts(SEX)
    only = [f for f in tables["female"].features if f not in set(tables["male"].features)][:5]
    assert only
    gone = score(adata[:, ~adata.var_names.isin(only)].copy(), SEX).obsm["clock_scores_coverage"][:, 0]
    assert (gone[::2] < 1).all()
    assert (gone[1::2] == 1).all()
