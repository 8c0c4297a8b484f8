"""The build of the weight tables: same bytes every time, equal to the wheels, no pickle that runs anything."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import pickle
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import falconage as fa
from falconage.clocks import _catalog as catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def tools(repository: Path) -> Any:
    """The build as a module, with its helpers."""
    path = repository / "tools" / "build_weights.py"
    if not path.exists():
        pytest.skip("the tools are not in this checkout")
    spec = importlib.util.spec_from_file_location("build_weights", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


@pytest.fixture(scope="module")
def wheels(tools: Any, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The pinned wheels: a folder in FALCONAGE_WHEELS, or downloaded where the network may be used."""
    from pathlib import Path

    folder = os.environ.get("FALCONAGE_WHEELS")
    if folder:
        return tools.Wheels(Path(folder))
    if not (request.config.getoption("--network") or os.environ.get("FALCONAGE_NETWORK") == "1"):
        pytest.skip("needs the pinned wheels: set FALCONAGE_WHEELS to their folder, or give --network")
    return tools.Wheels(tmp_path_factory.mktemp("wheels"))


def test_building_twice_gives_the_same_bytes(tools: Any, wheels: Any, tmp_path: Path) -> None:
    reports = [tools.build(wheels, tmp_path / run) for run in ("one", "two")]
    assert reports[0] == reports[1]
    assert not [line for line in reports[0] if "NOT EXPLAINED" in line or "DISAGREES" in line]
    files = sorted(file.name for file in (tmp_path / "one").iterdir())
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    for name in (name for name in files if name.endswith(".tsv")):
        assert (tmp_path / "one" / name).read_bytes() == (tools.DATA / name).read_bytes(), name


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("horvath2013", "biolearn@0.9.1:biolearn/data/Horvath1.csv"),
        ("hannum", "biolearn@0.9.1:biolearn/data/Hannum.csv"),
        ("dnamphenoage", "biolearn@0.9.1:biolearn/data/PhenoAge.csv"),
        ("skinandblood", "omniage@0.99.5:omniage/data/Horvath2018.csv"),
        ("abec", "omniage@0.99.5:omniage/data/ABEC.csv"),
        ("mccartney_smoking", "omniage@0.99.5:omniage/data/McCartney/McCartney_Smoking.csv"),
    ],
)
def test_tables_equal_a_plain_reading_of_the_source(wheels: Any, name: str, member: str) -> None:
    text = wheels.read(member).decode("utf-8-sig")
    feature, weight, *_ = next(csv.reader(io.StringIO(text)))
    rows = {row[feature]: float(row[weight]) for row in csv.DictReader(io.StringIO(text))}
    want = {key: value for key, value in rows.items() if key.strip("()").lower() != "intercept"}
    terms = fa.clocks.get(name).terms[0]
    assert dict(zip(terms.features, terms.weights, strict=True)) == want


def test_medians_equal_the_source(wheels: Any) -> None:
    text = wheels.read("biolearn@0.9.1:biolearn/data/sesame_450k_median.csv").decode()
    source = {row["Probe_ID"]: row["median"] for row in csv.DictReader(io.StringIO(text))}
    ours = catalog.reference_450k()
    assert all(float(source[name]) == value for name, value in ours.items())
    horvath = set(fa.clocks.get("horvath2013").features)
    assert horvath & set(ours.index) == {name for name in horvath if source.get(name, "NA") not in ("", "NA")}


class _Malicious:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("exit 1",)


@pytest.mark.parametrize(
    "payload", [_Malicious(), {"coef": _Malicious()}, np.arange(3)], ids=["bare", "nested", "numpy"]
)
def test_a_pickle_that_names_anything_else_is_refused(tools: Any, payload: object) -> None:
    loads = tools.sources._unpickle.loads
    with pytest.raises(pickle.UnpicklingError, match="not on the list"):
        loads(pickle.dumps(payload))


def test_an_allowed_class_cannot_smuggle_another(tools: Any) -> None:
    evil = b"cdmc.methyldat\nMakeMethylObj\n(tR(dS'coef'\ncbuiltins\neval\n(S'1/0'\ntRsb."
    with pytest.raises(pickle.UnpicklingError, match=r"builtins\.eval"):
        tools.sources._unpickle.loads(evil)
    with pytest.raises(pickle.UnpicklingError, match="holds a dict"):
        tools.sources._unpickle.loads(pickle.dumps({}))


def test_a_clock_pickle_is_read_without_its_class(tools: Any) -> None:
    data = b"cdmc.methyldat\nMakeMethylObj\n(tR(dS'Intercept'\nF1.5\nsS'coef'\n(dS'cg1'\nF2.0\nssb."
    assert tools.sources._unpickle.loads(data).fields == {"Intercept": 1.5, "coef": {"cg1": 2.0}}


def test_a_wheel_of_another_hash_is_an_error(tools: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "biolearn-0.9.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("biolearn/data/Hannum.csv", "CpGmarker,CoefficientTraining\n")
    with pytest.raises(RuntimeError, match=r"sha256 .* expected cc996dff"):
        tools.Wheels(tmp_path)


def test_a_table_with_a_repeat_or_a_gap_is_an_error(tools: Any) -> None:
    class Fake:
        def __init__(self, text: str) -> None:
            self.text = text

        def read(self, source: str) -> bytes:
            return f"probe,coef\n{self.text}".encode()

    with pytest.raises(ValueError, match="twice"):
        tools.sources.read_table(Fake("cg1,1\ncg1,2\n"), "a@1:b.csv", {})
    with pytest.raises(ValueError, match="no weight for cg1"):
        tools.sources.read_table(Fake("cg1,NA\n"), "a@1:b.csv", {})
