"""Species refuse, tissues and training ages warn, cell-free DNA refuses; life history enters the mammalian clocks."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData

import falconage as fa
from falconage.clocks import _catalog

# Gestation, maturity, maximum age in years; L* = 1.3 L but for human and mouse.
LIFE = {
    "Homo sapiens": (0.767123287671233, 13.5, 122.5, 122.5),
    "Mus musculus": (0.0520547945205479, 0.115068493150685, 4.0, 4.0),
    "Rattus norvegicus": (0.0575342465753425, 0.219178082191781, 3.8, 1.3 * 3.8),
}


def gompertz_rel(y, species):
    g, _, _, star = LIFE[species]
    return math.exp(-math.exp(-y)) * (star + g) - g


def loglinear_m(y, species):
    g, m, _, _ = LIFE[species]
    factor = 5 * (g / m) ** 0.38
    return factor * (m + g) * (y + 1) - g if y >= 0 else factor * (m + g) * math.exp(y) - g


def terms_of(clock):
    return _catalog.load([clock])[0].terms[0]


# ---- species


@pytest.mark.parametrize(("clock", "link"), [("mammalian2", gompertz_rel), ("mammalian3", loglinear_m)])
@pytest.mark.parametrize("species", LIFE)
def test_universal_clocks_with_one_species(clock, link, species, make, score, loop):
    adata = make(clock)
    y = loop(adata.to_df(), terms_of(clock))
    got = score(adata, clock, species=species).obsm["clock_scores"][clock]
    np.testing.assert_allclose(got, [link(v, species) for v in y], rtol=1e-9)


@pytest.mark.parametrize(
    ("y", "want2", "want3"),
    [
        (0.0, {"Homo sapiens": 44.580317, "Mus musculus": 1.438613, "Rattus norvegicus": 1.780956},
         {"Homo sapiens": 23.222772, "Mus musculus": 0.566102, "Rattus norvegicus": 0.774742}),
        (1.0, {"Homo sapiens": 84.558457, "Mus musculus": 2.752780, "Rattus norvegicus": 3.401762},
         {"Homo sapiens": 47.212667, "Mus musculus": 1.184259, "Rattus norvegicus": 1.607019}),
    ],
)  # fmt: skip
def test_the_links_of_this_file_give_the_published_checks(y, want2, want3):
    for species in LIFE:
        assert math.isclose(gompertz_rel(y, species), want2[species], rel_tol=1e-6)
        assert math.isclose(loglinear_m(y, species), want3[species], rel_tol=1e-6)


def test_species_of_each_sample_from_obs(make, score, loop):
    kinds = ["Homo sapiens", "Mus musculus", "Rattus norvegicus", "Homo sapiens", "Mus musculus", "Rattus norvegicus"]
    adata = make("mammalian2", organism=kinds)
    y = loop(adata.to_df(), terms_of("mammalian2"))
    got = score(adata, "mammalian2", species_key="organism").obsm["clock_scores"]["mammalian2"]
    np.testing.assert_allclose(got, [gompertz_rel(v, s) for v, s in zip(y, kinds, strict=True)], rtol=1e-9)


@pytest.mark.parametrize("name", ["mouse", "Mouse", "Mus musculus", "mus_musculus", "MUS MUSCULUS"])
def test_species_names_in_any_spelling(name, make, score):
    adata = make("mammalian2")
    a, b = (score(adata, "mammalian2", species=s).obsm["clock_scores"] for s in (name, "Mus musculus"))
    assert a.equals(b)


@pytest.mark.parametrize("unknown", [None, np.nan, "", "unknown"])
def test_a_sample_of_unknown_species_is_nan_and_never_the_first_of_a_table(unknown, make, warned):
    adata = make("mammalian2", organism=["human", unknown, "mouse", "rat", "human", "mouse"])
    notes = warned(adata, "mammalian2", species_key="organism")
    assert adata.obsm["clock_scores"]["mammalian2"].isna().tolist() == [False, True, False, False, False, False]
    text = " ".join(str(n.message) for n in notes)
    assert "1 of 6" in text
    assert "species" in text


def test_a_species_that_nobody_knows_is_an_error(make):
    with pytest.raises(fa.InputError, match=r"(?s)gryphon.*latin"):
        fa.tl.score_clocks(make("mammalian2", organism=["human", "gryphon"] * 3), "mammalian2", species_key="organism")


def test_mammalian_array_ids_demand_a_species(make):
    adata = make(["mammalian1", "mammalian2", "mammalian3", "horvath2013"])
    for clocks in ("horvath2013", None):
        with pytest.raises(fa.InputError, match=r"(?s)mammalian array.*species="):
            fa.tl.score_clocks(adata, clocks)
    assert not adata.obsm


@pytest.mark.parametrize("clock", ["mammalian2", "mammalian_blood3", "ensembleage_humanmouse", "ensembleage_static"])
def test_a_clock_for_other_species_demands_that_the_species_is_stated(clock, make):
    """Even of an object cut to the clock's own CpGs, which does not look like a mammalian array."""
    adata = make(clock)
    with pytest.raises(fa.RefusedError, match=r"no species is stated; type species="):
        fa.tl.score_clocks(adata, clock)
    assert not adata.obsm


