"""Files as instruments, R, Excel, GEO and pandas write them."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pandas as pd
import pytest

import falconage as fa

CPGS = ["cg1", "cg2", "cg3"]
X = np.array([[0.1, 0.25, np.nan], [0.5, 0.75, 0.9]])


def check(adata, samples=("S1", "S2"), values=X, dtype="float32"):
    assert list(adata.obs_names) == list(samples)
    assert list(adata.var_names) == CPGS
    assert adata.X.dtype == dtype
    np.testing.assert_array_equal(adata.X, values.astype(dtype))


TEXTS = {
    "csv of probes": ("b.csv", "ID_REF,S1,S2\ncg1,0.1,0.5\ncg2,0.25,0.75\ncg3,NA,0.9\n"),
    "csv of samples": ("b.csv", "sample,cg1,cg2,cg3\nS1,0.1,0.25,\nS2,0.5,0.75,0.9\n"),
    "R write.csv": ("b.csv", '"","S1","S2"\n"cg1",0.1,0.5\n"cg2",0.25,0.75\n"cg3",NA,0.9\n'),
    "R write.table": ("b.txt", '"S1" "S2"\n"cg1" 0.1 0.5\n"cg2" 0.25 0.75\n"cg3" NA 0.9\n'),
    "quoted numbers and NA": ("b.csv", '"id","S1","S2"\n"cg1","0.1","0.5"\n"cg2","0.25","0.75"\n"cg3","null","0.9"\n'),
    "decimal commas, semicolons": ("b.csv", "cpg;S1;S2\ncg1;0,1;0,5\ncg2;0,25;0,75\ncg3;;0,9\n"),
    "decimal commas, quoted": ("b.csv", 'cpg,S1,S2\ncg1,"0,1","0,5"\ncg2,"0,25","0,75"\ncg3,"","0,9"\n'),
    "Windows lines, BOM": ("b.tsv", "\ufeffprobe\tS1\tS2\r\ncg1\t0.1\t0.5\r\ncg2\t.25\t7.5e-1\r\ncg3\tnan\t0.9\r\n"),
    "tabs in a file named csv": ("b.csv", "probe\tS1\tS2\ncg1\t0.1\t0.5\ncg2\t0.25\t0.75\ncg3\tNA\t0.9\n"),
    "names not in front": ("b.csv", "S1,cpg,S2\n0.1,cg1,0.5\n0.25,cg2,0.75\nNA,cg3,0.9\n"),
    "comments": ("b.tsv", "# betas\n#\n\nprobe\tS1\tS2\ncg1\t0.1\t0.5\ncg2\t0.25\t0.75\ncg3\t\t0.9\n"),
    "no line end": ("b.csv", "ID_REF,S1,S2\ncg1,0.1,0.5\ncg2,0.25,0.75\ncg3,NA,0.9"),
    "GEO series matrix": (
        "GSE1_series_matrix.txt",
        '!Series_title\t"Three ""livers"""\n!Sample_title\t"a"\t"b"\n!series_matrix_table_begin\n"ID_REF"\t"S1"\t"S2"\n'
        '"cg1"\t0.1\t0.5\n"cg2"\t0.25\t0.75\n"cg3"\tnull\t0.9\n!series_matrix_table_end\n',
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_text_files(tmp_path, case):
    name, text = TEXTS[case]
    path = tmp_path / name
    path.write_bytes(text.encode())
    check(fa.io.read_betas(path))


