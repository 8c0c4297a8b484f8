"""What can be typed after ``falconage``."""

from __future__ import annotations

import argparse
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BAD_INPUT", "INTERRUPTED", "NOT_WRITTEN", "REFUSED", "falconage_version", "make_parser"]

BAD_INPUT, REFUSED, NOT_WRITTEN, INTERRUPTED = 2, 3, 4, 130

_EXIT_CODES = f"""\
exit codes:
  0  done
  1  an error inside falconage, shown with its traceback: please report it
  {BAD_INPUT}  wrong usage, an unknown clock, a file that cannot be read, a device that is not there
  {REFUSED}  a clock that was asked for cannot be computed on these data (reason on standard error)
  {NOT_WRITTEN}  the output cannot be written: no folder, no permission, a full disk
"""
_EXAMPLES = """\
examples:
  falconage score liver_450k
  falconage score betas.csv.gz --obs people.csv --clocks horvath2013,@mitotic -o ages.csv
  falconage score study.h5ad --layer beta --tissue blood
"""


def falconage_version() -> str:
    """Tell the installed version."""
    try:
        return version("falconage")
    except PackageNotFoundError:
        from falconage import __version__

        return __version__


def make_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    parser = _formatted(argparse.ArgumentParser)(
        prog="falconage", description="Biological-age scores with coverage and provenance.", epilog=_EXIT_CODES
    )
    parser.add_argument("--version", action="version", version=f"falconage {falconage_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_score(_formatted(commands.add_parser))
    clocks = _formatted(commands.add_parser)(
        "clocks", help="list or search the catalogue", description="List the clocks that contain all words."
    )
    clocks.add_argument("words", nargs="*", metavar="WORD", help="such as: blood mortality")
    _formatted(commands.add_parser)("info", help="versions, devices, settings, folders")
    return parser


def _formatted(make: Callable[..., argparse.ArgumentParser]) -> Callable[..., argparse.ArgumentParser]:
    return lambda *args, **kwargs: make(*args, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)


def _add_score(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add(
        "score",
        help="score a file or a bundled data set",
        description="Score samples, print a table, and write the scored object.",
        epilog=f"{_EXAMPLES}\n{_EXIT_CODES}",
    )
    option = parser.add_argument
    option(
        "data",
        metavar="FILE|DATASET",
        help=".h5ad, .zarr, .csv, .tsv, .txt (or .gz, .bz2, .zst of these three), .parquet; or liver_450k, toy",
    )
    option(
        "--clocks",
        metavar="A,B,@GROUP",
        help="names, wildcards (ying_*), groups (@age, @mitotic), all; the core clocks that fit by default",
    )
    option("-o", "--output", metavar="FILE", help=".h5ad, .csv or .parquet; NAME_scores.h5ad here by default")
    option("--obs", metavar="FILE", help="table of samples: age, sex, tissue, … (csv, tsv, parquet)")
    option("--sep", type=_sep, help="separator of a text file, tab for tabs; found by itself")
    option("--device", default="auto", help="auto or cpu (default: %(default)s)")
    _add_places(parser)
    _add_samples(parser)
    option(
        "--on-refusal",
        choices=["raise", "warn"],
        default="raise",
        help="a named clock that cannot be computed: stop, or leave it out (default: %(default)s)",
    )
    option(
        "--min-coverage",
        type=_share,
        default=0.8,
        metavar="SHARE",
        help="smallest part of a clock that must be measured, 0 to 1 (default: %(default)s)",
    )
    option(
        "--missing",
        choices=["catalogue", "raise", "nan"],
        default="catalogue",
        help="features without a value: filled by the policy of each clock, an error, or no score "
        "(default: %(default)s)",
    )
    option("--reference", metavar="FILE", help="csv or tsv with columns feature,beta that stand in first")


def _add_places(parser: argparse.ArgumentParser) -> None:
    """Where in an object the values and the names of features are."""
    matrix = parser.add_mutually_exclusive_group()
    matrix.add_argument("--layer", help="layer of an .h5ad or .zarr to score instead of X")
    matrix.add_argument("--use-raw", action="store_true", help="score raw of an .h5ad or .zarr instead of X")
    parser.add_argument(
        "--feature-key", metavar="COLUMN", help="column of var with the feature names; its index by default"
    )
    parser.add_argument("--genome-build", metavar="BUILD", help="of features that are positions, such as hg38, mm10")


def _add_samples(parser: argparse.ArgumentParser) -> None:
    """What is known of the samples, for all of them or as a column of obs."""
    option = parser.add_argument
    option("--age-key", metavar="COLUMN", help="column of obs with ages; age by default")
    option(
        "--age-unit",
        choices=["years", "months", "weeks", "days", "hours"],
        default="years",
        help="of that column (default: %(default)s)",
    )
    option(
        "--sex-key",
        metavar="COLUMN",
        help="column of obs with sex; sex, or a column female of truth values, by default",
    )
    option("--sex-map", metavar="CODE=SEX,…", type=_sex_map, help="what codes mean, such as 0=female,1=male")
    species = parser.add_mutually_exclusive_group()
    species.add_argument("--species", help="such as human, mouse, 'Mus musculus'")
    species.add_argument("--species-key", metavar="COLUMN", help="column of obs with species")
    tissue = parser.add_mutually_exclusive_group()
    tissue.add_argument("--tissue", help="tissue of all samples, such as blood")
    tissue.add_argument("--tissue-key", metavar="COLUMN", help="column of obs with tissues; tissue by default")


def _sep(text: str) -> str:
    if text in {"\\t", "tab"}:
        return "\t"
    if len(text) != 1:
        msg = f"{text!r} is not one character; type ',' or ';' or tab"
        raise argparse.ArgumentTypeError(msg)
    return text


def _sex_map(text: str) -> dict[str, str]:
    pairs = [pair.split("=") for pair in text.split(",")]
    if not all(len(pair) == 2 and pair[0].strip() and pair[1].strip() for pair in pairs):
        msg = f"{text!r} is not understood; type it like 0=female,1=male"
        raise argparse.ArgumentTypeError(msg)
    return {code.strip(): sex.strip() for code, sex in pairs}


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        msg = f"{text!r} is not a number from 0 to 1"
        raise argparse.ArgumentTypeError(msg)
    return share