def test_a_species_column_of_obs_is_read(make, score):
    adata = make("mammalian2")
    told = score(adata, "mammalian2", species="mouse")
    adata.obs["species"] = "Mus musculus"
    assert score(adata, "mammalian2").obsm["clock_scores"].equals(told.obsm["clock_scores"])


@pytest.mark.parametrize(("build", "fine"), [("GRCm38", True), ("mm10", True), ("GRCm39", False), ("hg38", False)])
def test_genome_builds_go_by_several_names(build, fine, make, score):
    adata = make("thompson")
    if fine:
        assert score(adata, "thompson", genome_build=build).obsm["clock_scores"].notna().all(axis=None)
    else:
        with pytest.raises(fa.RefusedError, match="mm10"):
            fa.tl.score_clocks(adata, "thompson", genome_build=build)


@pytest.mark.parametrize("word", ["mice", "house mouse", "Mus_musculus", "MOUSE"])
def test_species_by_the_words_people_use(word, make, score):
    adata = make("ensembleage_static")
    assert score(adata, "ensembleage_static", species=word).obsm["clock_scores"].notna().all(axis=None)


def test_a_common_name_of_two_species_lists_them(make):
    with pytest.raises(fa.InputError, match=r"canis familiaris.*canis lupus familiaris"):
        fa.tl.score_clocks(make("mammalian2"), "mammalian2", species="dog")


def test_mammalian_array_ids_are_fine_with_a_species(make):
    adata = make(["mammalian1", "mammalian2", "mammalian3", "horvath2013"])
    assert fa.tl.score_clocks(adata, "horvath2013", species="human") is None


def test_mammalian_array_replicates_alias_to_the_bare_id(make, score, loop):
    adata = make("mammalian3")
    name = adata.var_names[3]
    assert "." not in name
    x = np.column_stack([adata.X, np.full(6, 0.25)])
    x[:, 3] = 0.75
    names = list(adata.var_names)
    names[3] = f"{name}.1"
    wide = AnnData(x, var=pd.DataFrame(index=pd.Index([*names, f"{name}.2"])))
    frame = adata.to_df()
    frame[name] = 0.5
    y = loop(frame, terms_of("mammalian3"))
    got = score(wide, "mammalian3", species="rat").obsm["clock_scores"]["mammalian3"]
    np.testing.assert_allclose(got, [loglinear_m(v, "Rattus norvegicus") for v in y], rtol=1e-9)


def test_human_clocks_on_mouse_samples_are_refused_though_every_feature_is_there(make):
    adata = make("horvath2013")
    with pytest.raises(fa.RefusedError, match=r"(?s)horvath2013.*human.*Mus musculus"):
        fa.tl.score_clocks(adata, "horvath2013", species="mouse")


def test_human_clocks_in_a_mixed_object_are_nan_for_the_mice(make, score):
    adata = make(["horvath2013", "mammalian2"], organism=["human", "mouse"] * 3)
    scored = score(adata, ["horvath2013", "mammalian2"], species_key="organism")
    assert scored.obsm["clock_scores"]["horvath2013"].isna().tolist() == [False, True] * 3
    assert scored.obsm["clock_scores"]["mammalian2"].notna().all()
    alone = score(adata[::2].copy(), "horvath2013", species="human")
    assert alone.obsm["clock_scores"]["horvath2013"].equals(scored.obsm["clock_scores"]["horvath2013"].iloc[::2])


