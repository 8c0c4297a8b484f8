"""The command line: what is printed and written, and every way it can fail."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

import falconage as fa
from falconage.cli import main
from falconage.cli._shell import in_shell

BAD_INPUT, REFUSED, NOT_WRITTEN = 2, 3, 4


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if anything is scored."""
    monkeypatch.setattr("falconage.tl.score_clocks", lambda *_a, **_k: pytest.fail("scored before all was checked"))


def python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False)


def test_scores_of_the_livers(here, capsys):
    assert main(["score", "liver_450k", "--clocks", "horvath2013,dnamtl"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["sample", "clock", "value", "unit", "coverage"]
    rows = [line.split() for line in lines[1:]]
    assert [row[0] for row in rows] == [f"{stage}_{i}" for stage in ("adult", "fetal") for i in (1, 2, 3) for _ in "hd"]
    horvath = [row for row in rows if row[1] == "horvath2013"]
    # GSE69852 scored with plain NumPy: see the test of the data set.
    assert [row[2] for row in horvath] == ["45.24", "45.77", "57.76", "0.0148", "0.2322", "0.0200"]
    assert {tuple(row[3:]) for row in horvath} == {("years", "1.000")}
    # Values stand under each other.
    assert len({line.index(" years") for line in lines if " years" in line}) == 1
    assert f"wrote {here / 'liver_450k_scores.h5ad'}" in err
    assert [path.name for path in here.iterdir()] == ["liver_450k_scores.h5ad"]
    scored = anndata.read_h5ad("liver_450k_scores.h5ad")
    assert list(fa.get.scores(scored).columns) == ["horvath2013", "dnamtl"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_as_output(here, capsys, kind):
    assert main(["score", "toy", "--clocks", "hannum, horvath2013", "-o", f"out.{kind}"]) == 0
    table = pd.read_csv("out.csv", converters={"value": float}) if kind == "csv" else pd.read_parquet("out.parquet")
    expected = fa.datasets.toy()
    fa.tl.score_clocks(expected, ["hannum", "horvath2013"])
    expected = fa.get.scores(expected, tidy=True)
    assert list(table.columns) == list(expected.columns)
    np.testing.assert_array_equal(table["value"], expected["value"])
    assert [path.name for path in here.iterdir()] == [f"out.{kind}"]
    assert len(capsys.readouterr().out.splitlines()) == 49


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "h5ad", "zarr"])
def test_every_kind_of_input_gives_the_same_scores(here, capsys, ending):
    toy = fa.datasets.toy()[:6].copy()
    weights = fa.clocks.get("hannum").weights.set_index("feature")["weight"]
    expected = [f"{years:.2f}" for years in toy.to_df()[weights.index].astype(float) @ weights]
    if ending in {"h5ad", "zarr"}:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # anndata on the default format of zarr
            getattr(toy, f"write_{ending}")(here / f"in.{ending}")
    elif ending == "parquet":
        toy.to_df().to_parquet("in.parquet")
    else:
        toy.to_df().T.to_csv(f"in.{ending}", sep="," if ending == "csv" else "\t")
    assert main(["score", f"in.{ending}", "--clocks", "hannum"]) == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()[1:]] == expected
    assert (here / "in_scores.h5ad").is_file()


def test_obs_layer_and_other_options(here, capsys):
    toy = fa.datasets.toy(4)
    toy.layers["beta"] = toy.X.copy()
    toy.X[:] = 7
    toy.obs = toy.obs.drop(columns=["tissue", "sex"])
    toy.write_h5ad("in.h5ad")
    pd.DataFrame({"who": toy.obs_names[::-1], "age": [40, 30, 20, 10], "sex": [0, 1, 1, 0]}).to_csv(
        "o.csv", index=False
    )
    command = ["score", "in.h5ad", "--clocks", "horvath2013", "--layer", "beta", "--obs", "o.csv", "--tissue", "blood"]
    assert main([*command, "--species", "human", "--sex-map", "0=female,1=male", "--min-coverage", "0.9"]) == 0
    scored = anndata.read_h5ad("in_scores.h5ad")
    assert list(scored.obs["age"]) == [10, 20, 30, 40]
    assert list(scored.obs["tissue"]) == ["blood"] * 4
    params = fa.get.manifest(scored)["params"]
    assert (params["layer"], params["min_coverage"], params["species"]) == ("beta", 0.9, "human")
    assert "female" in params["sex_map"]
    assert main(command[:4]) == BAD_INPUT
    assert "error" in capsys.readouterr().err