@pytest.mark.parametrize("case", ["csv of probes", "csv of samples", "R write.csv", "decimal commas, quoted"])
def test_wide_files_take_another_way_to_the_same_values(tmp_path, monkeypatch, case):
    monkeypatch.setattr("falconage.io._delimited._WIDE", 1)
    name, text = TEXTS[case]
    (tmp_path / name).write_text(text)
    check(fa.io.read_betas(tmp_path / name))
    check(fa.io.read_betas(str(tmp_path / name), dtype="float64"), dtype="float64")


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
def test_compressed_files(tmp_path, ending):
    import pyarrow as pa

    name, text = TEXTS["GEO series matrix"]
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": lambda raw: pa.compress(raw, "zstd", asbytes=True)}
    path = tmp_path / f"{name}.{ending}"
    path.write_bytes(pack[ending](text.encode()))
    check(fa.io.read_betas(path))


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_parquet(tmp_path, flip, named):
    df = pd.DataFrame(X, index=["S1", "S2"], columns=CPGS)
    df = df.T if flip else df
    if named:
        df = df.rename_axis("id").rename_axis(columns=None).reset_index()
    df.to_parquet(tmp_path / "b.parquet")
    check(fa.io.read_betas(tmp_path / "b.parquet"))
    check(fa.io.read_betas(tmp_path / "b.parquet", dtype=np.float64), dtype="float64")


