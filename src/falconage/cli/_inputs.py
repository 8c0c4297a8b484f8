"""What ``falconage score`` reads: the data, the table of samples, the references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from falconage._errors import InputError

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd
    from anndata import AnnData

__all__ = ["DATASETS", "read_data", "read_reference"]

DATASETS = ("liver_450k", "toy")
_EXPECTED = "expected a csv or tsv file with a header and two columns, feature,beta"


def read_data(args: Namespace) -> AnnData:
    """Read the file or data set, with what is told of its samples.

    Raises
    ------
    InputError
        No such file, or one that cannot be read.
    """
    from falconage import datasets, io

    path = Path(args.data)
    if args.data in DATASETS:
        adata: AnnData = getattr(datasets, args.data)()
    elif not path.exists():
        msg = (
            f"no file {args.data!r} in {str(Path.cwd())!r}, and no data set of that name "
            f"({', '.join(DATASETS)}). Check the path."
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


def read_reference(file: str | None) -> pd.Series | None:
    """Read feature → beta from the first two columns of a text file; features without a value are left out.

    Raises
    ------
    InputError
        No such file, no header, or betas that are no numbers.
    """
    if file is None:
        return None
    import pandas as pd

    path = Path(file)
    if not path.is_file():
        msg = f"reference={file!r}: there is no such file in {str(Path.cwd())!r}; {_EXPECTED}."
        raise InputError(msg)
    try:
        table = pd.read_csv(path, sep="\t" if {".tsv", ".txt"} & set(path.suffixes) else ",", encoding="utf-8-sig")
    except (OSError, EOFError, ValueError) as error:
        msg = f"reference={file!r} cannot be read ({error}); {_EXPECTED}."
        raise InputError(msg) from error
    if table.shape[1] < 2:
        msg = f"reference={file!r} has one column, {str(table.columns[0])!r}; {_EXPECTED}."
        raise InputError(msg)
    feature, beta = table.iloc[:, 0], table.iloc[:, 1]
    if pd.to_numeric(pd.Series([beta.name], dtype=object), errors="coerce").notna().all():
        msg = f"reference={file!r} starts with {feature.name!r}, {beta.name!r} and has no header; {_EXPECTED}."
        raise InputError(msg)
    numbers = pd.to_numeric(beta, errors="coerce")
    wrong = beta[numbers.isna() & beta.notna()]
    if len(wrong):
        msg = (
            f"reference={file!r} holds {wrong.iloc[0]!r} in column {str(beta.name)!r}, which is no number; {_EXPECTED}."
        )
        raise InputError(msg)
    series = pd.Series(numbers.to_numpy("float64"), index=feature.astype(object).to_numpy())
    return series.dropna()
