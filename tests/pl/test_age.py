"""The picture of predicted against chronological age."""

from __future__ import annotations

import builtins

import anndata as ad
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from falconage import datasets, pl, tl
from falconage._errors import InputError, RefusedError
from falconage._sanitise import sanitise

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def scored():
    values = {"horvath2013": [22.0, 38.0, 61.0, np.nan], "petkovich_blood": [3.0, 12, 24, 30], "pace": [1.0, 1, 1, 1]}
    obs = {"age": [20.0, 40.0, 60.0, 80.0], "sex": pd.Categorical(["f", "m", "f", "m"]), "bmi": [20.0, 25, 30, np.nan]}
    adata = ad.AnnData(obs=pd.DataFrame(obs, index=list("abcd")))
    adata.obsm["clock_scores"] = pd.DataFrame(values, index=adata.obs_names)
    facts = pd.DataFrame(
        {
            "name": ["Horvath pan-tissue clock", "Petkovich blood", "Pace"],
            "unit": ["years", "months", "per year"],
            "scale": ["age_years", "age_months", "pace"],
        },
        index=pd.Index(list(values), name="clock"),
    )
    adata.uns["falconage"] = {"scores": {"clock_scores": sanitise({"clocks": facts})}}
    return adata


def repeated(n, like):
    """n samples that have the scores of the first one."""
    adata = ad.AnnData(obs=pd.DataFrame({"age": [20.0] * n}, index=[f"s{i}" for i in range(n)]), uns=like.uns)
    first = like.obsm["clock_scores"].iloc[[0] * n]
    adata.obsm["clock_scores"] = first.set_axis(adata.obs_names)
    return adata


def points(ax):
    return np.concatenate([np.asarray(c.get_offsets()) for c in ax.collections if len(c.get_offsets())])


def corner(ax):
    return ax.texts[0].get_text()


def test_points_labels_and_numbers(scored):
    ax = pl.age(scored)
    np.testing.assert_array_equal(points(ax), [[20, 22], [40, 38], [60, 61]])
    assert ax.get_xlabel() == "Chronological age (years)"
    assert ax.get_ylabel() == "Horvath pan-tissue clock (years)"
    # errors 2, 2, 1; r by hand: x = −20, 0, 20 and y = −18⅓, −2⅓, 20⅔ about their means
    r = (20 * 55 / 3 + 20 * 62 / 3) / np.sqrt(800 * ((55 / 3) ** 2 + (7 / 3) ** 2 + (62 / 3) ** 2))
    assert corner(ax) == f"MAE 1.7 years\nr = {r:.3f}\nn = 3"


def test_axes_are_equal_and_hold_the_identity(scored):
    ax = pl.age(scored)
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_aspect() == 1
    (line,) = ax.lines
    assert line.get_slope() == 1
    np.testing.assert_array_equal(ax.get_xticks(), ax.get_yticks())


def test_age_is_converted_to_the_unit_of_the_clock(scored):
    scored.obs["age"] = [0.25, 1.0, 2.0, 3.0]
    ax = pl.age(scored, clock="petkovich_blood")
    np.testing.assert_allclose(points(ax), [[3, 3], [12, 12], [24, 24], [36, 30]])
    assert ax.get_xlabel() == "Chronological age (months)"
    assert corner(ax).startswith("MAE 1.5 months")


def test_categories_get_a_legend_and_stored_colours(scored):
    ax = pl.age(scored, color="sex")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["f", "m"]
    scored.uns["sex_colors"] = ["#111111", "#222222"]
    ax = pl.age(scored, color="sex")
    assert mpl.colors.to_hex(ax.collections[0].get_facecolor()[0]) == "#111111"


def test_numbers_get_a_colour_bar(scored):
    ax = pl.age(scored, color="bmi")
    (bar,) = ax.child_axes
    assert bar.get_ylabel() == "bmi"
    assert [c for c in bar.collections if np.ndim(c.get_array()) and np.size(c.get_array())]


