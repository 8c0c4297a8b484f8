"""``fa.tl.score_clocks`` and ``fa.tl.plan_clocks``: fetch, call, store."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from falconage import _adata
from falconage._errors import InputError
from falconage._keys import SCORES
from falconage.array._blocks import describe
from falconage.array._device import check_dtype, resolve
from falconage.clocks._catalog import by_id
from falconage.tl._arguments import Arguments, one_of, read_reference
from falconage.tl._plan import make_plan, plan_table, read_request
from falconage.tl._record import hash_names
from falconage.tl._run import run_plan
from falconage.tl._samples import read_samples
from falconage.tl._store import store_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from anndata import AnnData

    from falconage.tl._plan import Plan

__all__ = ["plan_clocks", "score_clocks"]

_MISSING = ("catalogue", "raise", "nan")
_ON_REFUSAL = ("raise", "warn")


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
        any number type. What a sparse matrix does not store is a measured 0: store missing values as NaN.
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
        Column of ``obs`` or one name for all samples; without either ``obs["species"]`` where there is one. Species
        not stated means human for human clocks; clocks of other species are refused.
    missing
        ``"catalogue"``: the policy of each clock. ``"raise"``: an error if anything is missing. ``"nan"``: NaN for
        each score that lacks a feature. Cells that an imputation filled do not count as missing here.
    min_coverage
        Smallest measured share of a clock's features, by count and by absolute weight (0 to 1). A higher floor that
        the authors set stays in force.
    reference
        Feature → beta that stands in before any other value where a feature is missing. Means and divisions leave
        missing features out instead.
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
    one_of("missing", missing, _MISSING)
    one_of("on_refusal", on_refusal, _ON_REFUSAL)
    if batch_size is not None and (not isinstance(batch_size, Integral) or batch_size < 1):
        msg = f"batch_size={batch_size!r}; expected a positive number of rows, or None."
        raise InputError(msg)
    _adata.check_key(adata, key_added, "scores")
    arguments = Arguments(
        request=read_request(clocks),
        layer=layer,
        use_raw=use_raw,
        feature_key=feature_key,
        modality=modality,
        genome_build=genome_build,
        age_key=age_key,
        age_unit=age_unit,
        sex_key=sex_key,
        sex_map=sex_map,
        species_key=species_key,
        species=species,
        tissue_key=tissue_key,
        min_coverage=min_coverage,
        reference=read_reference(reference),
        on_refusal=on_refusal,
    )
    chosen, _ = resolve(device), check_dtype(dtype)
    adata = adata.copy() if copy else adata
    plan, source = _plan(adata, arguments)
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
    params = {**arguments.record(), "modality": plan.modality, "missing": missing}
    described = _describe(adata, source, layer, 0 if imputed is None else int(imputed.nnz))
    store_scores(
        adata, plan, result, chosen, params=params, described=described, key=key_added, to_obs=to_obs, stacklevel=2
    )
    return adata if copy else None


def _plan(adata: AnnData, arguments: Arguments) -> tuple[Plan, _adata.Source]:
    source = _adata.read_matrix(
        adata, layer=arguments.layer, use_raw=arguments.use_raw, feature_key=arguments.feature_key
    )
    samples = read_samples(
        adata,
        age_key=arguments.age_key,
        age_unit=arguments.age_unit,
        sex_key=arguments.sex_key,
        sex_map=arguments.sex_map,
        species=arguments.species,
        species_key=arguments.species_key,
        genome_build=arguments.genome_build,
        tissue_key=arguments.tissue_key,
        needs_sex=any("female" in by_id()[i].covariates for i in arguments.request.ids),
    )
    plan = make_plan(
        source,
        adata.obs_names,
        samples,
        arguments.request,
        modality=arguments.modality,
        genome_build=arguments.genome_build,
        min_coverage=arguments.min_coverage,
        user=arguments.user,
        on_refusal=arguments.on_refusal,
        raw_names=None if adata.raw is None or arguments.use_raw else adata.raw.var_names,
    )
    return plan, source


def _describe(adata: AnnData, source: _adata.Source, layer: str | None, n_imputed: int) -> dict[str, Any]:
    """What was read, for the manifest."""
    return {
        "n_obs": adata.n_obs,
        "n_vars": int(source.x.shape[1]),
        "dtype": str(source.x.dtype),
        "matrix": describe(source.x),
        "where": source.where,
        "layer": layer or "",
        "obs_names_sha256": hash_names(adata.obs_names),
        "var_names_sha256": hash_names(source.names),
        "imputed_cells": n_imputed,
    }


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

    Parameters
    ----------
    data
        As in :func:`score_clocks`, like every other argument; no value of the matrix is read.
    clocks
        Names, wildcards or groups; None = the core clocks.

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
    arguments = Arguments(
        request=read_request(clocks),
        layer=layer,
        use_raw=use_raw,
        feature_key=feature_key,
        modality=modality,
        genome_build=genome_build,
        age_key=age_key,
        age_unit=age_unit,
        sex_key=sex_key,
        sex_map=sex_map,
        species_key=species_key,
        species=species,
        tissue_key=tissue_key,
        min_coverage=min_coverage,
        reference=read_reference(reference),
        on_refusal="show",
    )
    return plan_table(_plan(adata, arguments)[0])
