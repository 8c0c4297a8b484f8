"""Time ``fa.tl.score_clocks`` side by side with its peers and print one JSON record.

``python benchmarks/score.py [--quick] [--no-peers] [--peers-python PATH] [--out FILE]``; see README.md beside it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _cases import EIGHT, human_clocks, make_case, weights
from _common import commit, machine, restart_with_one_thread, source_hash
from _workers import HERE, Worker

SCHEMA = 1
NOT_ASKED = "not asked for (--no-peers or --quick)"


class Bar(NamedTuple):
    """A ratio that is promised: ``over`` divided by ``under``, of the same rounds, is at most (at least) ``bar``."""

    row: int
    what: str
    case: str
    rounds: str
    over: str
    under: str
    rule: str
    bar: float


BARS = (
    Bar(1, "whole call / one stacked X @ W", "panel", "alone", "falconage_8", "blas", "at most", 1.8),
    Bar(1, "whole call / one stacked X @ W", "panel", "with_peers", "falconage_8", "blas", "at most", 1.8),
    Bar(2, "pyaging with its cache / ours", "panel", "with_peers", "pyaging_cached", "falconage_8", "at least", 8.0),
    Bar(2, "pyaging as called / ours", "panel", "with_peers", "pyaging_plain", "falconage_8", "at least", 30.0),
    Bar(
        3, "biolearn without imputation / ours", "panel", "with_peers", "biolearn_bare", "falconage_8", "at least", 20.0
    ),
    Bar(3, "biolearn by default / ours", "panel", "with_peers", "biolearn_default", "falconage_8", "at least", 20.0),
    Bar(4, "all clocks / eight clocks", "array", "alone", "falconage_all", "falconage_8", "at most", 2.5),
)
PEERS = {"pyaging": "_worker_pyaging.py", "biolearn": "_worker_biolearn.py"}


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _warm(worker: Worker, tasks: list[str]) -> None:
    """Run each task once, untimed; a peer that cannot is left out with its reason, we ourselves may not fail."""
    for task in tasks:
        try:
            worker.ask(task, "time")
        except (RuntimeError, OSError) as error:
            if worker.facts.get("how") is None:
                raise
            worker.missing = worker.facts["missing"] = str(error)
            return


def _in_turns(mine: Worker, own: list[str], others: list[Worker], rounds: int) -> dict[str, dict[str, Any]]:
    """Warm every task, then run all of them in every round, starting with another one each time."""
    turns = [(mine, task) for task in own] + [(worker, task) for worker in others for task in worker.tasks]
    for worker in [mine, *others]:
        _warm(worker, [task for w, task in turns if w is worker])
    turns = [turn for turn in turns if not turn[0].missing]
    samples: dict[str, list[dict[str, Any]]] = {task: [] for _, task in turns}
    for i in range(rounds):
        first = i % len(turns)
        for worker, task in turns[first:] + turns[:first]:
            samples[task].append(worker.ask(task, "time"))
    out = {}
    for task, runs in samples.items():
        cpu, wall = [r["cpu"] for r in runs], [r["wall"] for r in runs]
        out[task] = {"cpu_median_s": _median(cpu), "wall_median_s": _median(wall), "cpu_s": cpu, "wall_s": wall}
    for worker, task in turns:
        out[task]["peak_above_input_mib"] = worker.ask(task, "memory")["peak_mib"]
    return out


def _parts(worker: Worker, task: str, rounds: int) -> dict[str, float]:
    """Median CPU seconds of each part of a call."""
    runs = [worker.ask(task, "parts")["parts"] for _ in range(rounds)]
    return {part: _median([r[part] for r in runs]) for part in runs[0]}


def _agreement(mine: Worker, others: dict[str, Worker]) -> dict[str, dict[str, float]]:
    """Largest difference between a peer's scores and ours, each clock: a check that the work is the same."""
    ours = dict(np.load(mine.ask("falconage_8", "scores")["path"]))
    out = {}
    for name, worker in others.items():
        if not worker.missing:
            theirs = dict(np.load(worker.ask(worker.tasks[0], "scores")["path"]))
            out[name] = {k: float(np.abs(ours[k] - theirs[k]).max()) for k in ours}
    return out


