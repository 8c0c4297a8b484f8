"""The rooms of the house: which part of falconage may import which, read from the syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

SRC = Path(__file__).parents[1] / "src" / "falconage"

# A part may import itself and parts of a lower rank; parts of one rank do not know each other.
RANK = {
    "_errors": 0,
    "_keys": 0,
    "_sanitise": 1,
    "_settings": 1,
    "_text": 0,
    "array": 3,
    "_adata": 4,
    "clocks": 4,
    "_scored": 5,
    "pp": 5,
    "io": 6,
    "datasets": 7,
    "tl": 8,
    "get": 9,
    "pl": 10,
    "cli": 11,
    "__main__": 12,
}
ONLY_IN_ARRAY = {"annbatch", "cupy", "cupyx", "dask", "torch"}
NOT_IN_CLOCKS = {"anndata", "scanpy"}


class Import(NamedTuple):
    """One imported module, as an absolute dotted name, and where it stands."""

    path: Path
    line: int
    module: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(SRC)}:{self.line} imports {self.module}"


FILES = sorted(SRC.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8"), filename=str(path)) for path in FILES}


def dotted(path: Path) -> list[str]:
    return ["falconage", *path.relative_to(SRC).with_suffix("").parts]


def imports(path: Path) -> list[Import]:
    """Every import of a file: at the top, in functions, for type checkers, and by name."""
    found: list[Import] = []
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            found += [Import(path, node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = dotted(path)[: -node.level] if node.level else []
            base = [*base, node.module] if node.module else base
            found += [Import(path, node.lineno, ".".join([*base, alias.name])) for alias in node.names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"import_module", "__import__"} and isinstance(node.args[0].value, str):
                found.append(Import(path, node.lineno, node.args[0].value))
    return found


def part_of(module: str) -> str | None:
    """The part of falconage a dotted name belongs to; None for the rest of the world."""
    root, _, rest = module.partition(".")
    if root != "falconage":
        return None
    first = rest.partition(".")[0]
    return first if first in RANK else "__init__"


def test_every_part_has_a_rank() -> None:
    parts = {dotted(path)[1] for path in FILES} - {"__init__"}
    assert parts <= set(RANK), f"give {parts - set(RANK)} a rank"


@pytest.mark.parametrize("part", sorted(RANK))
def test_dependencies_point_one_way(part: str) -> None:
    wrong = [
        str(each)
        for path in FILES
        if dotted(path)[1] == part
        for each in imports(path)
        if (other := part_of(each.module)) is not None and other not in {part, "__init__"} and RANK[other] >= RANK[part]
    ]
    assert not wrong


def test_only_array_knows_the_backends() -> None:
    wrong = [
        str(each)
        for path in FILES
        if dotted(path)[1] != "array"
        for each in imports(path)
        if each.module.partition(".")[0] in ONLY_IN_ARRAY
    ]
    assert not wrong


def test_clocks_know_no_anndata() -> None:
    wrong = [
        str(each)
        for path in FILES
        if dotted(path)[1] == "clocks"
        for each in imports(path)
        if each.module.partition(".")[0] in NOT_IN_CLOCKS or part_of(each.module) in {"_adata", "_scored"}
    ]
    assert not wrong


def test_users_never_meet_an_assert() -> None:
    wrong = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    ]
    assert not wrong
