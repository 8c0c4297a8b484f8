"""``fa.tl.score_clocks`` and ``fa.tl.plan_clocks``: fetch, call, store."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage import _adata
from falconage._errors import InputError
from falconage._keys import SCORES
from falconage.array._blocks import describe
from falconage.array._device import check_dtype, resolve
from falconage.clocks._catalog import by_id
from falconage.tl._plan import make_plan, plan_table, read_request
from falconage.tl._record import hash_array, hash_names
from falconage.tl._run import run_plan
from falconage.tl._samples import read_samples
from falconage.tl._store import store_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData

    from falconage.tl._plan import Plan, Request

__all__ = ["plan_clocks", "score_clocks"]

_MISSING = ("catalogue", "raise", "nan")
_ON_REFUSAL = ("raise", "warn")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        msg = f"{name}={value!r} is not known; expected {' or '.join(map(repr, allowed))}."
        raise InputError(msg)


def _reference(reference: Mapping[str, float] | pd.Series | None) -> pd.Series | None:
    """The user's own values for missing features, as a Series of fractions."""
    if reference is None:
        return None
    if not isinstance(reference, Mapping | pd.Series):
        msg = f"reference= is a {type(reference).__name__}; expected feature → beta, e.g. {{'cg00000029': 0.61}}."
        raise InputError(msg)
    series = pd.Series(reference)
    try:
        values = series.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        msg = "reference= holds values that are not numbers; expected feature → beta, e.g. {'cg00000029': 0.61}."
        raise InputError(msg) from error
    if series.index.has_duplicates or np.isinf(values).any():
        msg = "reference= holds a feature twice, or an infinite value; expected one finite beta a feature."
        raise InputError(msg)
    if ((values < 0.0) | (values > 1.0)).any():
        msg = (
            f"reference= runs from {np.nanmin(values):.4g} to {np.nanmax(values):.4g}; expected methylation fractions "
            "(beta) between 0 and 1. Divide percentages by 100."
        )
        raise InputError(msg)
    return pd.Series(values, index=series.index.astype(object))


def _as_dict(user: pd.Series | None) -> dict[str, float] | None:
    return None if user is None else dict(zip(user.index, user.to_numpy().tolist(), strict=True))