def test_columns_of_obs_and_var(here, capsys):
    toy = fa.datasets.toy(6)
    raw = toy.copy()
    toy.obs = pd.DataFrame(
        {
            "months": toy.obs["age"] * 12,
            "gender": toy.obs["sex"].astype(str).str[0],
            "organ": ["blood"] * 6,
            "animal": ["human"] * 5 + ["mouse"],
        }
    )
    toy.var["probe"] = toy.var_names
    toy.var_names = [f"row{i}" for i in range(toy.n_vars)]
    toy.X[:] = 7
    toy.raw = raw
    toy.write_h5ad("in.h5ad")
    clocks = ["score", "in.h5ad", "--clocks", "hannum"]
    keys = ["--age-key", "months", "--age-unit", "months", "--sex-key", "gender", "--species-key", "animal"]
    assert main([*clocks, "--use-raw", *keys, "--tissue-key", "organ"]) == 0
    params = fa.get.manifest(anndata.read_h5ad("in_scores.h5ad"))["params"]
    assert [params[key] for key in ("age_key", "age_unit", "sex_key")] == ["months", "months", "gender"]
    assert [params[key] for key in ("species_key", "tissue_key")] == ["animal", "organ"]
    out, _ = capsys.readouterr()
    weights = fa.clocks.get("hannum").weights.set_index("feature")["weight"]
    expected = [f"{years:.2f}" for years in raw.to_df()[weights.index].astype(float) @ weights]
    assert [line.split()[2] for line in out.splitlines()[1:]] == [*expected[:5], "NaN"]
    toy.X[:] = raw.X
    toy.raw = None
    toy.write_h5ad("in.h5ad")
    assert main([*clocks, "--feature-key", "probe"]) == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()[1:]] == expected


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_reference_and_missing(here, capsys, ending):
    weights = fa.clocks.get("hannum").weights.set_index("feature")["weight"]
    lacking = [weights.index[0], weights.index[5]]
    toy = fa.datasets.toy(3)
    frame = toy.to_df().astype(float)[weights.index].drop(columns=lacking)
    frame.to_csv("in.csv")
    reference = pd.DataFrame({"feature": [*lacking, "cg_other"], "beta": [0.25, 0.75, None]})
    reference.to_csv(f"means.{ending}", index=False, sep="\t" if ending == "tsv" else ",")
    command = ["score", "in.csv", "--clocks", "hannum", "-o", "out.csv", "--min-coverage", "0.5"]
    assert main([*command, "--reference", f"means.{ending}"]) == 0
    capsys.readouterr()
    values = pd.read_csv("out.csv")["value"]
    expected = frame.assign(**dict(zip(lacking, [0.25, 0.75], strict=True)))[weights.index] @ weights
    np.testing.assert_allclose(values, expected, rtol=1e-6)
    assert main([*command, "--missing", "raise"]) == BAD_INPUT
    assert "--missing catalogue" in capsys.readouterr().err
    assert main([*command, "--missing", "nan"]) == 0
    assert pd.read_csv("out.csv")["value"].isna().all()


@pytest.mark.parametrize("tab", ["tab", "\\t", "\t"])
def test_a_tab_can_be_typed(capsys, tab):
    fa.datasets.toy(2).to_df().T.to_csv("in.txt", sep="\t")
    assert main(["score", "in.txt", "--clocks", "hannum", "--sep", tab]) == 0