def test_a_mouse_among_humans_is_explained_by_its_species(make, warned):
    adata = make("horvath2013", organism=["human", "mouse"] * 3)
    text = " ".join(str(n.message) for n in warned(adata, "horvath2013", species_key="organism"))
    assert "3 of 6" in text
    assert "species" in text


def test_by_default_no_mouse_clock_runs_on_unstated_species(make, score):
    adata = make(["horvath2013", "hannum", "mammalian2"])
    adata = adata[:, adata.var_names.isin(_catalog.load(["horvath2013"])[0].features)].copy()
    columns = score(adata).obsm["clock_scores"].columns
    species = fa.clocks.table().loc[columns, "species"]
    assert all("human" in str(s) or "mammals" in str(s) for s in species)
    assert any("human" in str(s) for s in fa.get.manifest(score(adata))["samples"])


# ---- genome build


def test_positions_need_a_genome_build(make):
    adata = make("petkovich_blood")
    with pytest.raises(fa.RefusedError, match=r"(?s)petkovich_blood.*genome_build='mm10'"):
        fa.tl.score_clocks(adata, "petkovich_blood", species="mouse")


@pytest.mark.parametrize("build", ["mm39", "mm9", "hg38"])
def test_positions_of_another_build_are_refused_though_every_name_matches(build, make):
    adata = make("petkovich_blood")
    with pytest.raises(fa.RefusedError, match=rf"(?s)petkovich_blood.*mm10.*{build}"):
        fa.tl.score_clocks(adata, "petkovich_blood", genome_build=build, species="mouse")


@pytest.mark.parametrize("build", ["mm10", "MM10"])
@pytest.mark.parametrize("style", ["chr10:111", "chr10_111", "10:111"])
def test_positions_in_every_style(build, style, make, score):
    adata = make("petkovich_blood")
    want = score(adata, "petkovich_blood", genome_build="mm10").obsm["clock_scores"]
    plain = [n.replace("_", ":") for n in adata.var_names]
    names = {
        "chr10:111": plain,
        "chr10_111": [n.replace(":", "_") for n in plain],
        "10:111": [n.removeprefix("chr") for n in plain],
    }
    adata.var_names = names[style]
    got = score(adata, "petkovich_blood", genome_build=build, species="mouse").obsm["clock_scores"]
    assert got.equals(want)


def test_meer_is_per_percent_and_petkovich_per_fraction(make, score):
    for clock, factor in (("meer_wlmt", 100.0), ("petkovich_blood", 1.0)):
        table = pd.Series(terms_of(clock).weights, index=terms_of(clock).features)
        adata = make(clock)
        b = terms_of(clock).intercept
        got = score(adata, clock, genome_build="mm10").obsm["clock_scores"][clock]
        y = b + adata.to_df()[list(table.index)].to_numpy() @ table.to_numpy()
        want = y / 30.5 if clock == "meer_wlmt" else (np.maximum(y + 1.712, 0) / 0.1666) ** (1 / 0.4185) / 30.5
        np.testing.assert_allclose(got, want, rtol=1e-9)
        # Weights per percent are a hundredth of the usual size of weights per fraction.
        assert factor == 1.0 or np.abs(table).max() > 10


def test_human_array_clocks_on_positions_are_refused(make):
    adata = make("petkovich_blood")
    with pytest.raises(fa.RefusedError, match="hannum"):
        fa.tl.score_clocks(adata, ["hannum"], genome_build="hg38")


# ---- tissue


def test_a_blood_clock_on_liver_warns_once_with_names(make, warned):
    ids = ["hannum", "dnamphenoage", "epitoc1"]
    adata = make(ids, tissue=["liver"] * 6)
    notes = warned(adata, ids)
    assert [issubclass(n.category, fa.MismatchWarning) for n in notes] == [True]
    text = str(notes[0].message)
    for word in ("2 clocks", "liver", "hannum", "dnamphenoage", "blood"):
        assert word in text
    assert "epitoc1" not in text
    assert adata.obsm["clock_scores"].notna().all(axis=None)


@pytest.mark.parametrize("tissue", ["blood", "Whole Blood", "whole_blood", "PBMC", "leukocytes", "buffy coat"])
def test_words_for_blood_do_not_warn(tissue, make, warned):
    assert warned(make("hannum", tissue=[tissue] * 6), "hannum") == []