def test_missing_and_many_categories_are_drawn(scored):
    scored.obs["batch"] = pd.Categorical(["x", None, "y", "x"])
    assert len(points(pl.age(scored, color="batch"))) == 3
    many = repeated(12, scored)
    many.obs["plate"] = [f"p{i:02d}" for i in range(12)]
    assert len(pl.age(many, color="plate").get_legend().get_texts()) == 12


@pytest.mark.parametrize("color", [None, "sex", "bmi", "plate"])
@pytest.mark.parametrize(
    "name", ["Horvath pan-tissue clock", "EnsembleAge dynamic bone marrow transplant agetransformed"]
)
def test_a_figure_saved_plainly_is_whole(scored, tmp_path, color, name):
    many = repeated(24, scored)
    many.obs["sex"] = pd.Categorical(["a healthy control", "m"] * 12)
    many.obs["bmi"] = np.linspace(20, 30, 24)
    many.obs["plate"] = [f"plate {i:02d}" for i in range(24)]
    many.uns["falconage"]["scores"]["clock_scores"]["clocks"].loc["horvath2013", "name"] = name
    ax = pl.age(many, color=color)
    path = tmp_path / "age.png"
    ax.get_figure().savefig(path)
    picture = plt.imread(path)[..., :3]
    for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]):
        assert (edge == 1).all()
    # whole and no larger than need be: everything that is drawn, and a rim
    drawn = np.argwhere((picture < 1).any(axis=-1))
    assert (drawn.min(axis=0) <= 20).all()
    assert (drawn.max(axis=0) >= np.array(picture.shape[:2]) - 21).all()
    box = ax.get_window_extent()
    assert box.width == pytest.approx(box.height, rel=0.01)
    assert box.width / ax.get_figure().dpi == pytest.approx(3.4, abs=0.1)


def test_clocks_go_by_any_name_of_the_catalogue(scored):
    assert pl.age(scored, clock="Horvath1").get_ylabel() == "Horvath pan-tissue clock (years)"


def test_draws_into_given_axes_and_leaves_settings_alone(scored):
    before = dict(mpl.rcParams)
    _, given = plt.subplots()
    assert pl.age(scored, ax=given) is given
    assert dict(mpl.rcParams) == before


def test_show_is_only_called_when_asked(scored, monkeypatch):
    calls = []
    monkeypatch.setattr(plt, "show", lambda: calls.append(1))
    pl.age(scored)
    pl.age(scored, show=False)
    assert calls == []
    pl.age(scored, show=True)
    assert calls == [1]


def test_one_sample_has_no_correlation(scored):
    assert "r = –" in corner(pl.age(scored[:1].copy()))


def test_a_pace_is_refused(scored):
    with pytest.raises(RefusedError, match=r"scale is pace.*horvath2013, petkovich_blood"):
        pl.age(scored, clock="pace")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"clock": "hannum"}, "No scores of 'hannum'"),
        ({"clock": "Levine"}, "No scores of 'dnamphenoage'"),
        ({"clock": "@age"}, "stands for 2 clocks; expected one of"),
        ({"clock": ["horvath2013"]}, "one clock"),
        ({"age_key": "years"}, "age_key="),
        ({"color": "group"}, "not a column"),
        ({"key": "nope"}, "'clock_scores'"),
    ],
)
def test_mistakes_say_what_to_type(scored, arguments, words):
    with pytest.raises(InputError, match=words):
        pl.age(scored, **arguments)


def test_nothing_to_plot_is_said(scored):
    with pytest.raises(InputError, match="nothing to plot"):
        pl.age(scored[3:].copy())


def test_without_matplotlib_the_error_says_what_to_install(scored, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "falconage\[plot\]"'):
        pl.age(scored)


def test_end_to_end_on_toy_data():
    adata = datasets.toy()
    tl.score_clocks(adata, "horvath2013")
    ax = pl.age(adata)
    assert len(points(ax)) == adata.n_obs
