"""Writing a result: the path is checked first, and a file is there whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["OutputError", "check_output", "write_whole"]

_KINDS = (".h5ad", ".csv", ".parquet")


class OutputError(Exception):
    """The result cannot be written."""


def check_output(path: Path) -> str:
    """Tell the kind of output (``".h5ad"``, ``".csv"``, ``".parquet"``) once a file can be made there.

    Raises
    ------
    InputError
        Another ending.
    OutputError
        No folder, a folder of that name, no permission, no space left.
    """
    if path.is_dir():
        msg = f"{str(path)!r} is a folder; give the name of a file in it: -o {path / 'scores.h5ad'}"
        raise OutputError(msg)
    if path.suffix not in _KINDS:
        msg = f"output {path.name!r}: ending not known; use .h5ad, .csv or .parquet."
        raise InputError(msg)
    folder = path.resolve().parent
    if not folder.is_dir():
        msg = f"there is no folder {str(folder)!r} to write {path.name!r} to; make it (mkdir) or give another with -o"
        raise OutputError(msg)
    if path.exists() and not path.is_file():
        return path.suffix
    if path.exists() and not os.access(path, os.W_OK):
        msg = f"no permission to replace {str(path)!r}; give another name with -o"
        raise OutputError(msg)
    # Asking for permission is not enough: read-only and network file systems answer only to an attempt.
    trial = _beside(path)
    try:
        trial.touch(exist_ok=False)
        trial.unlink()
    except OSError as error:
        raise _explained(error, path) from error
    return path.suffix


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a file beside ``path``, then give it its name; a failure leaves no file.

    Raises
    ------
    OutputError
        The file could not be written.
    """
    # A link keeps pointing to its target; a device or a pipe can only be written into.
    target = path.resolve()
    whole = _beside(target) if target.is_file() or not target.exists() else target
    try:
        write(whole)
        if whole is not target:
            whole.replace(target)
    except (OSError, RuntimeError) as error:
        # h5py raises both.
        raise _explained(error, path) from error
    finally:
        if whole is not target:
            whole.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.resolve().with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")


def _explained(error: Exception, path: Path) -> OutputError:
    reason = getattr(error, "strerror", None) or str(error).strip().splitlines()[0]
    return OutputError(f"cannot write {str(path)!r}: {reason}. Nothing was left there; give another place with -o")