def _run_case(case: dict[str, Any], own: list[str], arguments: argparse.Namespace, *, peers: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.json"
        job.write_text(json.dumps(case | {"weights": weights(list(EIGHT)), "folder": folder, "clocks": list(EIGHT)}))
        mine = Worker("_worker_falconage.py", job)
        if mine.missing:
            raise SystemExit(mine.missing)
        asked = PEERS if peers else {}
        others = {name: Worker(script, job, arguments.peers_python) for name, script in asked.items()}
        workers = {"falconage": mine, **others}
        try:
            timings = {"alone": _in_turns(mine, own, [], arguments.rounds)}
            if peers:
                timings["with_peers"] = _in_turns(mine, own, list(others.values()), arguments.peer_rounds)
            parts = {t: _parts(mine, f"{t}_parts", arguments.rounds) for t in own if f"{t}_parts" in mine.tasks}
            agreement = _agreement(mine, others)
        finally:
            for worker in workers.values():
                worker.close()
    shown = {k: v for k, v in case.items() if k != "columns"} | {"input_mib": mine.facts["input_mib"]}
    return {
        **shown,
        "timings": timings,
        "cpu_parts_s": parts,
        "max_difference": agreement,
        "tools": {n: w.facts for n, w in workers.items()},
    }


def _import_times(rounds: int) -> dict[str, float]:
    """Median CPU seconds of ``import anndata``, of what ``import falconage`` adds, and then of using its rooms."""
    code = (
        "from time import process_time as now; t = [now()]; import anndata; t.append(now()); import falconage as fa; "
        "t.append(now()); fa.tl, fa.clocks, fa.get, fa.io, fa.datasets; t.append(now()); "
        "print(*(b - a for a, b in zip(t, t[1:])))"
    )
    runs = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        runs.append([float(v) for v in done.stdout.split()])
    names = ("anndata", "falconage_adds", "first_use_of_rooms")
    return {name: round(_median(list(times)), 6) for name, times in zip(names, zip(*runs, strict=True), strict=True)}


def _ratios(cases: dict[str, dict[str, Any]], peers: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for bar in BARS:
        timings = cases[bar.case]["timings"].get(bar.rounds, {})
        entry: dict[str, Any] = {"row": bar.row, "what": bar.what, "case": bar.case, "rounds": bar.rounds}
        entry |= {"rule": bar.rule, "bar": bar.bar}
        if bar.over not in timings or bar.under not in timings:
            reason = peers.get(bar.over.split("_")[0], {}).get("reason") or NOT_ASKED
            out.append(entry | {"value": None, "met": None, "reason": reason})
            continue
        value = timings[bar.over]["cpu_median_s"] / timings[bar.under]["cpu_median_s"]
        pairs = sorted(a / b for a, b in zip(timings[bar.over]["cpu_s"], timings[bar.under]["cpu_s"], strict=True))
        met = value <= bar.bar if bar.rule == "at most" else value >= bar.bar
        out.append(entry | {"value": value, "met": met, "lowest_pair": pairs[0], "highest_pair": pairs[-1]})
    return out


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small matrices, two rounds, no peers: does it run?")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=None, help="measure the peers too")
    parser.add_argument("--peers-python", default=sys.executable, help="interpreter that has pyaging and biolearn")
    parser.add_argument("--rounds", type=int, help="rounds without the peers (default 15)")
    parser.add_argument("--peer-rounds", type=int, help="rounds with the peers (default 9)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="also write the record to this file")
    given = parser.parse_args()
    given.peers = not given.quick if given.peers is None else given.peers
    given.rounds = given.rounds or (2 if given.quick else 15)
    given.peer_rounds = given.peer_rounds or (2 if given.quick else 9)
    return given


def main() -> int:
    """Measure, print, and say with the exit status only whether it ran: a slow machine is not an error."""
    given = _arguments()
    restart_with_one_thread()
    sizes = ((256, 2340), (32, 25_000)) if given.quick else ((16_384, 2340), (1024, 450_000))
    everything = human_clocks()
    panel = make_case("panel", *sizes[0], "float64", list(EIGHT), given.seed)
    array = make_case("array", *sizes[1], "float32", everything, given.seed)
    before, revision, source = machine(), commit(HERE), source_hash()
    cases = {
        "panel": _run_case(panel, ["falconage_8", "blas"], given, peers=given.peers),
        "array": _run_case(array, ["falconage_8", "falconage_all"], given, peers=False),
    }
    peers = {}
    for name in PEERS:
        facts = cases["panel"]["tools"].get(name, {"missing": NOT_ASKED})
        reason = facts.get("missing")
        peers[name] = {"versions": facts.get("versions"), "how": facts.get("how"), "reason": reason}
    record = {
        "benchmark": "score",
        "schema": SCHEMA,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": given.quick,
        "seed": given.seed,
        "rounds": {"alone": given.rounds, "with_peers": given.peer_rounds},
        "commit": revision,
        "source": {"sha256": source, "changed_meanwhile": source != source_hash()},
        "machine": before,
        "versions": cases["panel"]["tools"]["falconage"]["versions"],
        "peers": peers,
        "import_cpu_s": _import_times(2 if given.quick else 9),
        "cases": cases,
        "ratios": _ratios(cases, peers),
    }
    for case in cases.values():
        del case["tools"]
    text = json.dumps(record, indent=1)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
