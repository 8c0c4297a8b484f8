"""What README, docs and the other pages at the top promise is there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import falconage as fa

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
SCRIPT = "import sys; sys.argv[0] = 'falconage'; from falconage.cli import main; sys.exit(main())"
ROOMS = ("clocks", "datasets", "get", "io", "pl", "pp", "tl")


def fenced(text: str) -> list[tuple[str, str]]:
    """(language, content) of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)


def command(name: str) -> str:
    """The command that README.md marks with a name, as .ci/run reads it."""
    _, _, after = README.partition(f"<!-- command: {name} -->\n")
    language, content = fenced(after)[0]
    assert language == "bash"
    return content.strip()


def catalogue() -> ModuleType:
    spec = importlib.util.spec_from_file_location("catalogue", ROOT / "docs" / "_ext" / "catalogue.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "ends"), [("score", "falconage score liver_450k"), ("test", "pytest")])
def test_commands_start_from_nothing(name: str, ends: str) -> None:
    steps = command(name).split(" && ")
    assert steps[:2] == ["python3 -m venv .venv", ". .venv/bin/activate"]
    assert steps[2].startswith("pip install ")
    assert steps[3:] == [ends]


def test_extras_in_use_exist() -> None:
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    texts = [path.read_text(encoding="utf-8") for path in [*PAGES, *(ROOT / "docker").iterdir()]]
    used = {each for text in texts for group in re.findall(r'"\.\[([\w,]+)\]"', text) for each in group.split(",")}
    assert "dev" in used
    assert used <= extras


def test_ci_runs_the_commands_of_the_readme() -> None:
    path = ROOT / ".ci" / "run"
    script = path.read_text(encoding="utf-8")
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", path], check=True)
    function = re.search(r"^readme_command\(\) \{.*?^\}", script, flags=re.M | re.S)[0]
    for name in ("score", "test"):
        assert f"$(readme_command {name})" in script
        read = subprocess.run(
            ["bash", "-c", f"{function}\nreadme_command {name}"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert read.stdout.strip() == command(name)


def test_workflows_call_the_same_script() -> None:
    workflows = list((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for path in workflows:
        assert re.findall(r"^\s*- run: (.*)$", path.read_text(), flags=re.M) == ["bash .ci/run"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert not [link for link in local if not (page.parent / link).exists()]


def test_one_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {fa.__version__}\n" in citation
    newest = re.search(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)
    assert newest[1] == fa.__version__


def test_counts_are_those_of_the_catalogue() -> None:
    shown = re.search(r"<!-- counts -->\n(.*)<!-- end counts -->", README, flags=re.S)[1]
    # When this fails: python docs/_ext/catalogue.py prints the table.
    assert shown.strip().splitlines() == catalogue().counts(fa.clocks.table())


def test_python_example_runs() -> None:
    (code,) = [content for language, content in fenced(README) if language == "python"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.FalconageWarning)
        exec(compile(code, "README.md", "exec"), {})


def test_livers_read_as_the_readme_says() -> None:
    livers = fa.datasets.liver_450k()
    fa.tl.score_clocks(livers, "horvath2013")
    years = fa.get.scores(livers)["horvath2013"].to_numpy()
    # Plain NumPy, all 353 CpGs in float64 as methylcheck distributes them; the bundled copy is float32.
    expected = [45.2429, 45.7693, 57.7573, 0.0148, 0.2322, 0.0200]
    np.testing.assert_allclose(years, expected, atol=1e-4)


def test_example_output_is_what_the_command_prints(tmp_path: Path) -> None:
    blocks = re.search(r"<!-- example output -->\n(.*)<!-- end example output -->", README, flags=re.S)
    ((_, shown),) = fenced(blocks[1])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "score", "liver_450k"],
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [each.rstrip() for each in done.stdout.splitlines()] == shown.splitlines()


@pytest.mark.parametrize("room", ROOMS)
def test_api_page_lists_every_public_name(room: str) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(rf"^   {room}\.(\w+)$", page, flags=re.M))
    assert listed == set(getattr(getattr(fa, room), "__all__", ()))
