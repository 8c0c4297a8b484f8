"""The benchmark runs and prints a record with what a reader needs. Times are never asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {
    "benchmark", "schema", "created", "quick", "seed", "rounds", "commit", "source", "machine", "versions", "peers",
    "import_cpu_s", "cases", "ratios",
}  # fmt: skip
CASE_KEYS = {"n_obs", "n_vars", "dtype", "seed", "n_features", "input_mib", "timings", "cpu_parts_s", "max_difference"}
TIMING_KEYS = {"cpu_s", "wall_s", "cpu_median_s", "wall_median_s", "peak_above_input_mib"}


def test_score_quick(repository: Path, tmp_path: Path) -> None:
    out = tmp_path / "record.json"
    script = repository / "benchmarks" / "score.py"
    done = subprocess.run(
        [sys.executable, str(script), "--quick", "--out", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record == json.loads(out.read_text())
    assert record.keys() == KEYS
    assert record["quick"]
    assert set(record["machine"]["threads"].values()) == {"1"}
    assert {name: case["timings"]["alone"].keys() for name, case in record["cases"].items()} == {
        "panel": {"falconage_8", "blas"},
        "array": {"falconage_8", "falconage_all"},
    }
    for case in record["cases"].values():
        assert case.keys() >= CASE_KEYS
        assert all(timing.keys() == TIMING_KEYS for timing in case["timings"]["alone"].values())
    assert {entry["row"] for entry in record["ratios"]} == {1, 2, 3, 4}
    for entry in record["ratios"]:
        assert (entry["value"] is None) == (entry["rounds"] == "with_peers")
        assert entry["value"] is not None or entry["reason"]


def test_records_are_complete(repository: Path) -> None:
    for path in (repository / "benchmarks" / "records").glob("score-*.json"):
        record = json.loads(path.read_text())
        assert record.keys() == KEYS, path.name
        assert not record["quick"], path.name
        assert not record["source"]["changed_meanwhile"], path.name
