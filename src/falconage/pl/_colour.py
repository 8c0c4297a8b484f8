"""Colour points by a column of obs, in colours that colour-blind readers can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from falconage._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anndata import AnnData
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["OKABE_ITO", "colour_points"]

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
"""Eight colours of Okabe and Ito (2008), blue and orange first."""

_MISSING = "0.75"
_MOST_LEGEND = 30
_ROWS_LEGEND = 15
_BAR = (1.04, 0.0, 0.045, 0.6)
"""Where the colour bar lies, in parts of the axes: beside them, so that a legend or bar never squeezes the plot."""


def colour_points(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    adata: AnnData,
    color: str | None,
    rows: NDArray[np.intp],
    look: Mapping[str, Any],
) -> None:
    """Draw the samples ``rows`` of the object, with a legend or a colour bar where a column colours them.

    Parameters
    ----------
    ax
        Where to draw.
    x, y
        Coordinates, one for each of ``rows``.
    adata
        The object.
    color
        A column of ``obs``; None = one colour.
    rows
        Positions of the samples.
    look
        Passed on to ``ax.scatter``.

    Raises
    ------
    InputError
        There is no such column.
    """
    if color is None:
        ax.scatter(x, y, color=OKABE_ITO[0], **look)
        return
    if color not in adata.obs.columns:
        msg = f"color={color!r} is not a column of obs. Columns: {list(map(str, adata.obs.columns)) or 'none'}."
        raise InputError(msg)
    values = adata.obs[color].iloc[rows]
    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        missing = np.isnan(numbers)
        ax.scatter(x[missing], y[missing], color=_MISSING, **look)
        drawn = ax.scatter(x[~missing], y[~missing], c=numbers[~missing], cmap="viridis", **look)
        figure = ax.get_figure()
        if figure is not None:
            bar = figure.colorbar(drawn, cax=ax.inset_axes(_BAR), label=color)
            bar.outline.set_visible(False)
        return
    _by_category(ax, x, y, values, color, _stored_colours(adata, color), look)


def _by_category(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    values: pd.Series,
    title: str,
    stored: Mapping[str, str],
    look: Mapping[str, Any],
) -> None:
    labels = values.astype(object).map(str, na_action="ignore")
    present = set(labels.dropna())
    levels = [level for level in _levels(values) if level in present]
    colours = {level: stored.get(level, own) for level, own in zip(levels, _palette(len(levels)), strict=True)}
    if missing := labels.isna().to_numpy().nonzero()[0].tolist():
        ax.scatter(x[missing], y[missing], color=_MISSING, label="missing", **look)
    for level in levels:
        chosen = (labels == level).to_numpy()
        ax.scatter(x[chosen], y[chosen], color=colours[level], label=level, **look)
    if 0 < len(levels) <= _MOST_LEGEND:
        ax.legend(
            title=title,
            frameon=False,
            loc="upper left",
            bbox_to_anchor=(1.02, 1),
            borderaxespad=0,
            handletextpad=0.2,
            alignment="left",
            ncols=-(-len(ax.get_legend_handles_labels()[1]) // _ROWS_LEGEND),
        )


def _levels(values: pd.Series) -> list[str]:
    """Keep the order of a categorical; sort everything else."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return [str(level) for level in values.cat.categories]
    return sorted({str(value) for value in values.dropna()})


def _palette(n: int) -> Sequence[str]:
    if n <= len(OKABE_ITO):
        return OKABE_ITO[:n]
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](position)) for position in np.linspace(0, 1, n)]


def _stored_colours(adata: AnnData, color: str) -> dict[str, str]:
    """Colours that other tools of the ecosystem chose for a categorical."""
    dtype = adata.obs[color].dtype
    colours = adata.uns.get(f"{color}_colors")
    if colours is None or not isinstance(dtype, pd.CategoricalDtype) or len(colours) < len(dtype.categories):
        return {}
    return {str(level): str(colour) for level, colour in zip(dtype.categories, colours, strict=False)}
