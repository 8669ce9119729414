from dynmeans.plots.animation import animate as animate
from dynmeans.plots.cluster_numbers import plot_cluster_numbers as plot_cluster_numbers
from dynmeans.plots.families import plot_families as plot_families
from dynmeans.plots.identity_colors import identity_color as identity_color
from dynmeans.plots.identity_colors import identity_marker as identity_marker
from dynmeans.plots.identity_colors import identity_rgba as identity_rgba
from dynmeans.plots.suggestion import plot_suggestion as plot_suggestion
from dynmeans.plots.timeline import plot_timeline as plot_timeline
from dynmeans.plots.tracks import plot_tracks as plot_tracks

__all__: list[str]
