"""``falconage score``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from falconage._errors import InputError
from falconage.cli._h5ad import write_h5ad
from falconage.cli._output import check_output, write_whole
from falconage.cli._text import aligned, number, share

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    import pandas as pd
    from anndata import AnnData

__all__ = ["score"]

_DATASETS = ("liver_450k", "toy")
_ON_SCREEN = 60
_REASONS = 10


def score(args: Namespace) -> None:
    """Read, score, write, and print the table."""
    out = Path(args.output) if args.output else Path(f"{_stem(args.data)}_scores.h5ad")
    kind = check_output(out)
    names = None if args.clocks is None else [name.strip() for name in args.clocks.split(",") if name.strip()]
    _check_names(names)
    adata = _read(args)

    from falconage import get, tl

    tl.score_clocks(
        adata,
        names,
        layer=args.layer,
        device=args.device,
        species=args.species,
        sex_map=args.sex_map,
        genome_build=args.genome_build,
        min_coverage=args.min_coverage,
        on_refusal=args.on_refusal,
    )
    table = get.scores(adata, tidy=True)
    try:
        write_whole(out, _writer(kind, adata, table))
        print(f"falconage: wrote {out.resolve()}", file=sys.stderr)
    finally:
        # A full disk does not take the scores with it.
        _print_table(table, out)
    _print_refused(get.manifest(adata)["refused"], named=names is not None)


def _check_names(names: list[str] | None) -> None:
    """Refuse an unknown clock before a large file is read."""
    if names is None:
        return
    if not names:
        msg = "--clocks is empty; give names such as --clocks horvath2013,@mitotic, or leave it out."
        raise InputError(msg)
    from falconage.clocks import _catalog

    _catalog.resolve(names)


def _stem(data: str) -> str:
    name = Path(data).name
    for ending in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(ending)
    return Path(name).stem


def _read(args: Namespace) -> AnnData:
    from falconage import datasets, io

    path = Path(args.data)
    if args.data in _DATASETS:
        adata: AnnData = getattr(datasets, args.data)()
    elif not path.exists():
        msg = (
            f"no file {args.data!r} in {str(Path.cwd())!r}, and no data set of that name "
            f"({', '.join(_DATASETS)}). Check the path."
        )
        raise InputError(msg)
    elif path.suffix in {".h5ad", ".zarr"}:
        adata = _read_anndata(path)
    else:
        adata = io.read_betas(path, sep=args.sep)
    if args.obs:
        _join_obs(adata, args.obs)
    if args.tissue:
        adata.obs["tissue"] = args.tissue
    return adata


def _read_anndata(path: Path) -> AnnData:
    import anndata

    try:
        return anndata.read_h5ad(path) if path.suffix == ".h5ad" else anndata.read_zarr(path)
    except ImportError as error:
        msg = f"{path.name!r} needs the zarr package: pip install zarr"
        raise InputError(msg) from error
    except (OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        msg = f"{path.name!r} cannot be read as an AnnData {path.suffix} file, or is damaged: {error}"
        raise InputError(msg) from error


def _join_obs(adata: AnnData, file: str) -> None:
    """Add the columns of a table of samples, in place of those of the same name."""
    from falconage.io._obs import align_obs

    given = align_obs(file, list(adata.obs_names))
    for name in given.columns:
        adata.obs[name] = given[name].to_numpy()


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
        print(f"falconage: {len(table) - len(shown)} more rows are in {out}", file=sys.stderr)


def _print_refused(refused: pd.DataFrame, *, named: bool) -> None:
    """List what was asked for and not computed; of the core clocks, which nobody named, only the number."""
    if len(refused) == 0:
        return
    if not named:
        text = f"{len(refused)} core clocks do not fit these data; name one with --clocks to see why"
        print(f"falconage: {text}", file=sys.stderr)
        return
    lines = [f"  {clock}: {reason}" for clock, reason in refused["reason"].head(_REASONS).items()]
    if len(refused) > _REASONS:
        lines.append(f"  … and {len(refused) - _REASONS} more")
    print(f"falconage: {len(refused)} clocks were not computed:", *lines, sep="\n", file=sys.stderr)