def test_numbers_as_sample_names_stay_as_written(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("id,cg1,cg2,cg3\n007,0.1,0.25,NA\n010,0.5,0.75,0.9\n")
    check(fa.io.read_betas(path), samples=["007", "010"])
    path.write_text("ID_REF,7,10\ncg1,0.1,0.5\ncg2,0.25,0.75\ncg3,NA,0.9\n")
    check(fa.io.read_betas(path), samples=["7", "10"])


def test_obs_from_a_file(tmp_path):
    path, obs = tmp_path / "b.csv", tmp_path / "obs.csv"
    path.write_text("id,cg1,cg2,cg3\n007,0.1,0.25,NA\n010,0.5,0.75,0.9\n")
    obs.write_text("age,who,smoker,note\n61.5,010,TRUE,x\nNA,007,false,\n9,999,true,\n")
    adata = fa.io.read_betas(path, obs=obs)
    assert list(adata.obs["age"].isna()) == [True, False]
    assert adata.obs["age"].iloc[1] == 61.5
    assert adata.obs["smoker"].tolist() == [False, True]
    assert adata.obs["note"].isna().tolist() == [True, False]
    with pytest.raises(fa.InputError, match="No obs file"):
        fa.io.read_betas(path, obs=tmp_path / "none.csv")
    obs.write_text("id\tage\n007\t5\n")
    obs.rename(tmp_path / "obs.tsv")
    with pytest.raises(fa.InputError, match="no row for 1 of 2 samples: '010'"):
        fa.io.read_betas(path, obs=tmp_path / "obs.tsv")


def test_index_col(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("gene,cpg,S1,S2\nG1,cg1,0.1,0.5\nG2,cg2,0.25,0.75\nG3,cg3,NA,0.9\n")
    with pytest.raises(fa.InputError, match=r"1 column holds text besides the one of row names \('cpg'\): 'gene'"):
        fa.io.read_betas(path)
    path.write_text("cg1,cg2,cg3\n0.1,0.25,NA\n0.5,0.75,0.9\n")
    with pytest.raises(fa.InputError, match="index_col=False"):
        fa.io.read_betas(path)
    check(fa.io.read_betas(path, index_col=False), samples=["0", "1"])
    path.write_text("cg1,cg2,cg3,day\n0.1,0.25,NA,3\n0.5,0.75,0.9,4\n")
    check(fa.io.read_betas(path, index_col="day"), samples=["3", "4"])
    check(fa.io.read_betas(path, index_col=-1), samples=["3", "4"])
    with pytest.raises(fa.InputError, match="no column index_col='nobody'; it has 4"):
        fa.io.read_betas(path, index_col="nobody")


def test_float32_is_the_nearest_to_what_is_written(tmp_path):
    rng = np.random.default_rng(1)
    written = rng.random((200, 2)).round(6)
    lines = [f"cg{i:08d},{a},{b}" for i, (a, b) in enumerate(written)]
    (tmp_path / "b.csv").write_text("\n".join(["id,S1,S2", *lines]))
    adata = fa.io.read_betas(tmp_path / "b.csv")
    np.testing.assert_array_equal(adata.X.T, written.astype(np.float32))


BROKEN = {
    "b.csv": [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"id,S1,S2\n", "one line only"),
        (b"id,S1,S2\ncg1,0.1,0.2\ncg2,0.1\n", "line 3 has 2 fields, the header 3"),
        (b"cg1,0.1,0.5\ncg2,0.25,0.75\n", "first line holds numbers"),
        (b"id,S1,S2\ncg1,0.1,high\n", "'S2'"),
        (b"id S1\ncg1|0.1\n", "Pass sep="),
        ("id,Müller\ncg1,0.1\n".encode("latin-1"), "not UTF-8"),
        ("id,S1\ncg1,0.1\n".encode("utf-16"), "UTF"),
        (b"PK\x03\x04\x14\x00\x06\x00\n\x00\x00", "binary data"),
        (b"id,S1,S2\n" + b"cg1,0.1,0.2\n" * 40 + b"cg2,0.25,Low\n", "'Low' in column 'S2' is no number"),
        (b"id,S1,S2\n" + b"cg1,0.1,0.2\n" * 40 + b"cg2,0.25\n", "cannot be read as a table"),
    ],
    "b.csv.gz": [
        (gzip.compress(b"id,S1\n" + b"cg1,0.123456\n" * 9)[:-12], "cannot be read.*cut off"),
        (b"id,S1\ncg1,0.1\n", "cannot be read"),
    ],
    "b.parquet": [(b"PAR1 not really", "not a parquet file"), (b"", "is empty")],
    "b.xlsx": [(b"PK", "save the sheet as csv")],
    "b.h5ad": [(b"x", "anndata.read_h5ad")],
    "b.pkl": [(b"x", "if you trust it")],
    "b.dat": [(b"x", "ending not known")],
    "b": [(b"x", "ending not known")],
}


@pytest.mark.parametrize(
    ("name", "raw", "message"), [(name, *case) for name, cases in BROKEN.items() for case in cases]
)
def test_broken_files_say_what_is_wrong(tmp_path, name, raw, message):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(fa.InputError, match=message):
        fa.io.read_betas(tmp_path / name)


def test_a_gz_cut_off_in_the_middle(tmp_path):
    rng = np.random.default_rng(0)
    text = "id,S1\n" + "\n".join(f"cg{i:08d},{value}" for i, value in enumerate(rng.random(20_000)))
    raw = gzip.compress(text.encode())
    (tmp_path / "b.csv.gz").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(fa.InputError, match="get it again"):
        fa.io.read_betas(tmp_path / "b.csv.gz")


def test_arguments(tmp_path):
    for wrong, word in ((3, "got int, such as"), (None, "got NoneType"), (pd.DataFrame(), r"from_dataframe\(df\)")):
        with pytest.raises(fa.InputError, match=f"read_betas takes the path of a file, .*{word}"):
            fa.io.read_betas(wrong)  # type: ignore[arg-type]
    for sep in ("", ", ", 3):
        with pytest.raises(fa.InputError, match=r"sep=.* is not one character"):
            fa.io.read_betas(tmp_path / "b.csv", sep=sep)  # type: ignore[arg-type]
    with pytest.raises(fa.InputError, match="No file"):
        fa.io.read_betas(tmp_path / "none.csv")
    with pytest.raises(fa.InputError, match="is a folder"):
        fa.io.read_betas(tmp_path)
    (tmp_path / "b.csv").write_text("x")
    with pytest.raises(fa.InputError, match="dtype='int8' is not known"):
        fa.io.read_betas(tmp_path / "b.csv", dtype="int8")
    with pytest.raises(fa.InputError, match="orientation='up'"):
        fa.io.read_betas(tmp_path / "b.csv", orientation="up")  # type: ignore[arg-type]