def test_a_notice_on_a_name_comes_once(capsys):
    command = ["score", "toy", "--clocks", "grimage,hannum", "--on-refusal", "warn", "-o", "x.csv"]
    assert main(command) == 0
    notices = [line for line in capsys.readouterr().err.splitlines() if "many people mean grimage2" in line]
    assert len(notices) == 1


@pytest.mark.parametrize(
    ("species", "latin", "hint"),
    [
        ("mouse", "Mus musculus", "falconage clocks mouse lists those that are"),
        ("Balaenoptera musculus", "Balaenoptera musculus", "falconage clocks mammals lists those for any mammal"),
    ],
)
def test_one_sentence_where_no_core_clock_fits(here, capsys, species, latin, hint):
    assert main(["score", "liver_450k", "--species", species]) == REFUSED
    out, err = capsys.readouterr()
    assert out == ""
    assert f"falconage: error: no core clock is made for {latin} on these features; {hint}\n" in err
    assert len([line for line in err.splitlines() if "warning" not in line]) == 1
    assert not list(here.iterdir())
    # Where clocks were asked for, the reasons are told.
    assert main(["score", "liver_450k", "--species", species, "--clocks", "hannum"]) == REFUSED
    assert "  hannum: it is made for human" in capsys.readouterr().err


def test_one_sentence_where_no_core_clock_has_its_features(capsys):
    fa.datasets.toy(2).to_df().iloc[:, :9].T.to_csv("in.csv")
    assert main(["score", "in.csv"]) == REFUSED
    err = capsys.readouterr().err
    assert "no core clock can be computed on these data; name one with --clocks to see why" in err
    assert len(err.splitlines()) == 1


PYTHON_TO_SHELL = [
    ("Drop them from clocks=, or type on_refusal='warn' to", "Drop them from --clocks, or type --on-refusal warn to"),
    ("e.g. species='Mus musculus', or 'human'.", "e.g. --species 'Mus musculus', or 'human'."),
    ("type genome_build='mm10' if those", "type --genome-build mm10 if those"),
    ("Type layer= with one of ['a']", "Type --layer with one of ['a']"),
    ("expected e.g. min_coverage=0.8.", "expected e.g. --min-coverage 0.8."),
    ("Type sex_map={0: 'female', 1: 'male'}.", "Type --sex-map 0=female,1=male."),
    ("holds CpG ids: type use_raw=True.", "holds CpG ids: type --use-raw."),
    ("Pass sep=',' or sep='\\t'.", "Pass --sep , or --sep '\\t'."),
    ("type feature_key=; if", "type --feature-key; if"),
    ("Pass clocks=['hannum', '@age'] or", "Pass --clocks hannum,@age or"),
    ("what describes the samples as obs=; index_col= names", "what describes the samples as --obs; index_col= names"),
    ("falconage.clocks.search() lists them", "falconage clocks lists them"),
    # What has no option, and what is more than a value, stays.
    ("Type adata = adata.T.", "Type adata = adata.T."),
    ("pass obs=df[['sex']], modality='x'", "pass obs=df[['sex']], modality='x'"),
    ("obs=obs.set_index('a') adata.obs= x.layer='y'", "obs=obs.set_index('a') adata.obs= x.layer='y'"),
    ("obs=_table, species==1, my_layer='a'", "obs=_table, species==1, my_layer='a'"),
]


@pytest.mark.parametrize(("python", "shell"), PYTHON_TO_SHELL)
def test_advice_in_the_words_of_the_shell(python, shell):
    assert in_shell(python) == shell


def test_advice_names_options_that_exist(capsys):
    from falconage.cli import _shell

    with pytest.raises(SystemExit):
        main(["score", "--help"])
    shown = capsys.readouterr().out
    assert not [name for name in _shell._OPTIONS if f"--{name.replace('_', '-')} " not in shown.replace("]", " ")]