@pytest.mark.parametrize("tissue", [None, np.nan, "unknown", ""])
def test_an_unknown_tissue_does_not_warn(tissue, make, warned):
    assert warned(make("hannum", tissue=[tissue] * 6), "hannum") == []


def test_tissue_as_categories_and_another_key(make, warned):
    adata = make("hannum", material=pd.Categorical(["liver"] * 6))
    assert warned(adata, "hannum") == []
    assert len(warned(adata, "hannum", tissue_key="material")) == 1


def test_mixed_tissues_warn_for_the_odd_ones(make, warned):
    adata = make("hannum", tissue=["blood"] * 5 + ["skin"])
    notes = warned(adata, "hannum")
    assert len(notes) == 1
    assert "skin" in str(notes[0].message)


@pytest.mark.parametrize("tissue", ["cfDNA", "plasma cfDNA", "cell-free DNA", "Cell-free DNA", "ctDNA"])
def test_cell_free_dna_is_refused(tissue, make):
    adata = make(["hannum", "epitoc1"], tissue=[tissue] * 6)
    with pytest.raises(fa.RefusedError, match=r"(?s)hannum.*cell-free"):
        fa.tl.score_clocks(adata, ["hannum", "epitoc1"])
    assert not adata.obsm


def test_cell_free_samples_among_blood_are_nan_and_say_why(make, warned):
    adata = make("hannum", tissue=["blood", "cfDNA"] * 3)
    text = " ".join(str(n.message) for n in warned(adata, "hannum"))
    assert adata.obsm["clock_scores"]["hannum"].isna().tolist() == [False, True] * 3
    assert "cell-free" in text or "cfDNA" in text


def test_the_clock_made_for_cell_free_dna_runs_on_it(make, score):
    adata = make("hepatoxu", tissue=["cfDNA"] * 6)
    assert score(adata, "hepatoxu").obsm["clock_scores"]["hepatoxu"].notna().all()


def test_defaults_follow_the_tissue(make, score):
    ids = ["horvath2013", "hannum", "dnamphenoage", "cortical", "epitoc2"]
    table = fa.clocks.table()
    for tissue, yes, no in (
        ("blood", {"hannum", "horvath2013", "epitoc2"}, {"cortical"}),
        ("liver", {"horvath2013", "epitoc2"}, {"hannum", "dnamphenoage", "cortical"}),
        ("brain cortex", {"cortical", "horvath2013"}, {"hannum"}),
    ):
        columns = set(score(make(ids, tissue=[tissue] * 6)).obsm["clock_scores"].columns)
        assert yes <= columns, tissue
        assert not no & columns, tissue
        assert table.loc[list(columns), "core"].all()


def test_defaults_write_no_obs_columns(make, score):
    adata = score(make(["horvath2013", "hannum"], tissue=["blood"] * 6))
    assert "hannum" in adata.obsm["clock_scores"]
    assert "hannum" not in adata.obs


# ---- training ages


def test_ages_outside_a_confirmed_training_range_warn_once(make, warned):
    adata = make(["hannum", "horvath2013"], age=[5.0, 30.0, 12.0, 40.0, 50.0, 60.0])
    notes = warned(adata, ["hannum", "horvath2013"])
    assert [issubclass(n.category, fa.MismatchWarning) for n in notes] == [True]
    text = str(notes[0].message)
    assert "hannum" in text
    assert "19" in text
    assert "101" in text
    assert "2 samples" in text
    assert "horvath2013" not in text


def test_ages_inside_or_unknown_do_not_warn(make, warned):
    assert warned(make("hannum", age=[19.0, 30.0, np.nan, 40.0, 50.0, 101.0]), "hannum") == []


def test_an_unconfirmed_range_never_warns(make, warned):
    clock = _catalog.load(["lin"])[0]
    assert not clock.age_range_confirmed
    assert clock.age_min == 19
    assert warned(make("lin", age=[3.0] * 6), "lin") == []


def test_age_range_in_months_of_the_data(make, warned):
    assert warned(make("hannum", age=[300.0] * 6), "hannum", age_unit="months") == []
    assert len(warned(make("hannum", age=[100.0] * 6), "hannum", age_unit="months")) == 1
