"""pyaging's own ``predict_age`` on its own model classes, fed with the same weights from local files.

Only the download is replaced, by a path; everything else is the installed package. ``cached`` keeps the prepared
models in a ``ClockCache``, ``plain`` is the default call.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anndata as ad
import pandas as pd
from _cases import matrix, sample_names
from _common import versions
from _workers import serve

if TYPE_CHECKING:
    from collections.abc import Callable

_CLASSES = {
    "horvath2013": "Horvath2013",
    "hannum": "Hannum",
    "dnamphenoage": "DNAmPhenoAge",
    "skinandblood": "SkinAndBlood",
    "lin": "Lin",
    "dnamtl": "DNAmTL",
    "ying_causage": "YingCausAge",
    "stocz": "StocZ",
}


def _save_model(given: dict[str, Any], folder: Path) -> None:
    import torch
    from pyaging import models
    from pyaging.models._base_models import LinearModel

    model = getattr(models, _CLASSES[given["clock"]])()
    model.metadata.update(clock_name=given["clock"], data_type="methylation", species="Homo sapiens")
    model.features = given["features"]
    model.base_model = LinearModel(len(given["features"])).to(torch.float64)
    with torch.no_grad():
        model.base_model.linear.weight[:] = torch.tensor(given["weights"], dtype=torch.float64)
        model.base_model.linear.bias[:] = given["intercept"]
    torch.save(model, folder / f"{given['clock']}.pt")


def _load(job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    import pyaging
    import torch
    from pyaging.predict import _pred_utils

    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp(dir=job["folder"]))
    for given in job["weights"]:
        _save_model(given, folder)
    _pred_utils.download_clock_weights = lambda name, *_args, **_more: str(folder / f"{name}.pt")
    x = matrix(job)
    obs, var = pd.DataFrame(index=sample_names(job)), pd.DataFrame(index=pd.Index(job["columns"]))
    cache = pyaging.pred.ClockCache(maxsize=len(job["clocks"]))

    def predict(clock_cache: Any) -> Callable[[], Callable[[], dict[str, Any]]]:
        def prepare() -> Callable[[], dict[str, Any]]:
            adata = ad.AnnData(x, obs=obs.copy(), var=var)

            def run() -> dict[str, Any]:
                pyaging.pred.predict_age(adata, job["clocks"], verbose=False, clock_cache=clock_cache)
                return {name: adata.obs[name].to_numpy() for name in job["clocks"]}

            return run

        return prepare

    tasks = {"pyaging_cached": predict(cache), "pyaging_plain": predict(None)}
    how = "predict_age of the installed package; weights from local .pt files in place of the download"
    return tasks, {"versions": versions(("pyaging", "torch", "numpy", "pandas", "anndata")), "how": how}


if __name__ == "__main__":
    serve(_load)