def test_one_and_several(capsys):
    assert main(["score", "toy", "--clocks", "hannum,grimage2", "--on-refusal", "warn", "-o", "x.csv"]) == 0
    assert "falconage: 1 clock was not computed:" in capsys.readouterr().err
    assert main(["score", "toy", "--clocks", "hannum,grimage1,grimage2", "--on-refusal", "warn", "-o", "x.csv"]) == 0
    assert "falconage: 2 clocks were not computed:" in capsys.readouterr().err
    assert main(["clocks", "grimage2_timp1"]) == 0
    assert "falconage: 1 clock, 0 shipped" in capsys.readouterr().err


def test_warnings_are_one_line_each(capsys):
    assert main(["score", "liver_450k", "--clocks", "hannum", "-o", "x.csv"]) == 0
    out, err = capsys.readouterr()
    assert "warning" not in out
    warned = [line for line in err.splitlines() if "warning:" in line]
    assert len(warned) == 1
    assert warned[0].startswith("falconage: warning: ")
    assert "liver" in warned[0]


WRONG_INPUT = [
    (["score", "nothing.csv"], ["no file 'nothing.csv'", "liver_450k, toy"]),
    (["score", "folder"], ["is a folder"]),
    (["score", "bad.h5ad"], ["bad.h5ad", "cannot be read as an AnnData"]),
    (["score", "empty.csv"], ["empty"]),
    (["score", "text.csv"], ["text"]),
    (["score", "word.docx"], ["ending not known"]),
    (["score", "toy", "--clocks", "horvat2013,hannum"], ["horvat2013", "horvath2013"]),
    (["score", "toy", "--clocks", "phenoage"], ["dnamphenoage", "phenoage_clinical"]),
    (["score", "toy", "--clocks", " , "], ["--clocks is empty"]),
    (["score", "toy", "--device", "cuda"], ["CPU"]),
    (["score", "toy", "--obs", "none.csv"], ["No obs file"]),
    (["score", "toy", "-o", "x.xlsx"], [".h5ad, .csv or .parquet"]),
    (["score", "toy", "--layer", "none"], ["none"]),
    (["score", "toy", "--use-raw"], ["--use-raw, but adata.raw is None"]),
    (["score", "toy", "--feature-key", "probe"], ["--feature-key probe is not a column of var"]),
    (["score", "toy", "--age-key", "years"], ["--age-key years is not a column of obs", "'age'", "--obs"]),
    (["score", "toy", "--sex-key", "f"], ["--sex-key f is not a column of obs"]),
    (["score", "toy", "--species-key", "animal"], ["--species-key animal is not a column of obs"]),
    (["score", "toy", "--tissue-key", "organ"], ["--tissue-key organ is not a column of obs"]),
    (["score", "toy", "--species", "unicornus"], ["unicornus", "e.g. --species 'Mus musculus'"]),
    (["score", "toy", "--reference", "none.csv"], ["--reference none.csv: there is no such file", "feature,beta"]),
    (["score", "toy", "--reference", "empty.csv"], ["--reference empty.csv cannot be read", "feature,beta"]),
    (["score", "toy", "--reference", "text.csv"], ["'high' in column 'S1', which is no number", "feature,beta"]),
    (["score", "toy", "--reference", "bare.csv"], ["starts with 'cg1', '0.5' and has no header", "feature,beta"]),
    (["score", "toy", "--reference", "one.csv"], ["has one column, 'feature'", "feature,beta"]),
    (["score", "toy", "--reference", "percent.csv"], ["--reference runs from 50 to 50"]),
]


