"""A color and a marker for each identity: the same in every figure and every session."""

import numpy as np
import numpy.typing as npt
from matplotlib.colors import to_rgba_array

from dynmeans.records.arrays import FloatArray, IntArray

# Six colors of Okabe and Ito, with two dark ones of Tol in place of black and of yellow, which is
# lost on white. The order keeps neighbors apart, in lightness too, for every kind of color vision.
PALETTE = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # green
    "#882255",  # wine
    "#D55E00",  # vermilion
    "#56B4E9",  # sky blue
    "#332288",  # indigo
    "#CC79A7",  # pink
)
# The same on a dark background, where wine and indigo would be lost.
DARK_PALETTE = (*PALETTE[:3], "#E9C1D6", *PALETTE[4:6], "#7B52DD", PALETTE[7])
# One fewer than colors: a color and a marker come together again only after 8 * 7 identities.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
UNASSIGNED_COLOR = "#8C8C8C"
UNASSIGNED_MARKER = "."
UNASSIGNED = -1

_RGBA = to_rgba_array([*PALETTE, UNASSIGNED_COLOR])


def identity_color(cluster_id: int) -> str:
    """Return the color of a cluster; gray for -1, points that belong to none.

    See Also
    --------
    identity_marker : The marker of a cluster.

    Examples
    --------
    >>> identity_color(0), identity_color(8), identity_color(-1)
    ('#0072B2', '#0072B2', '#8C8C8C')
    """
    (k,) = _check_ids([cluster_id])
    return UNASSIGNED_COLOR if k == UNASSIGNED else PALETTE[k % len(PALETTE)]


def identity_rgba(cluster_ids: npt.ArrayLike) -> FloatArray:
    """Return the colors of many clusters, one row of red, green, blue and opacity for each.

    See Also
    --------
    identity_color : The color of a cluster.

    Examples
    --------
    >>> identity_rgba([0, 4]).round(2).tolist()
    [[0.0, 0.45, 0.7, 1.0], [0.84, 0.37, 0.0, 1.0]]
    """
    ids = _check_ids(cluster_ids)
    return np.asarray(_RGBA[np.where(ids == UNASSIGNED, len(PALETTE), ids % len(PALETTE))])


def identity_marker(cluster_id: int) -> str:
    """Return the marker of a cluster; a small dot for -1.

    See Also
    --------
    identity_color : The color of a cluster.

    Examples
    --------
    >>> identity_marker(0), identity_marker(8), identity_marker(-1)
    ('o', 's', '.')
    """
    (k,) = _check_ids([cluster_id])
    return UNASSIGNED_MARKER if k == UNASSIGNED else MARKERS[k % len(MARKERS)]


def rows_by_marker(cluster_ids: IntArray) -> dict[str, IntArray]:
    """Group rows whose clusters share a marker: one call draws a marker in many colors."""
    which = np.where(cluster_ids == UNASSIGNED, len(MARKERS), cluster_ids % len(MARKERS))
    groups = {m: np.flatnonzero(which == row) for row, m in enumerate((*MARKERS, "."))}
    return {marker: rows for marker, rows in groups.items() if len(rows)}


def _check_ids(cluster_ids: npt.ArrayLike) -> IntArray:
    ids = np.asarray(cluster_ids)
    if ids.ndim != 1:
        raise ValueError(f"cluster_ids must have one dimension, got shape {ids.shape}.")
    if ids.size and ids.dtype.kind not in "iu":
        raise TypeError(f"cluster_ids must be integers, got {ids.flat[0].item()!r}.")
    if ids.size and ids.min() < UNASSIGNED:
        raise ValueError(f"cluster_ids must be at least -1, got {ids.min()}.")
    return ids.astype(np.int64)
