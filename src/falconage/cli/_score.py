"""``falconage score``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from falconage._errors import InputError, RefusedError
from falconage._text import number as counted
from falconage.cli._h5ad import write_h5ad
from falconage.cli._inputs import read_data, read_reference
from falconage.cli._output import check_output, write_whole
from falconage.cli._shell import in_shell
from falconage.cli._text import aligned, number, share

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    import pandas as pd
    from anndata import AnnData

__all__ = ["score"]

_ON_SCREEN = 60
_REASONS = 10


def score(args: Namespace) -> None:
    """Read, score, write, and print the table."""
    out = Path(args.output) if args.output else Path(f"{_stem(args.data)}_scores.h5ad")
    kind = check_output(out)
    names = None if args.clocks is None else [name.strip() for name in args.clocks.split(",") if name.strip()]
    _check_names(names)
    _check_settings()
    reference = read_reference(args.reference)
    adata = read_data(args)

    from falconage import get, tl

    try:
        tl.score_clocks(adata, names, reference=reference, **_keywords(args, adata))
    except RefusedError as error:
        if names is not None:
            raise
        raise RefusedError(_no_core_clock(args.species), error.reasons) from error
    table = get.scores(adata, tidy=True)
    try:
        write_whole(out, _writer(kind, adata, table))
        print(f"falconage: wrote {out.resolve()}", file=sys.stderr)
    finally:
        # A full disk does not take the scores with it.
        _print_table(table, out)
    _print_refused(get.manifest(adata)["refused"], named=names is not None)


def _keywords(args: Namespace, adata: AnnData) -> dict[str, Any]:
    """Arguments of the call; a column that was typed must be there, the usual ones need not."""
    columns = {key: getattr(args, key) for key in ("age_key", "sex_key", "species_key", "tissue_key")}
    columns = {key: name for key, name in columns.items() if name is not None}
    for key, name in columns.items():
        if name not in adata.obs.columns:
            held = ", ".join(map(repr, adata.obs.columns)) or "none"
            msg = f"{key}={name!r} is not a column of obs. Columns: {held}. Type one of them, or add it with obs=."
            raise InputError(msg)
    same = ("layer", "use_raw", "feature_key", "genome_build", "device", "species", "sex_map", "age_unit")
    return columns | {key: getattr(args, key) for key in (*same, "missing", "min_coverage", "on_refusal")}


def _no_core_clock(species: str | None) -> str:
    """Why nothing was computed where no clock was named, in one sentence."""
    from falconage.clocks import table
    from falconage.clocks._species import HUMAN, accepts, latin_name

    latin = HUMAN if species is None else latin_name(species)
    if latin == HUMAN:
        return "no core clock can be computed on these data; name one with --clocks to see why"
    shipped = table().query("status == 'shipped'")
    words = [word for word in dict.fromkeys(", ".join(shipped["species"]).split(", ")) if accepts((word,), latin)]
    own = next((word for word in words if word != "mammals"), None)
    if own is None:
        hint = "; falconage clocks mammals lists those for any mammal" if words else ""
    else:
        hint = f"; falconage clocks {own} lists those that are"
    return f"no core clock is made for {latin.capitalize()} on these features{hint}"


def _check_names(names: list[str] | None) -> None:
    """Refuse an unknown clock before a large file is read."""
    if names is None:
        return
    if not names:
        msg = "--clocks is empty; give names such as --clocks horvath2013,@mitotic, or leave it out."
        raise InputError(msg)
    from falconage.clocks import _catalog

    with warnings.catch_warnings():
        # The notice that a name was understood comes once, with the scores.
        warnings.simplefilter("ignore")
        _catalog.resolve(names)


def _check_settings() -> None:
    """Refuse a wrong variable before a large file is read."""
    from falconage import settings

    _ = settings.batch_size, settings.progress


def _stem(data: str) -> str:
    name = Path(data).name
    for ending in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(ending)
    return Path(name).stem


def _writer(kind: str, adata: AnnData, table: pd.DataFrame) -> Callable[[Path], None]:
    if kind == ".h5ad":
        return lambda path: write_h5ad(adata, path)
    if kind == ".csv":
        return lambda path: table.to_csv(path, index=False)
    return lambda path: table.to_parquet(path, index=False)


def _print_table(table: pd.DataFrame, out: Path) -> None:
    shown = table.head(_ON_SCREEN) if sys.stdout.isatty() else table
    columns = {name: shown[name].astype(str) for name in ("sample", "clock", "value", "unit", "coverage")}
    columns["value"] = shown["value"].map(number)
    columns["coverage"] = shown["coverage"].map(share)
    print("\n".join(aligned(list(columns), zip(*columns.values(), strict=True), right=["value", "coverage"])))
    if len(shown) < len(table):
        print(f"falconage: {counted(len(table) - len(shown), 'more row', ('is', 'are'))} in {out}", file=sys.stderr)


def _print_refused(refused: pd.DataFrame, *, named: bool) -> None:
    """List what was asked for and not computed; of the core clocks, which nobody named, only the number."""
    if len(refused) == 0:
        return
    if not named:
        number_of = counted(len(refused), "core clock", ("does", "do"))
        print(f"falconage: {number_of} not fit these data; name one with --clocks to see why", file=sys.stderr)
        return
    lines = [f"  {clock}: {in_shell(reason)}" for clock, reason in refused["reason"].head(_REASONS).items()]
    if len(refused) > _REASONS:
        lines.append(f"  … and {len(refused) - _REASONS} more")
    head = f"falconage: {counted(len(refused), 'clock', ('was', 'were'))} not computed:"
    print(head, *lines, sep="\n", file=sys.stderr)
