"""The command line: ``falconage score``, ``falconage clocks``, ``falconage info``."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING

from falconage._errors import FalconageError, RefusedError
from falconage.cli._output import OutputError
from falconage.cli._parser import BAD_INPUT, INTERRUPTED, NOT_WRITTEN, REFUSED, make_parser
from falconage.cli._shell import in_shell

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv
        Arguments without the name of the program; those of the process by default.

    Returns
    -------
    The exit code: 0 done, 2 bad input or usage, 3 refused, 4 output not written, 130 interrupted. Errors inside
    falconage are raised (exit code 1).
    """
    args = make_parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            _show_warnings_plainly()
            _run(args)
            sys.stdout.flush()
    except RefusedError as error:
        return _fail(in_shell(str(error)), REFUSED)
    except FalconageError as error:
        return _fail(in_shell(str(error)), BAD_INPUT)
    except BrokenPipeError:
        # The reader of a pipe (head, less) has seen enough.
        _silence()
        return 0
    except OutputError as error:
        return _fail(error, NOT_WRITTEN)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _silence()
        return _fail(f"the table cannot be printed: {error.strerror}", NOT_WRITTEN)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    return 0


def _run(args: Namespace) -> None:
    # A command is imported when it is asked for, so that --help and usage errors come at once.
    module, function = {
        "score": ("falconage.cli._score", "score"),
        "clocks": ("falconage.cli._lists", "clocks"),
        "info": ("falconage.cli._lists", "info"),
    }[args.command]
    getattr(import_module(module), function)(args)


def _silence() -> None:
    """Drop what is left to print, or Python complains about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(reason: object, code: int) -> int:
    print(f"falconage: error: {reason}", file=sys.stderr)
    return code


def _show_warnings_plainly() -> None:
    """Warnings meant for users go to standard error as one line; those for programmers are left out."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    # The warning machinery calls this by position.
    warnings.showwarning = lambda message, *_args, **_kwargs: print(
        f"falconage: warning: {in_shell(str(message))}", file=sys.stderr
    )
