"""Predicted against chronological age."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from falconage import _scored
from falconage._errors import InputError, RefusedError
from falconage._keys import SCORES
from falconage.pl._colour import colour_points
from falconage.tl._expected import AGE_UNITS, read_ages

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["age"]

_BOX, _PAD = 3.4, 0.06
"""Inches: the side of the square, and the air around everything."""
_LABEL = 44
_MANY = 5000


class _Points(NamedTuple):
    """Samples with both ages, in the clock's unit; ``rows`` are their positions in the object."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    rows: NDArray[np.intp]
    unit: str
    name: str


def age(
    adata: AnnData,
    *,
    clock: str = "horvath2013",
    age_key: str = "age",
    age_unit: str = "years",
    color: str | None = None,
    key: str = SCORES,
    ax: Axes | None = None,
    show: bool | None = None,
) -> Axes:
    """Plot the age a clock predicts against the chronological age.

    The line is identity, not a fit. In the corner: the mean absolute error (MAE) in the clock's unit, Pearson's r,
    and the number of samples that have both ages. Chronological ages are converted to the clock's unit.

    Parameters
    ----------
    adata
        An object that :func:`falconage.tl.score_clocks` scored.
    clock
        A column of the scores whose scale is an age, by id or any other name that the catalogue knows.
    age_key, age_unit
        Column of ``obs`` with the chronological age, and its unit: years, months, weeks, days or hours.
    color
        Column of ``obs`` to colour by: categories (``uns[f"{color}_colors"]`` is used where it is there) or
        numbers.
    key
        The ``key_added`` of the scores.
    ax
        Where to draw; a new figure by default.
    show
        True calls ``matplotlib.pyplot.show``.

    Returns
    -------
    The axes.

    Raises
    ------
    UnknownClockError, AmbiguousClockError
        ``clock`` is neither a column nor in the catalogue.
    RefusedError
        The clock does not predict an age.
    InputError
        No such scores, ages or column, or no sample has both ages.
    ImportError
        Matplotlib is not installed.

    Examples
    --------
    >>> import falconage as fa
    >>> adata = fa.datasets.toy()
    >>> fa.tl.score_clocks(adata, "horvath2013")
    >>> ax = fa.pl.age(adata)
    >>> ax.get_xlabel()
    'Chronological age (years)'
    """
    plt = _pyplot()
    points = _points(adata, clock, age_key, age_unit, key)
    own = None
    if ax is None:
        own = plt.figure(figsize=(_BOX + 1, _BOX + 1), layout="none")
        ax = own.add_subplot()
    _identity(ax, points)
    look = {"s": 26, "alpha": 0.85, "linewidths": 0.4, "edgecolors": "white", "zorder": 3}
    if len(points.x) > _MANY:
        look = {"s": 4, "alpha": 0.4, "linewidths": 0, "rasterized": True, "zorder": 3}
    colour_points(ax, points.x, points.y, adata, color, points.rows, look)
    _statistics(ax, points)
    ax.set_xlabel(f"Chronological age ({points.unit})")
    ax.set_ylabel(textwrap.fill(f"{points.name} ({points.unit})", _LABEL))
    ax.spines[["top", "right"]].set_visible(False)
    if own is not None:
        _fit(own, ax)
    if show:
        plt.show()
    return ax


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        msg = 'Plots need matplotlib. Type pip install "falconage[plot]".'
        raise ImportError(msg) from error
    return plt


def _fit(figure: Figure, ax: Axes) -> None:
    """Make the figure as large as labels and legend need, so that it is saved whole and the square keeps its size."""
    figure.draw_without_rendering()
    around, square = ax.get_tightbbox(), ax.get_window_extent()
    if around is not None:
        width, height = np.subtract(around.size, square.size) / figure.dpi + _BOX + 2 * _PAD
        figure.set_size_inches(width, height)
    figure.set_layout_engine("constrained", w_pad=_PAD, h_pad=_PAD)


def _points(adata: AnnData, clock: str, age_key: str, age_unit: str, key: str) -> _Points:
    if not isinstance(clock, str):
        msg = f"clock={clock!r}; expected the name of one clock, as in clock='horvath2013'."
        raise InputError(msg)
    scores, known = _scored.scores(adata, key), _scored.record(adata, key)["clocks"]
    found = _scored.names(adata, key, clock)
    if len(found) > 1:
        msg = f"clock={clock!r} stands for {len(found)} clocks; expected one of {', '.join(found)}."
        raise InputError(msg)
    clock = found[0]
    facts = known.loc[[clock]]
    scale = str(facts["scale"].iloc[0])
    if scale not in AGE_UNITS:
        reason = f"its scale is {scale}, not an age since birth; clocks with one: {_with_age(known) or 'none here'}"
        msg = f"No plot of predicted against chronological age for {clock}: {reason}."
        raise RefusedError(msg, {clock: reason})
    ages = read_ages(adata, facts["scale"], age_key=age_key, age_unit=age_unit)
    x = ages.in_unit(scale)
    y = scores[clock].to_numpy(np.float64)
    rows = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if not len(rows):
        msg = f"No sample has both a score of {clock} and an age in obs[{age_key!r}], so there is nothing to plot."
        raise InputError(msg)
    return _Points(x[rows], y[rows], rows, AGE_UNITS[scale], str(facts["name"].iloc[0]))


def _with_age(known: pd.DataFrame) -> str:
    return ", ".join(known.index[known["scale"].isin(list(AGE_UNITS))])


def _identity(ax: Axes, points: _Points) -> None:
    """Draw y = x over limits that both axes share."""
    low = min(points.x.min(), points.y.min())
    high = max(points.x.max(), points.y.max())
    margin = 0.05 * (high - low) or 1.0
    limits = (low - margin, high + margin)
    ax.axline((0, 0), slope=1, color="0.55", linewidth=1, linestyle=(0, (4, 3)), zorder=1, label="_identity")
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.set_yticks(ticks := [t for t in ax.get_xticks() if limits[0] <= t <= limits[1]])
    ax.set_xticks(ticks)


def _statistics(ax: Axes, points: _Points) -> None:
    error = np.abs(points.y - points.x).mean()
    varied = len(points.x) > 2 and np.ptp(points.x) > 0 and np.ptp(points.y) > 0
    r = f"{np.corrcoef(points.x, points.y)[0, 1]:.3f}" if varied else "–"
    text = f"MAE {error:.1f} {points.unit}\nr = {r}\nn = {len(points.x):,}"
    ax.text(0.04, 0.96, text, transform=ax.transAxes, va="top", ha="left", linespacing=1.4, zorder=4)
