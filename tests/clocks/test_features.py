"""Feature names against a plain dictionary implementation, and the cases users reported."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from falconage._errors import InputError
from falconage.clocks._features import canonical, index_features, looks_like, match


def columns_of(names, features) -> list[list[int]]:
    found = match(index_features(names), np.asarray(features, dtype=object))
    assert found.indptr.dtype == found.columns.dtype == np.int64
    assert len(found.indptr) == len(features) + 1
    return [found.columns[a:b].tolist() for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]


def lower(name: str) -> str:
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in name)


def plain_key(name: str) -> str:
    key = lower(name)
    if re.fullmatch(r"(cg|ch|nv|rs)[0-9.\-].*_[tb][co][0-9]{2,3}", key):
        key = key[: key.rindex("_")]
    if re.fullmatch(r"([0-9]{1,2}|x|y|m|mt):[0-9]+", key):
        key = "chr" + key
    if found := re.fullmatch(r"(chr[^_:]+)_([0-9]+)", key):
        key = f"{found[1]}:{found[2]}"
    return key


def plain_match(names: list[str], features: list[str]) -> list[list[int]]:
    """The rules, one name at a time."""
    replicate = re.compile(r"(cg[0-9]+)\.[0-9]+")
    by_key: dict[str, list[int]] = {}
    by_bare: dict[str, list[int]] = {}
    for column in sorted(range(len(names)), key=lambda i: (names[i], i)):
        key = plain_key(names[column])
        by_key.setdefault(key, []).append(column)
        if found := replicate.fullmatch(key):
            by_bare.setdefault(found[1], []).append(column)
    answer = []
    for feature in features:
        key = plain_key(feature)
        columns = by_key.get(key, [])
        if not columns and (found := replicate.fullmatch(key)):
            columns = by_key.get(found[1], [])
        elif not columns:
            columns = by_bare.get(key, [])
        probe = re.match(r"(cg|ch|nv|rs)[0-9.\-]", key)
        if (probe and lower(feature) != key) or not (probe or re.fullmatch(r"chr[^:]+:[0-9]+", key)):
            exact = [c for c in columns if names[c] == feature]
            folded = [c for c in columns if lower(names[c]) == lower(feature)]
            columns = exact or folded or columns
        answer.append(columns)
    return answer


STEMS = ["cg00000029", "cg18473521", "CG00000029", "ch.7.102590751F", "rs10796216", "nv-GRCh38-chr1-5-5-A-G", "Cg1"]
ENDS = ["", "", "_TC21", "_TC22", "_BC11", "_bo110", "_TX21", "_TC2", "_TC2111", ".1", ".2", "_2", ".2_TC11"]
OTHERS = [
    "chr10:111",
    "chr10_111",
    "CHR10:111",
    "10:111",
    "10_111",
    "chrX_7",
    "x:7",
    "rs_1",
    "gene_name_x",
    "Gene_Name_X",
]
OTHERS += ["RS1", "CHRNA1", "chrna1", "NA:NA,NA", "", "β-actin", "Β-actin", "chr1:5_7", "chr10:111-112", "chk_TC21"]
NAMES = st.one_of(st.builds(str.__add__, st.sampled_from(STEMS), st.sampled_from(ENDS)), st.sampled_from(OTHERS))


@given(st.lists(NAMES, max_size=40), st.lists(NAMES, max_size=25))
def test_match_equals_the_plain_implementation(names, features):
    assert columns_of(np.array(names, dtype=object), features) == plain_match(names, features)


@given(st.lists(NAMES, min_size=1, max_size=40), st.lists(NAMES, min_size=1, max_size=10), st.randoms())
def test_the_order_of_columns_cannot_change_the_answer(names, features, random):
    order = list(range(len(names)))
    random.shuffle(order)
    before = columns_of(names, features)
    after = columns_of([names[i] for i in order], features)
    assert [[names[c] for c in row] for row in before] == [[names[order[c]] for c in row] for row in after]
    assert [sorted(row) for row in before] == [sorted(order[c] for c in row) for row in after]


@given(st.lists(NAMES, min_size=1, max_size=20), st.lists(NAMES, min_size=1, max_size=20))
def test_features_are_matched_independently(names, features):
    index = index_features(names)
    together = columns_of(names, features)
    for feature, row in zip(features, together, strict=True):
        assert match(index, np.array([feature], dtype=object)).columns.tolist() == row


@given(NAMES)
def test_canonical_equals_the_plain_implementation(name):
    assert canonical(name) == plain_key(name)
    assert canonical(lower(name)) == canonical(name)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("cg00000029_TC21", "cg00000029"),
        ("CG00000029", "cg00000029"),
        ("ch.7.102590751F_BC11", "ch.7.102590751f"),
        ("rs10796216_TO110", "rs10796216"),
        ("rs_1", "rs_1"),
        ("gene_name_x", "gene_name_x"),
        ("cg17485681_2", "cg17485681_2"),
        ("CHRNA1_TC21", "chrna1_tc21"),
        ("cg18473521.2", "cg18473521.2"),
        ("ch.7.102590751F", "ch.7.102590751f"),
        ("chr10_111559529", "chr10:111559529"),
        ("10:111559529", "chr10:111559529"),
        ("10_111559529", "10_111559529"),
        ("GL456210.1:5", "gl456210.1:5"),
    ],
)
def test_canonical(name, key):
    assert canonical(name) == key


def test_epicv2_replicates_and_singletons_are_collapsed():
    names = ["cg00000029_TC22", "cg00000109_TC21", "cg00000029_TC21", "cg00000029_BC11"]
    assert columns_of(names, ["cg00000029", "cg00000109", "cg00000165"]) == [[3, 2, 0], [1], []]


def test_plain_and_suffixed_columns_of_two_arrays_belong_together():
    assert columns_of(["cg1", "cg1_TC11", "CG1"], ["cg1", "cg1_TC11", "cg1_BC11"]) == [[2, 0, 1], [1], [2, 0, 1]]


def test_only_array_suffixes_are_stripped():
    names = ["rs_1", "rs_2", "gene_name_x", "gene_name_y", "cg17485681_2"]
    assert columns_of(names, ["rs", "gene", "gene_name_x", "cg17485681"]) == [[], [], [2], []]


def test_mammal40_replicates():
    both = ["cg18473521.1", "cg18473521.2", "cg01079397"]
    assert columns_of(both, ["cg18473521.2", "cg18473521", "cg01079397.1"]) == [[1], [0, 1], [2]]
    bare = ["cg18473521", "cg18473521.1"]
    assert columns_of(bare, ["cg18473521", "cg18473521.2", "cg18473521.1"]) == [[0], [0], [1]]
    assert columns_of(["cg18473521.1"], ["cg18473521.2"]) == [[]]
    assert columns_of(["ch.7.102590751F", "ch.7"], ["ch.7", "ch.7.102590751F"]) == [[1], [0]]


def test_positions_in_every_spelling():
    names = ["chr10_111", "chr1:5", "10:111", "10_111", "chrX:7"]
    assert columns_of(names, ["chr10:111", "chr1_5", "X:7", "chr10:112"]) == [[2, 0], [1], [4], []]


def test_exact_spelling_wins_for_names_that_are_not_probes():
    names = ["Abc", "ABC", "abc", "ABC"]
    assert columns_of(names, ["ABC", "Abc", "aBc"]) == [[1, 3], [0], [1, 3, 0, 2]]


def test_duplicates_give_all_their_columns_once():
    assert columns_of(["cg2", "cg1", "cg2"], ["cg2", "cg1", "cg2"]) == [[0, 2], [1], [0, 2]]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Index, lambda x: pd.Index(x, dtype=object), pd.Series])
def test_every_container_of_names(kind):
    names = kind(["cg2", "cg1", "CG2_TC11"])
    assert columns_of(names, ["cg2"]) == [[2, 0]]
    assert len(index_features(names)) == 3


def test_categorical_names_and_no_names():
    assert columns_of(pd.CategoricalIndex(["cg2", "cg1", "cg2"]), ["cg2"]) == [[0, 2]]
    assert columns_of([], ["cg2", "cg1.2"]) == [[], []]
    assert columns_of(np.empty(0, dtype=object), []) == []


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["cg1", None], "None .* at position 1"),
        (np.array(["cg1", np.nan], dtype=object), "nan .* at position 1"),
        (pd.Index(["cg1", "cg2", None]), "at position 2"),
        (["cg1", 5], r"5 \(int\) at position 1"),
        (pd.RangeIndex(3), r"0 \(int\) at position 0"),
        ([np.nan, np.nan], "at position 0"),
        ([None, None], "at position 0"),
        ([b"cg1"], "at position 0"),
        ([b"cg1", "cg2"], "at position 0"),
        (pd.MultiIndex.from_tuples([("a", "b")]), r"\('a', 'b'\) \(tuple\) at position 0"),
        ("cg1", "single text 'cg1'"),
        (["cg\ud800"], "UTF-8"),
    ],
)
def test_names_that_are_not_text_are_refused(names, complaint):
    with pytest.raises(InputError, match=complaint):
        index_features(names)


def test_what_the_names_look_like():
    cpgs = [f"cg{i:08d}" for i in range(3000)]
    assert looks_like(cpgs) == looks_like(pd.Index(cpgs)) == looks_like(np.array(cpgs, dtype=object)) == "cpg"
    assert looks_like([c.upper() + "_TC21" for c in cpgs]) == "cpg"
    assert looks_like(["ch.7.102590751F", "ch.X.13187220R", "cg18473521.2"]) == "cpg"
    assert looks_like(["chr10:111", "chrX_5", "12:7"]) == "position"
    assert looks_like([*cpgs[:3], "GSM1", "GSM2", "GSM3"]) == "other"
    assert looks_like(["CHRNA1", "RS1", "rs10796216", "NVL"]) == "other"
    assert looks_like([]) == "other"
    assert looks_like([1, None, "cg00000029"]) == "other"
    # sorted names with the other kinds at one end
    assert looks_like(cpgs + ["ch.1.5F"] * 100 + ["rs1"] * 65) == "cpg"