def score_clocks(
    data: AnnData,
    clocks: str | Sequence[str] | None = None,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    feature_key: str | None = None,
    modality: str | None = None,
    genome_build: str | None = None,
    age_key: str = "age",
    age_unit: str = "years",
    sex_key: str = "sex",
    sex_map: Mapping[Any, str] | None = None,
    species_key: str | None = None,
    species: str | None = None,
    tissue_key: str = "tissue",
    missing: str = "catalogue",
    min_coverage: float = 0.8,
    reference: Mapping[str, float] | pd.Series | None = None,
    device: str = "auto",
    dtype: str | None = None,
    batch_size: int | None = None,
    key_added: str = SCORES,
    to_obs: bool | None = None,
    on_refusal: str = "raise",
    progress: bool | None = None,
    copy: bool = False,
) -> AnnData | None:
    """Score ageing clocks on every sample, in one pass over the matrix.

    Parameters
    ----------
    data
        n_obs × n_vars, methylation fractions (beta, 0 to 1); NaN = not measured. NumPy in C or F order, CSR or CSC,
        any number type.
    clocks
        Names or aliases, wildcards (``"ying_*"``), groups (``"@age"``, ``"@mitotic"``) or ``"all"``. None = the core
        clocks that fit the species and the tissue; without a tissue, the multi-tissue and blood ones.
    layer, use_raw, feature_key
        Where the matrix is, and the column of ``var`` with the feature names where they are not the index.
    modality, genome_build
        Kind of data (found from the feature names), and the build of features that are positions, e.g. ``"mm10"``.
    age_key, age_unit, sex_key, sex_map
        Columns of ``obs``, read only where a clock needs them. Sex as words, or a boolean column ``female``; numbers
        need ``sex_map={0: "female", 1: "male"}``. Unknown gives NaN for that sample.
    species_key, species, tissue_key
        Column of ``obs`` or one name for all samples; without either the samples are taken as human.
    missing
        ``"catalogue"``: the policy of each clock. ``"raise"``: an error if anything is missing. ``"nan"``: NaN for
        each score that lacks a feature.
    min_coverage
        Smallest measured share of a clock's features, by count and by absolute weight (0 to 1).
    reference
        Feature → beta that stands in before any other value where a feature is missing.
    device, dtype
        ``"auto"`` or ``"cpu"``. Linear clocks are summed in float64 whatever ``dtype`` says.
    batch_size
        Rows a block; None = by size. The scores do not depend on it.
    key_added
        Key of the results; a second call with the same key adds or replaces clocks and keeps the others.
    to_obs
        Whether scores also become columns of ``obs``; None = those of clocks named one by one.
    on_refusal
        What happens when a clock that was named cannot be computed: ``"raise"`` or ``"warn"``. Clocks asked for by
        group or default are listed in the manifest instead.
    progress
        Show a bar; None = when standard error is a terminal and there is more than one block.
    copy
        Return a scored copy and leave ``data`` as it is.

    Returns
    -------
    None, or the copy. Sets the following fields:

    ``.obsm[key_added]``
        DataFrame, n_obs × n_scores, float64, one column a clock, each in the unit of the clock.
    ``.obsm[key_added + "_coverage"]``
        float32, same columns: measured share of the clock's features, the smaller of count and absolute weight.
    ``.obsm[key_added + "_missing_bound"]``
        float32, same columns, unit of the clock: the most that the unmeasured values can move the score.
    ``.uns["falconage"]["scores"][key_added]``
        The manifest, see :func:`falconage.get.manifest`.
    ``.obs[clock]``
        See ``to_obs``.

    Raises
    ------
    UnknownClockError, AmbiguousClockError
        A name is not in the catalogue; nothing has been computed.
    RefusedError
        A named clock cannot be computed on these data, or none can; the message has the reasons.
    InputError
        The object, an argument or the values cannot be used. Nothing is written in any of these cases.
    DeviceError
        The device is not there.

    Notes
    -----
    A linear clock is ``link(b + Σ w·x)``, summed in table order in one float64 accumulator, so that a score has the
    same bits for any batch size, column order, memory layout and company of other samples.

    Examples
    --------
    >>> import falconage as fa
    >>> adata = fa.datasets.toy()
    >>> fa.tl.score_clocks(adata, ["horvath2013", "hannum"])
    >>> list(adata.obsm["clock_scores"].columns)
    ['horvath2013', 'hannum']
    """
    adata = _adata.check_object(data, "score_clocks")
    _one_of("missing", missing, _MISSING)
    _one_of("on_refusal", on_refusal, _ON_REFUSAL)
    request = read_request(clocks)
    chosen, _ = resolve(device), check_dtype(dtype)
    if batch_size is not None and (not isinstance(batch_size, Integral) or batch_size < 1):
        msg = f"batch_size={batch_size!r}; expected a positive number of rows, or None."
        raise InputError(msg)
    if not isinstance(key_added, str) or not key_added or "/" in key_added:
        msg = f"key_added={key_added!r}; expected a name without '/', e.g. key_added='clock_scores'."
        raise InputError(msg)
    adata = adata.copy() if copy else adata
    user = _reference(reference)
    plan, source = _plan(
        adata,
        request=request,
        where={"layer": layer, "use_raw": use_raw, "feature_key": feature_key},
        obs={"age_key": age_key, "age_unit": age_unit, "sex_key": sex_key, "sex_map": sex_map, "species": species,
             "species_key": species_key, "genome_build": genome_build, "tissue_key": tissue_key},
        rules={"modality": modality, "genome_build": genome_build, "min_coverage": min_coverage, "user": _as_dict(user),
               "on_refusal": on_refusal},
    )  # fmt: skip
    imputed = _adata.imputed_cells(adata, source.x.shape)
    result = run_plan(
        plan,
        source,
        adata.obs_names,
        missing=missing,
        imputed=imputed,
        batch_size=batch_size or 0,
        progress=progress,
    )
    params = {
        "clocks": list(request.ids), "layer": layer or "", "use_raw": use_raw, "feature_key": feature_key or "",
        "modality": plan.modality, "genome_build": genome_build or "", "age_key": age_key, "age_unit": age_unit,
        "sex_key": sex_key, "species": species or "", "species_key": species_key or "", "tissue_key": tissue_key,
        "sex_map": "" if sex_map is None else repr(dict(sex_map)), "missing": missing, "min_coverage": min_coverage,
        "reference_sha256": "" if user is None else hash_array(user.to_numpy()) + ":" + hash_names(user.index),
    }  # fmt: skip
    described = {
        "n_obs": adata.n_obs, "n_vars": int(source.x.shape[1]), "dtype": str(source.x.dtype),
        "matrix": describe(source.x), "where": source.where, "layer": layer or "",
        "obs_names_sha256": hash_names(adata.obs_names), "var_names_sha256": hash_names(source.names),
        "imputed_cells": 0 if imputed is None else int(imputed.nnz),
    }  # fmt: skip
    store_scores(
        adata, plan, result, chosen, params=params, described=described, key=key_added, to_obs=to_obs, stacklevel=2
    )
    return adata if copy else None


