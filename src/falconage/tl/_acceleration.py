"""How much older or younger a score is than the age says: difference or residual."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal
from warnings import warn

import numpy as np
import pandas as pd
from anndata import AnnData

from falconage import _adata
from falconage._errors import CovariateWarning, FalconageWarning, InputError
from falconage._keys import ROOT, SCORES
from falconage._sanitise import sanitise
from falconage.clocks._scales import get_scale
from falconage.tl import _expected
from falconage.tl._gate import choose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from falconage.tl._gate import Choice

__all__ = ["acceleration"]

_ROOM = "acceleration"


def acceleration(
    adata: AnnData,
    *,
    kind: Literal["difference", "residual"] = "difference",
    clocks: str | Sequence[str] | None = None,
    key: str = SCORES,
    age_key: str = "age",
    age_unit: str = "years",
    gestational_key: str = "gestational_age",
    fit_on: str | ArrayLike | None = None,
    covariates: str | Sequence[str] | None = None,
    reuse: AnnData | None = None,
    key_added: str | None = None,
    copy: bool = False,
) -> AnnData | None:
    r"""Compare scores with age: the plain difference, or the residual of a regression.

    ``"difference"`` is :math:`s - a`, with age :math:`a` in the clock's unit. ``"residual"`` is
    :math:`s - (b_0 + b_1 a + \sum_j b_j c_j)`, with coefficients from ordinary least squares of the score on age (in
    years) and covariates :math:`c`. Not every score allows both (:func:`falconage.clocks.scales`): a pace or a hazard
    has no difference from age. Gestational clocks are compared with gestational age only.

    Parameters
    ----------
    adata
        An object that :func:`falconage.tl.score_clocks` scored.
    kind
        ``"difference"`` or ``"residual"``.
    clocks
        Columns of the scores, by id or any other name that the catalogue knows; None takes all that allow ``kind``
        and names the others in one warning.
    key
        The ``key_added`` of the scores.
    age_key, age_unit
        Column of ``obs`` with the age, and its unit: years, months, weeks, days or hours.
    gestational_key
        Column of ``obs`` with the gestational age in weeks, for gestational clocks.
    fit_on
        Rows the regression is fitted on: a boolean column of ``obs`` or a boolean array (n_obs). None = all.
        All rows get a residual. Missing in the column means no.
    covariates
        Columns of ``obs``: numbers, or categories (one coefficient for each level but the first). One that is
        constant on the fitted rows is left out of the fit, with a note.
    reuse
        An object that holds the residuals of an earlier call under the same ``key_added``: its frozen
        coefficients are applied and nothing is fitted.
    key_added
        Where the result goes; ``f"{key}_acceleration"`` by default. A second call with the same key replaces it;
        what something else put there stays, and the call is refused.
    copy
        Return a copy with the result instead of changing ``adata``.

    Returns
    -------
    None, or the copy. Sets the following fields:

    ``adata.obsm[key_added]``
        DataFrame, n_obs × clocks, in each clock's unit; NaN where score, age or a covariate is missing, or a
        covariate has a value that the fit never saw.
    ``adata.uns["falconage"]["acceleration"][key_added]``
        ``kind``, ``clocks`` (formula, unit, ``n_fit``, ``n_missing``, note), ``coefficients``, ``left_out``.

    Raises
    ------
    UnknownClockError, AmbiguousClockError
        A name in ``clocks`` is neither a column nor in the catalogue.
    RefusedError
        A clock that was named, or every clock, does not allow ``kind``.
    InputError
        No ages, too few samples for the fit, a constant age, or an argument that does not fit the object.

    Warns
    -----
    FalconageWarning
        Clocks were left out because they do not allow ``kind`` or could not be fitted.
    CovariateWarning
        Samples have a score and no result, because age or a covariate is missing or was not seen in the fit.

    Examples
    --------
    >>> import falconage as fa
    >>> adata = fa.datasets.toy()
    >>> fa.tl.score_clocks(adata, "hannum")
    >>> fa.tl.acceleration(adata)
    >>> list(adata.obsm["clock_scores_acceleration"].columns)
    ['hannum']
    """
    _check(adata, kind, fit_on=fit_on, covariates=covariates, reuse=reuse)
    target = f"{key}_acceleration" if key_added is None else key_added
    _adata.check_key(adata, target, _ROOM)
    choice = choose(adata, kind, key, clocks, gestational_key=gestational_key)
    scales = choice.facts["scale"]
    ages = _expected.read_ages(adata, scales, age_key=age_key, age_unit=age_unit, gestational_key=gestational_key)
    names = [covariates] if isinstance(covariates, str) else list(covariates or ())
    if kind == "difference":
        expected = _expected.by_difference(scales, ages, adata.obs_names)
    elif reuse is not None:
        table = _stored(reuse, target, choice)
        names = list(dict.fromkeys(table.loc[table["kind"].isin(["numeric", "level", "constant"]), "term"]))
        terms = _expected.read_covariates(adata, names, age_key)
        expected = _expected.by_coefficients(table, scales, ages, terms, adata.obs_names)
    else:
        terms = _expected.read_covariates(adata, names, age_key)
        expected, failed = _expected.by_fit(choice.scores, scales, ages, terms, _rows(adata, fit_on))
        _report_failed(failed, choice, named=clocks is not None)
    result = choice.scores[list(expected.values.columns)] - expected.values
    params = {"kind": kind, "scores_key": key, "age_key": age_key, "age_unit": age_unit, "covariates": names}
    params["fit_on"] = _described(fit_on, reuse)
    record = _record(params, choice, expected, result)
    _warn(choice, record["clocks"], adata.n_obs, kind)
    out = adata.copy() if copy else adata
    _adata.actualise(out)
    _adata.store(out, obsm={target: result}, obs={}, room_name=_ROOM, key=target, record=record)
    return out if copy else None


def _check(adata: object, kind: str, **residual_only: object) -> None:
    if not isinstance(adata, AnnData) or (adata.isbacked and adata.is_view):
        _adata.check_object(adata, "fa.tl.acceleration")
    if kind not in ("difference", "residual"):
        msg = f"kind={kind!r}; expected 'difference' (score − age) or 'residual' (of a regression on age)."
        raise InputError(msg)
    given = [name for name, value in residual_only.items() if value is not None]
    if kind == "difference" and given:
        msg = f"{' and '.join(given)} belong to a regression, and kind is 'difference'. Type kind='residual'."
        raise InputError(msg)
    if residual_only["reuse"] is not None and len(given) > 1:
        msg = f"reuse applies frozen coefficients, so {' and '.join(given[:-1])} cannot be given with it. Drop one."
        raise InputError(msg)


def _rows(adata: AnnData, fit_on: str | ArrayLike | None) -> NDArray[np.bool_]:
    """Read fit_on as one boolean for each sample."""
    if fit_on is None:
        return np.ones(adata.n_obs, dtype=bool)
    if isinstance(fit_on, str):
        if fit_on not in adata.obs.columns:
            msg = f"fit_on={fit_on!r} is not a column of obs. Columns: {list(map(str, adata.obs.columns))}."
            raise InputError(msg)
        column = adata.obs[fit_on].astype(object)
    else:
        column = pd.Series(np.asarray(fit_on), dtype=object)
    known = column.dropna()
    if len(column) != adata.n_obs or not known.map(lambda value: isinstance(value, (bool, np.bool_))).all():
        what = f"obs[{fit_on!r}]" if isinstance(fit_on, str) else "fit_on"
        msg = (
            f"{what} must be {adata.n_obs} booleans, got {len(column)} values such as {column.iloc[:1].tolist()}. "
            "Type for example fit_on=adata.obs['group'] == 'control'."
        )
        raise InputError(msg)
    return column.where(column.notna(), other=False).to_numpy(bool)


def _stored(reuse: AnnData, target: str, choice: Choice) -> pd.DataFrame:
    """Frozen coefficients of the chosen clocks; the weights of the clocks must be the same."""
    rooms = reuse.uns.get(ROOT, {}).get(_ROOM, {})
    record = rooms.get(target, {})
    if record.get("kind") != "residual":
        there = [name for name, one in rooms.items() if one.get("kind") == "residual"]
        msg = (
            f"reuse holds no residuals under {target!r}; it has {', '.join(map(repr, there)) or 'none'}. "
            "Type key_added= with one of them, or run fa.tl.acceleration(reference, kind='residual') first."
        )
        raise InputError(msg)
    table, then = record["coefficients"], record["clocks"]
    lacking = [clock for clock in choice.facts.index if clock not in then.index]
    changed = [
        clock
        for clock in choice.facts.index.difference(lacking)
        if then.loc[clock, "weights_sha256"] != choice.facts.loc[clock, "weights_sha256"]
    ]
    if lacking or changed:
        why = f"has no coefficients of {lacking}" if lacking else f"was scored with other weights of {changed}"
        msg = f"reuse {why}. Type clocks= with {[c for c in then.index if c not in changed]}, or fit them."
        raise InputError(msg)
    chosen: pd.DataFrame = table[table["clock"].isin(choice.facts.index)]
    return chosen


def _report_failed(failed: Mapping[str, str], choice: Choice, *, named: bool) -> None:
    """Raise where a clock that was named cannot be fitted, or no clock can; else leave it out."""
    if failed and (named or len(failed) == choice.scores.shape[1]):
        clock, reason = next(iter(failed.items()))
        msg = f"{clock}: {reason}"
        raise InputError(msg)
    choice.left_out.update(failed)


def _described(fit_on: str | ArrayLike | None, reuse: AnnData | None) -> str:
    if reuse is not None:
        return "coefficients of another object"
    if fit_on is None:
        return "all samples"
    return f"obs[{fit_on!r}]" if isinstance(fit_on, str) else "an array"


def _record(
    params: Mapping[str, Any], choice: Choice, expected: _expected.Expected, result: pd.DataFrame
) -> dict[str, Any]:
    index = pd.Index(list(result.columns), name="clock", dtype=object)
    facts = choice.facts.loc[index]
    lost = choice.scores[list(index)].notna() & result.isna()
    clocks = pd.DataFrame(
        {
            "formula": [expected.formula[c] for c in index],
            "unit": facts["unit"].to_numpy(object),
            "scale": facts["scale"].to_numpy(object),
            "n_fit": [expected.n_fit[c] for c in index],
            "n_result": result.notna().sum().to_numpy(),
            "n_missing": result.isna().sum().to_numpy(),
            "n_without_age_or_covariate": lost.sum().to_numpy(),
            "note": [_note(str(facts.loc[c, "scale"]), expected.note.get(c, "")) for c in index],
            "weights_sha256": facts["weights_sha256"].to_numpy(object),
        },
        index=index,
    )
    left_out = pd.DataFrame(
        {"reason": list(choice.left_out.values())},
        index=pd.Index(list(choice.left_out), name="clock", dtype=object),
        dtype=object,
    )
    record = {
        **params,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "clocks": clocks,
        "coefficients": expected.coefficients.reset_index(drop=True),
        "left_out": left_out,
    }
    return dict(sanitise(record, name="the record of the acceleration"))


def _note(scale: str, of_fit: str) -> str:
    """What to remember of the scale when reading the result, and what the fit has to say."""
    return "; ".join(part for part in (get_scale(scale).special, of_fit) if part)


def _warn(choice: Choice, clocks: pd.DataFrame, n_obs: int, kind: str) -> None:
    if choice.left_out:
        clock, reason = next(iter(choice.left_out.items()))
        more = f" (and {len(choice.left_out) - 1} more)" if len(choice.left_out) > 1 else ""
        msg = f"No {kind} for {clock}: {reason}{more}. All reasons are in the record under 'left_out'."
        warn(msg, FalconageWarning, stacklevel=3)
    most = int(clocks["n_without_age_or_covariate"].max())
    if most:
        msg = f"{most} of {n_obs} samples have a score and no {kind}: age or a covariate is missing or new to the fit."
        warn(msg, CovariateWarning, stacklevel=3)
