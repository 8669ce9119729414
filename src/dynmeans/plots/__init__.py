"""Records to figures: one file a figure, data first, drawing second. Needs matplotlib."""

from dynmeans.plots.animation import animate
from dynmeans.plots.cluster_numbers import plot_cluster_numbers
from dynmeans.plots.costs import plot_costs
from dynmeans.plots.identity_colors import identity_color, identity_marker, identity_rgba
from dynmeans.plots.score_map import plot_score_map
from dynmeans.plots.suggestion import plot_suggestion
from dynmeans.plots.timeline import plot_timeline
from dynmeans.plots.tracks import plot_tracks

__all__ = [
    "animate",
    "identity_color",
    "identity_marker",
    "identity_rgba",
    "plot_cluster_numbers",
    "plot_costs",
    "plot_score_map",
    "plot_suggestion",
    "plot_timeline",
    "plot_tracks",
]