@pytest.mark.parametrize(("command", "words"), WRONG_INPUT, ids=[" ".join(c[0][1:]) for c in WRONG_INPUT])
def test_wrong_input_says_why_and_leaves_nothing(here, capsys, command, words):
    (here / "folder").mkdir()
    (here / "bad.h5ad").write_bytes(b"no hdf5")
    (here / "empty.csv").touch()
    (here / "text.csv").write_text("id,S1\ncg1,high\n")
    (here / "word.docx").write_bytes(b"PK")
    (here / "bare.csv").write_text("cg1,0.5\ncg2,0.6\n")
    (here / "one.csv").write_text("feature\ncg1\n")
    (here / "percent.csv").write_text("feature,beta\ncg1,50\n")
    before = sorted(here.iterdir())
    assert main(command) == BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("falconage: error: ")
    assert all(word in err for word in words)
    assert "Traceback" not in err
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["scores"],
        ["score"],
        ["score", "toy", "--min-coverage", "80"],
        ["score", "toy", "--sex-map", "female"],
        ["score", "toy", "--sep", "::"],
        ["score", "toy", "--age-unit", "decades"],
        ["score", "toy", "--missing", "fill"],
        ["score", "toy", "--layer", "beta", "--use-raw"],
        ["score", "toy", "--species", "human", "--species-key", "species"],
        ["score", "toy", "--tissue", "blood", "--tissue-key", "organ"],
    ],
)
def test_wrong_usage(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main(command)
    assert stopped.value.code == BAD_INPUT
    assert "usage: falconage" in capsys.readouterr().err


def test_a_refused_clock(here, capsys):
    assert main(["score", "toy", "--clocks", "hannum,grimage2"]) == REFUSED
    assert "grimage2" in capsys.readouterr().err
    assert not list(here.iterdir())
    assert main(["score", "toy", "--clocks", "hannum,grimage2", "--on-refusal", "warn"]) == 0
    out, err = capsys.readouterr()
    assert "hannum" in out
    assert "grimage2: " in err
    assert main(["score", "toy", "--clocks", "hannum,grimage2"]) == REFUSED
    assert "Drop them from --clocks, or type --on-refusal warn" in capsys.readouterr().err


def test_an_unknown_clock_is_found_before_the_file_is_read(monkeypatch, capsys):
    Path("big.csv").touch()
    monkeypatch.setattr("falconage.io.read_betas", lambda *_a, **_k: pytest.fail("read before names were checked"))
    assert main(["score", "big.csv", "--clocks", "nonsense_clock"]) == BAD_INPUT
    assert "nonsense_clock" in capsys.readouterr().err


@pytest.mark.usefixtures("no_scoring")
def test_output_is_checked_before_scoring(here, capsys):
    (here / "a_folder.h5ad").mkdir()
    assert main(["score", "toy", "-o", "no/such/folder/x.csv"]) == NOT_WRITTEN
    assert "there is no folder" in capsys.readouterr().err
    assert main(["score", "toy", "-o", "a_folder.h5ad"]) == NOT_WRITTEN
    assert "is a folder" in capsys.readouterr().err
    assert [path.name for path in here.rglob("*")] == ["a_folder.h5ad"]


@pytest.mark.usefixtures("no_scoring")
def test_no_permission(here, monkeypatch, capsys):
    def denied(path, **_kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "touch", denied)
    assert main(["score", "toy", "-o", "x.h5ad"]) == NOT_WRITTEN
    err = capsys.readouterr().err
    assert "cannot write 'x.h5ad': Permission denied" in err
    assert "Traceback" not in err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission_for_real(here, capsys):
    here.chmod(0o500)
    assert main(["score", "toy"]) == NOT_WRITTEN
    here.chmod(0o700)
    assert "Permission denied" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_disk_while_a_table_is_written(here, capsys):
    (here / "out.csv").symlink_to("/dev/full")
    assert main(["score", "toy", "--clocks", "hannum", "-o", "out.csv"]) == NOT_WRITTEN
    out, err = capsys.readouterr()
    assert "No space left on device" in err
    assert "Traceback" not in err
    # The scores are not lost.
    assert len(out.splitlines()) == 25
    assert Path("/dev/full").is_char_device()
    assert [path.name for path in here.iterdir()] == ["out.csv"]


SHORT_OF_SPACE = """
import sys, resource
from falconage.cli import _score, main
whole = _score.write_h5ad
def write_h5ad(adata, path):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop()), resource.RLIM_INFINITY))
    whole(adata, path)
_score.write_h5ad = write_h5ad
sys.exit(main(sys.argv[1:-1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
@pytest.mark.parametrize("space", [0, 50_000, 200_000])
def test_no_partial_file_when_space_runs_out(here, space):
    (here / "x.h5ad").write_text("from an earlier run")
    done = python(SHORT_OF_SPACE, "score", "toy", "--clocks", "hannum", "-o", "x.h5ad", str(space))
    assert done.returncode == NOT_WRITTEN, done.stderr
    assert "cannot write 'x.h5ad': File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hannum" in done.stdout
    assert [path.name for path in here.iterdir()] == ["x.h5ad"]
    assert (here / "x.h5ad").read_text() == "from an earlier run"


def test_output_may_replace_the_input(here):
    fa.datasets.toy(3).write_h5ad("x.h5ad")
    assert main(["score", "x.h5ad", "--clocks", "hannum", "-o", "x.h5ad"]) == 0
    assert "hannum" in anndata.read_h5ad("x.h5ad").obsm["clock_scores"]
    assert [path.name for path in here.iterdir()] == ["x.h5ad"]


def test_output_through_a_link_keeps_the_link(here):
    (here / "real.csv").touch()
    (here / "link.csv").symlink_to("real.csv")
    assert main(["score", "toy", "--clocks", "hannum", "-o", "link.csv"]) == 0
    assert (here / "link.csv").is_symlink()
    assert len(pd.read_csv("real.csv")) == 24


def test_interrupted(here, monkeypatch, capsys):
    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("falconage.tl.score_clocks", stop)
    assert main(["score", "toy"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert not list(here.iterdir())


def test_clocks(capsys):
    assert main(["clocks", "blood", "MORTALITY"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["clock", "group", "unit", "species", "tissue", "features", "status"]
    found = list(fa.clocks.search("blood mortality").index)
    assert [line.split()[0] for line in lines[1:]] == found
    assert f"{len(found)} clocks" in err
    assert main(["clocks"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(fa.clocks.table()) + 1
    assert main(["clocks", "xyzzy"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "no clock contains all of: xyzzy" in err


def test_info(capsys, monkeypatch):
    monkeypatch.setattr(fa.settings, "cache_dir", Path("/somewhere/else"))
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    told = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in out.splitlines()}
    assert told["falconage"] == fa.__version__
    assert told["anndata"] == version("anndata")
    assert told["cache folder"] == str(Path("/somewhere/else"))
    assert told["devices"].startswith("cpu")
    assert "telomere 1" in told["shipped scores"]


def test_help_lists_the_exit_codes(capsys):
    for command in (["--help"], ["score", "--help"]):
        with pytest.raises(SystemExit) as stopped:
            main(command)
        assert stopped.value.code == 0
        out = capsys.readouterr().out
        assert [line.split()[0] for line in out.split("exit codes:\n")[1].splitlines()] == list("01234")
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"falconage {fa.__version__}\n"


def test_as_a_module_and_without_heavy_imports():
    code = (
        "import sys; sys.argv[1:] = ['--help']\nimport runpy\ntry: runpy.run_module('falconage', run_name='__main__')\n"
    )
    code += "except SystemExit: print(*sorted(set(sys.modules) & {'anndata', 'numpy', 'pandas', 'pyarrow'}), end='|')"
    done = python(code)
    assert done.stdout.startswith("usage: falconage")
    assert done.stdout.endswith("full disk\n|")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_pipes_that_close_and_screens_that_fail(here):
    command = f'"{sys.executable}" -m falconage clocks'
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert "Error" not in done.stderr
    full = subprocess.run(["bash", "-c", f"{command} > /dev/full"], capture_output=True, text=True, check=False)
    assert full.returncode == NOT_WRITTEN
    assert "No space left on device" in full.stderr
    assert "Traceback" not in full.stderr
