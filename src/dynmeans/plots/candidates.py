"""Choices of parameters side by side: the same batch, clustered with each."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from dynmeans.parameters.candidate_data import CandidateData
from dynmeans.plots.figures import new_figure
from dynmeans.plots.identity_colors import identity_rgba


def draw_candidates(tried: Sequence[CandidateData]) -> Figure:
    """Draw the points in the colors of their clusters, one picture for each choice."""
    figure, axes = new_figure((4.4 * len(tried), 4.2), 1, len(tried))
    for data, ax in zip(tried, axes, strict=True):
        x, y = data.places.T
        ax.scatter(x, y, s=10, c=identity_rgba(data.labels), linewidths=0, alpha=0.8)
        ax.set_title(data.title, fontsize="medium")
        ax.tick_params(labelsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    return figure
