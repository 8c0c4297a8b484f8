"""biolearn's own models and weights: ``model.predict`` for each clock on a features × samples DataFrame.

``bare`` takes the models without imputation, which is the least that biolearn can do; ``default`` as the gallery
gives them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from _cases import matrix, sample_names
from _common import versions
from _workers import serve

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = {
    "horvath2013": "Horvathv1",
    "hannum": "Hannum",
    "dnamphenoage": "PhenoAge",
    "skinandblood": "Horvathv2",
    "lin": "Lin",
    "dnamtl": "DNAmTL",
    "ying_causage": "YingCausAge",
    "stocz": "StocZ",
}


def _load(job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    from biolearn.data_library import GeoData
    from biolearn.model_gallery import ModelGallery

    names = sample_names(job)
    x = matrix(job)
    gallery = ModelGallery()

    def predict(imputation: str | None) -> Callable[[], Callable[[], dict[str, Any]]]:
        models = {clock: gallery.get(_NAMES[clock], imputation_method=imputation) for clock in job["clocks"]}

        def prepare() -> Callable[[], dict[str, Any]]:
            frame = pd.DataFrame(x.T.copy(), index=job["columns"], columns=names)
            data = GeoData(pd.DataFrame(index=names), dnam=frame)

            def run() -> dict[str, Any]:
                return {clock: model.predict(data)["Predicted"].to_numpy() for clock, model in models.items()}

            return run

        return prepare

    tasks = {"biolearn_bare": predict("none"), "biolearn_default": predict(None)}
    how = "model.predict of the installed package with its own weights, on a fresh DataFrame a run"
    return tasks, {"versions": versions(("biolearn", "numpy", "pandas")), "how": how}


if __name__ == "__main__":
    serve(_load)
