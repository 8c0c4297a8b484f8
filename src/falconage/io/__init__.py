"""Reading methylation tables into AnnData."""

from falconage.io._frame import from_dataframe
from falconage.io._read import read_betas

__all__ = ["from_dataframe", "read_betas"]
