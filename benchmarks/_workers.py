"""One process a tool, so that no tool pays for the imports of another; tasks are run in turns.

A worker prints one JSON line when it is ready, reads ``task mode`` lines and answers each with one JSON line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _common import MIB, peak_bytes, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Prepare = Callable[[], Callable[[], Any]]

HERE = Path(__file__).parent


def read_job() -> dict[str, Any]:
    """Read the job a worker was started with."""
    return dict(json.loads(Path(sys.argv[1]).read_text()))


def serve(load: Callable[[dict[str, Any]], tuple[Mapping[str, Prepare], dict[str, Any]]]) -> None:
    """Answer the parent until it hangs up.

    Parameters
    ----------
    load
        Job → tasks and facts for the record. A task makes everything ready and returns the call to be timed, whose
        result is a clock → scores mapping, or parts of the call → seconds (mode ``parts``).
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints goes to standard error

    def say(**answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        tasks, facts = load(read_job())
    except ImportError as error:
        say(missing=f"{type(error).__name__}: {error}")
        return
    say(tasks=list(tasks), **facts)
    for line in sys.stdin:
        task, mode = line.split()
        run = tasks[task]()
        if mode == "memory":
            peak = peak_bytes(run)
            say(peak_mib=None if peak is None else round(peak / MIB, 1))
            continue
        sample = timed(run)
        if mode == "scores":
            path = Path(sys.argv[1]).with_name(f"{task}.npz")
            np.savez(path, **{k: np.asarray(v, np.float64) for k, v in sample.result.items()})
            say(path=str(path))
        elif mode == "parts":
            say(parts={part: round(seconds, 6) for part, seconds in sample.result.items()})
        else:
            say(cpu=round(sample.cpu, 6), wall=round(sample.wall, 6))


class Worker:
    """A child process of one tool."""

    def __init__(self, script: str, job: Path, python: str = sys.executable) -> None:
        self._process = subprocess.Popen(
            [python, str(HERE / script), str(job)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.facts = self._answer()
        self.missing: str | None = self.facts.get("missing")
        self.tasks: list[str] = self.facts.get("tasks", [])

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            return {"missing": f"the worker stopped with exit code {self._process.wait()}"}
        return dict(json.loads(line))

    def ask(self, task: str, mode: str) -> dict[str, Any]:
        """Run a task once; mode ``time``, ``memory``, ``scores`` or ``parts``."""
        if self._process.stdin is None:
            raise RuntimeError(task)
        self._process.stdin.write(f"{task} {mode}\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "missing" in answer:
            message = f"{task}: {answer['missing']}"
            raise RuntimeError(message)
        return answer

    def close(self) -> None:
        """Hang up and wait."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()
