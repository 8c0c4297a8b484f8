"""The images, without a Docker engine: linted here, their install steps run in a clean environment."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, requires
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
DOCKERFILES = [ROOT / "docker" / "Dockerfile", ROOT / "docker" / "Dockerfile.cuda"]
CONSTRAINTS = ROOT / "docker" / "constraints.txt"
INSTRUCTIONS = {"CMD", "COPY", "ENTRYPOINT", "ENV", "FROM", "RUN", "USER", "WORKDIR"}
ALLOWED_RUN = (
    "apt-get install -y --no-install-recommends *",
    "apt-get update",
    "pip install --no-cache-dir *",
    "python3 -m venv /opt/venv",
    "rm -rf /var/lib/apt/lists/[*]",
    "useradd --create-home --uid *",
)


class Step(NamedTuple):
    """One instruction of a Dockerfile, its continuation lines joined."""

    word: str
    rest: str


def steps(path: Path) -> list[Step]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [Step(*line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def copies(path: Path) -> list[tuple[list[str], str]]:
    """(sources, destination) of each COPY."""
    words = [shlex.split(step.rest) for step in steps(path) if step.word == "COPY"]
    return [(each[:-1], each[-1]) for each in words]


def commands(path: Path) -> list[str]:
    """The single commands of every RUN, in order."""
    return [part.strip() for step in steps(path) if step.word == "RUN" for part in step.rest.split("&&")]


def entry(path: Path) -> list[str]:
    return json.loads(next(step.rest for step in steps(path) if step.word == "ENTRYPOINT"))


@pytest.fixture(params=DOCKERFILES, ids=lambda path: path.name)
def dockerfile(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_known_instructions_only(dockerfile: Path) -> None:
    assert {step.word for step in steps(dockerfile)} <= INSTRUCTIONS  # no ADD, hence no download by URL


def test_base_is_pinned(dockerfile: Path) -> None:
    bases = [step.rest for step in steps(dockerfile) if step.word == "FROM"]
    assert len(bases) == 1
    assert re.fullmatch(r"[a-z/]+:\d+\.\d+\.\d+-[a-z0-9.-]+", bases[0])
    assert "latest" not in dockerfile.read_text(encoding="utf-8")


def test_runs_as_a_plain_user(dockerfile: Path) -> None:
    every = steps(dockerfile)
    users = [i for i, step in enumerate(every) if step.word == "USER"]
    assert every[users[-1]].rest not in {"root", "0"}
    assert not [step for step in every[users[-1] :] if step.word == "RUN"]
    assert f"useradd --create-home --uid {'1000' if dockerfile.suffix == '' else '10001'} falconage" in commands(
        dockerfile
    )


def test_copies_what_exists_and_is_sent(dockerfile: Path) -> None:
    sources = [source for group, _ in copies(dockerfile) for source in group]
    assert sources
    assert not [source for source in sources if not (ROOT / source).exists()]
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(sources) == sent


def test_runs_only_known_commands(dockerfile: Path) -> None:
    unknown = [each for each in commands(dockerfile) if not any(fnmatch(each, known) for known in ALLOWED_RUN)]
    assert not unknown


def test_every_install_is_constrained(dockerfile: Path) -> None:
    installs = [shlex.split(each) for each in commands(dockerfile) if each.startswith("pip ")]
    assert installs
    for words in installs:
        assert words[words.index("-c") + 1] == "constraints.txt"
    assert "docker/constraints.txt" in [source for group, _ in copies(dockerfile) for source in group]


def test_constraints_pin_every_dependency() -> None:
    """Each exactly once, at a version that pyproject.toml allows."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert not [pin for pin in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9][a-z0-9.]*", pin)]
    pinned = dict(pin.split("==") for pin in pins)
    assert len(pinned) == len(pins)
    assert list(pinned) == sorted(pinned)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for text in [*project["dependencies"], *project["optional-dependencies"]["plot"]]:
        needed = Requirement(text)
        assert canonicalize_name(needed.name) in pinned, f"docker/constraints.txt lacks {needed.name}"
        assert needed.specifier.contains(pinned[canonicalize_name(needed.name)]), text


def test_constraints_name_what_is_needed_in_turn() -> None:
    """As far as the packages here say; those of another version may need others."""
    pinned = {line.partition("==")[0]: line.partition("==")[2] for line in CONSTRAINTS.read_text().splitlines()}
    for name, version in pinned.items():
        if not version or not _installed(name, version):
            continue
        for text in requires(name) or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in pinned, f"{name} needs {needed.name}"


def _installed(name: str, version: str) -> bool:
    try:
        return installed_version(name) == version
    except PackageNotFoundError:
        return False


def test_entry_is_the_console_script(dockerfile: Path) -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert entry(dockerfile)[0] in scripts


@pytest.mark.network
def test_install_steps(dockerfile: Path, tmp_path: Path) -> None:
    """COPY and pip in the order of the file, in a virtual environment that holds nothing else."""
    stage, venv = tmp_path / "stage", tmp_path / "venv"
    for sources, target in copies(dockerfile):
        for source in sources:
            path = ROOT / source
            if path.is_dir():
                shutil.copytree(path, stage / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                stage.mkdir(exist_ok=True)
                shutil.copy(path, stage / target)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    env = {"PATH": f"{venv / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), "PIP_NO_COMPILE": "1"}
    env |= {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    env |= {key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")}
    installs = [each for each in commands(dockerfile) if each.startswith("pip ")]
    assert installs
    for each in installs:
        done = subprocess.run(["bash", "-c", each], cwd=stage, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(stage)
    done = subprocess.run([*entry(dockerfile), "info"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "falconage" in done.stdout
    shutil.rmtree(venv)
