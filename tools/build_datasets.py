"""Build the data sets that falconage ships from their public sources.

Usage::

    python tools/build_datasets.py [--sdist methylcheck-0.8.5.tar.gz] [--out src/falconage/datasets/data]

``liver_450k.parquet`` holds GSE69852 as the methylcheck 0.8.5 source archive carries it, as float32, reduced to
the probes of the weight tables and the 450K reference profile. Without ``--sdist`` the archive is fetched with
pip. Run ``tools/build_weights.py`` first. The same archive, weight tables and pyarrow give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import pickle
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "falconage"
SOURCE = "methylcheck==0.8.5"
SDIST_SHA256 = "c7c2cc6cb49d353c2b4ff7318361ac4642e7c38e7df5ceb61240cf0b2261d3ef"
FOLDER = "methylcheck-0.8.5"
PICKLE = f"{FOLDER}/docs/test_betas.pkl"
SHAPE = (485_512, 6)


class _Recorded:
    """Stands for a pandas object: keeps its state and runs none of its code."""

    state: Any

    def __setstate__(self, state: Any) -> None:
        self.state = state


def _new_index(_cls: type, state: dict[str, Any]) -> Any:
    return state["data"]


class _Restricted(pickle.Unpickler):
    """Opens pickles that hold arrays, slices and the shell of a pandas DataFrame; refuses all else."""

    allowed: dict[tuple[str, str], Any] = {  # noqa: RUF012
        ("pandas.core.frame", "DataFrame"): _Recorded,
        ("pandas.core.internals.managers", "BlockManager"): _Recorded,
        ("pandas.core.indexes.base", "_new_Index"): _new_index,
        ("pandas.core.indexes.base", "Index"): object,
        ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("builtins", "slice"): slice,
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self.allowed[module, name]
        except KeyError:
            msg = f"refused to unpickle {module}.{name}"
            raise pickle.UnpicklingError(msg) from None


class Betas(NamedTuple):
    """Array positions (6), probes and β-values, probes × arrays."""

    arrays: list[str]
    probes: np.ndarray
    values: np.ndarray


def read_pickle(raw: bytes) -> Betas:
    """Read the one block of a pickled DataFrame of numbers."""
    frame = _Restricted(io.BytesIO(raw)).load()
    content = frame.state["_data"].state[3]["0.14.1"]
    arrays, probes = content["axes"]
    (block,) = content["blocks"]
    values = block["values"].T
    if values.shape != SHAPE or len(probes) != SHAPE[0]:
        raise SystemExit(f"expected {SHAPE[0]} x {SHAPE[1]} values, got {values.shape}")
    return Betas([str(name) for name in arrays], np.asarray(probes, dtype=object), values)


def shipped_probes() -> set[str]:
    """Every feature of the weight tables and of the reference profile."""
    data = PACKAGE / "clocks" / "data"
    found: set[str] = set()
    for name in ("weights.parquet", "reference_450k.parquet"):
        found.update(map(str, pq.read_table(data / name, columns=["feature"]).column(0).to_pylist()))
    return found


def write_liver(betas: Betas, out: Path) -> int:
    """Write the shipped probes, sorted by name, one float32 column per array; return their number."""
    wanted = shipped_probes()
    keep = np.array([probe in wanted for probe in betas.probes])
    order = np.argsort(betas.probes[keep])
    probes, values = betas.probes[keep][order], betas.values[keep][order].astype(np.float32)
    columns = {"probe": pa.array(probes.tolist(), pa.string())}
    columns |= {name: pa.array(values[:, i]) for i, name in enumerate(betas.arrays)}
    about = {"source": f"{SOURCE}:{PICKLE}", "sdist_sha256": SDIST_SHA256, "accession": "GSE69852", "licence": "MIT"}
    pq.write_table(
        pa.table(columns).replace_schema_metadata(about),
        out / "liver_450k.parquet",
        compression="zstd",
        compression_level=19,
        use_dictionary=False,
        use_byte_stream_split=betas.arrays,
        store_schema=False,
    )
    return len(probes)


def fetch(folder: Path) -> Path:
    """Download the source archive with pip."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-d", str(folder), SOURCE]
    subprocess.run(command, check=True)
    return next(folder.glob("*.tar.gz"))


def build(sdist: Path, out: Path) -> None:
    """Check the archive and write data and licence."""
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    if digest != SDIST_SHA256:
        raise SystemExit(f"{sdist.name} has sha256 {digest}, expected {SDIST_SHA256}")
    with tarfile.open(sdist) as archive:
        raw, licence = (archive.extractfile(name) for name in (PICKLE, f"{FOLDER}/LICENSE"))
        if raw is None or licence is None:
            raise SystemExit(f"{sdist.name} lacks {PICKLE} or LICENSE")
        betas = read_pickle(raw.read())
        (out / "LICENSE-methylcheck.txt").write_bytes(licence.read())
    kept = write_liver(betas, out)
    file = out / "liver_450k.parquet"
    print(f"{file.name}: {kept} probes, {file.stat().st_size} bytes, {hashlib.sha256(file.read_bytes()).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sdist", type=Path, help=f"the source archive of {SOURCE}; fetched with pip by default")
    parser.add_argument("--out", type=Path, default=PACKAGE / "datasets" / "data", help="folder to write to")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        build(args.sdist or fetch(Path(folder)), args.out)


if __name__ == "__main__":
    main()
