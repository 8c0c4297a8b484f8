"""Writing .h5ad so that a full disk is an error and nothing worse."""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

__all__ = ["write_h5ad"]


class _Guarded(io.FileIO):
    """A file that raises its first error, and takes every later write for done.

    HDF5 cannot close a file whose writes go on failing: it complains at exit and may crash the process.
    """

    failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while self.failure is None and done < len(view):
            try:
                done += super().write(view[done:]) or 0
            except OSError as error:
                self.failure = error
                raise
        return len(view)

    def truncate(self, size: int | None = None, /) -> int:
        return super().truncate(size) if self.failure is None else size or 0


def write_h5ad(adata: AnnData, path: Path) -> None:
    """Write an AnnData as :meth:`anndata.AnnData.write_h5ad` does.

    Raises
    ------
    OSError
        The first write that failed.
    """
    from anndata.io import write_elem

    h5py: Any = import_module("h5py")

    adata.strings_to_categoricals()
    with _Guarded(path, "w+") as file:
        try:
            with h5py.File(file, "w") as root:
                write_elem(root, "/", adata)
        except (OSError, RuntimeError):
            # HDF5 words the error of a write in many ways; the file knows the reason.
            if file.failure is None:
                raise
        if file.failure is not None:
            raise file.failure