def _plan(
    adata: AnnData,
    *,
    request: Request,
    where: Mapping[str, Any],
    obs: Mapping[str, Any],
    rules: Mapping[str, Any],
) -> tuple[Plan, _adata.Source]:
    min_coverage = rules["min_coverage"]
    if not isinstance(min_coverage, int | float | np.number) or not 0.0 <= min_coverage <= 1.0:
        msg = f"min_coverage={min_coverage!r}; expected a share between 0 and 1, e.g. min_coverage=0.8."
        raise InputError(msg)
    source = _adata.read_matrix(adata, **where)
    needs_sex = any("female" in by_id()[i].covariates for i in request.ids)
    samples = read_samples(adata, **obs, needs_sex=needs_sex)
    raw = None if adata.raw is None or where["use_raw"] else adata.raw.var_names
    return make_plan(source, adata.obs_names, samples, request, raw_names=raw, **rules), source


def plan_clocks(
    data: AnnData,
    clocks: str | Sequence[str] | None = None,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    feature_key: str | None = None,
    modality: str | None = None,
    genome_build: str | None = None,
    age_key: str = "age",
    age_unit: str = "years",
    sex_key: str = "sex",
    sex_map: Mapping[Any, str] | None = None,
    species_key: str | None = None,
    species: str | None = None,
    tissue_key: str = "tissue",
    min_coverage: float = 0.8,
    reference: Mapping[str, float] | pd.Series | None = None,
) -> pd.DataFrame:
    """Show what :func:`score_clocks` would do with the same arguments, without computing a score.

    Returns
    -------
    DataFrame, one row a clock asked for: ``decision`` (``"run"`` or ``"refuse"``), ``coverage`` (share of features in
    the data, 0 to 1), ``floor``, ``unit``, ``group``, ``species``, ``tissue``, ``licence``, ``reason``.

    Raises
    ------
    UnknownClockError, AmbiguousClockError, InputError
        As :func:`score_clocks`; refusals are shown, not raised.

    Examples
    --------
    >>> import falconage as fa
    >>> fa.tl.plan_clocks(fa.datasets.toy(), ["hannum", "grimage2"])["decision"].to_dict()
    {'hannum': 'run', 'grimage2': 'refuse'}
    """
    adata = _adata.check_object(data, "plan_clocks")
    plan, _ = _plan(
        adata,
        request=read_request(clocks),
        where={"layer": layer, "use_raw": use_raw, "feature_key": feature_key},
        obs={"age_key": age_key, "age_unit": age_unit, "sex_key": sex_key, "sex_map": sex_map, "species": species,
             "species_key": species_key, "genome_build": genome_build, "tissue_key": tissue_key},
        rules={"modality": modality, "genome_build": genome_build, "min_coverage": min_coverage,
               "user": _as_dict(_reference(reference)), "on_refusal": "show"},
    )  # fmt: skip
    return plan_table(plan)
