"""Three adult and three fetal livers on the 450K array."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["liver_450k"]

_SAMPLES = pd.DataFrame(
    {
        "geo_accession": [f"GSM17113{i}" for i in range(60, 66)],
        "array_position": [
            "9247377093_R02C01",
            "9247377093_R03C01",
            "9247377093_R06C02",
            "9247377085_R04C02",
            "9247377093_R05C01",
            "9247377093_R02C02",
        ],
        "stage": pd.Categorical(["adult"] * 3 + ["fetal"] * 3),
        "tissue": pd.Categorical(["liver"] * 6),
        "gestational_weeks": pd.Categorical([np.nan] * 3 + ["20–22"] * 3),
    },
    index=["adult_1", "adult_2", "adult_3", "fetal_1", "fetal_2", "fetal_3"],
)


def liver_450k() -> AnnData:
    """Load methylation of three adult and three fetal human livers (GEO series GSE69852).

    Illumina 450K β-values as the methylcheck 0.8.5 source archive distributes them, stored as float32 and
    reduced from 485,512 probes to those that a shipped clock uses or the 450K reference profile lists.

    Known: the developmental stage, and that the fetuses were of 20–22 weeks of gestation (a range; the
    age of each is not given). **Not known: the ages of the adults, and everybody's sex.** The values have no gap.

    Returns
    -------
    6 samples × 49,206 probes, β (0–1), float32. ``obs``: ``geo_accession``, ``array_position``, ``stage``
    (adult, fetal), ``tissue`` (liver), ``gestational_weeks`` (text, missing for adults).

    Notes
    -----
    GEO data are public. The copy in methylcheck (FOXO Technologies) is under the MIT licence; its text lies beside
    the data.

    Examples
    --------
    >>> import falconage as fa
    >>> fa.datasets.liver_450k().obs["stage"].value_counts().to_dict()
    {'adult': 3, 'fetal': 3}
    """
    from anndata import AnnData

    with as_file(files("falconage.datasets") / "data" / "liver_450k.parquet") as path:
        table = pd.read_parquet(path)
    values = table[list(_SAMPLES["array_position"])].to_numpy(dtype=np.float32)
    return AnnData(
        np.array(values.T, order="C"), obs=_SAMPLES.copy(), var=pd.DataFrame(index=pd.Index(table["probe"].tolist()))
    )
