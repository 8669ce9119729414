"""Which lambda describes the stream most briefly, and how many clusters each one finds."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter

from dynmeans.plots.arguments import axes_or_new, tidy
from dynmeans.records.arrays import FloatArray
from dynmeans.records.suggestion import Suggestion

_LENGTH, _CLUSTERS, _CHOSEN, _TRIED = "#0072B2", "#D55E00", "#009E73", "#8C8C8C"
_LONGEST = 4.0  # bits a point above the best that are still drawn


@dataclass(frozen=True, slots=True, eq=False)
class SuggestionData:
    """Every choice tried; and each lambda once, with the shortest description found there."""

    new_penalties: FloatArray
    bits: FloatArray
    line_penalties: FloatArray
    line_bits: FloatArray
    line_clusters: FloatArray
    chosen: tuple[float, float, float]  # lambda, bits and clusters of the choice


def plot_suggestion(suggestion: Suggestion, ax: Axes | None = None) -> Axes:
    """Draw the length of the description and, with a scale on the right, clusters against lambda.

    Parameters
    ----------
    suggestion : Suggestion
        From `suggest`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    See Also
    --------
    dynmeans.suggest : Makes the suggestion.

    Examples
    --------
    >>> from dynmeans.parameters.selection import suggest
    >>> from matplotlib.figure import Figure
    >>> suggestion = suggest([[[0.0], [0.2], [9.0], [9.1]]] * 3)
    >>> ax = plot_suggestion(suggestion, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'new_penalty'
    """
    if not isinstance(suggestion, Suggestion):
        raise TypeError(f"suggestion must be a Suggestion, got {type(suggestion).__name__}.")
    ax = axes_or_new(ax)
    _draw_suggestion(_suggestion_data(suggestion), ax)
    return ax


def _suggestion_data(suggestion: Suggestion) -> SuggestionData:
    tried = suggestion.candidates
    new_penalties = np.array([candidate.penalties.new_penalty for candidate in tried])
    bits = np.array([candidate.description_bits for candidate in tried])
    clusters = np.array([candidate.n_clusters_per_batch for candidate in tried])
    order = np.lexsort((bits, new_penalties))
    line_penalties, first = np.unique(new_penalties[order], return_index=True)
    best = suggestion.chosen
    return SuggestionData(
        new_penalties=new_penalties,
        bits=bits,
        line_penalties=line_penalties,
        line_bits=bits[order][first],
        line_clusters=clusters[order][first],
        chosen=(best.penalties.new_penalty, best.description_bits, best.n_clusters_per_batch),
    )


def _draw_suggestion(data: SuggestionData, ax: Axes) -> None:
    right = ax.twinx()
    right.plot(data.line_penalties, data.line_clusters, color=_CLUSTERS, lw=1.3, ls="--", zorder=1)
    right.set_ylabel("clusters in a batch", color=_CLUSTERS)
    right.set_yscale("log")
    right.yaxis.set_major_formatter(LogFormatter())
    right.yaxis.set_minor_formatter(LogFormatter())
    right.spines[["top"]].set_visible(False)
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.plot(data.new_penalties, data.bits, ls="", marker=".", ms=5, color=_TRIED, zorder=2)
    ax.plot(data.line_penalties, data.line_bits, color=_LENGTH, lw=1.6, marker="o", ms=4, zorder=3)
    new_penalty, bits, n_clusters = data.chosen
    ax.plot([new_penalty], [bits], ls="", marker="*", ms=16, color=_CHOSEN, zorder=4)
    ax.axvline(new_penalty, color=_CHOSEN, lw=0.8, zorder=1)
    ax.set_xscale("log")
    lowest, highest = float(data.bits.min()), float(data.bits.max())
    room = 0.05 * max(min(highest - lowest, _LONGEST), 1e-9)
    ax.set_ylim(lowest - 2 * room, min(highest, lowest + _LONGEST) + room)
    ax.set_title(f"Chosen: {new_penalty:.4g}, with {n_clusters:.3g} clusters in a batch")
    ax.set_xlabel("new_penalty")
    ax.set_ylabel("description, bits a point", color=_LENGTH)
    marks = [
        Line2D([], [], color=_LENGTH, lw=1.6, marker="o", ms=4, label="shortest description"),
        Line2D([], [], color=_TRIED, ls="", marker=".", ms=5, label="other gaps and reach"),
        Line2D([], [], color=_CLUSTERS, lw=1.3, ls="--", label="clusters"),
        Line2D([], [], color=_CHOSEN, ls="", marker="*", ms=12, label="chosen"),
    ]
    tidy(ax, marks, n_columns=4)
    ax.spines["right"].set_visible(False)
