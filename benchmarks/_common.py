"""Measuring: one process, its CPU time, its memory, and what the numbers were taken on."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import os
import platform
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Some machines pin these to an older CPU; unset both or neither, since one describes the other."""

MIB = 2**20


class Sample(NamedTuple):
    """One timed call: process CPU time and wall time in seconds, and what it returned."""

    cpu: float
    wall: float
    result: Any


def restart_with_one_thread() -> None:
    """Start this program anew with one thread everywhere: the libraries read these variables when they load."""
    wanted = {k: v for k, v in os.environ.items() if k not in UNSET} | dict.fromkeys(ONE_THREAD, "1")
    if wanted != dict(os.environ):
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, *sys.argv], wanted)


def timed(run: Callable[[], Any]) -> Sample:
    """Call once; garbage of earlier calls is collected before the clock starts."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return Sample(time.process_time() - cpu, time.perf_counter() - wall, result)


def _status(field: str) -> int:
    """A field of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(field)


@contextmanager
def _high_water() -> Iterator[Callable[[], int]]:
    """Reset the kernel's high-water mark; where that is forbidden, a thread looks every millisecond."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        seen, stop = [_status("VmRSS")], threading.Event()

        def look() -> None:
            while not stop.wait(0.001):
                seen[0] = max(seen[0], _status("VmRSS"))

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        yield lambda: seen[0]
        stop.set()
        thread.join()
    else:
        yield lambda: _status("VmHWM")


def peak_bytes(run: Callable[[], Any]) -> int | None:
    """How far a call lifts the resident memory above what the process held before; None where Linux is not."""
    if not Path("/proc/self/status").exists():
        return None
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    before = _status("VmRSS")
    with _high_water() as highest:
        result = run()
        top = highest()
    del result
    return max(0, top - before)


def versions(packages: Sequence[str]) -> dict[str, str | None]:
    """Installed versions, None where a package is not there; and Python's."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _cpu_name() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """The machine and the thread settings, without its name."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "load_average": list(os.getloadavg()),
        "platform": platform.platform(),
        "threads": {name: os.environ.get(name) for name in ONE_THREAD},
    }


def commit(root: Path) -> dict[str, Any]:
    """The commit that was measured, and whether the working tree differs from it; None outside a repository."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    status = git("status", "--porcelain")
    return {"sha": git("rev-parse", "--verify", "HEAD"), "dirty": None if status is None else bool(status)}


def source_hash() -> str:
    """SHA-256 over the Python files of the falconage that is imported, wherever it lies."""
    import falconage

    folder = Path(str(falconage.__file__)).parent
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()
