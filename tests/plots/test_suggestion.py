"""What was tried, against lambda."""

import pytest

from dynmeans import Penalties
from dynmeans.plots import plot_suggestion
from dynmeans.plots.suggestion import _suggestion_data
from dynmeans.records.suggestion import Candidate, Suggestion


def candidate(new_penalty, bits, n_clusters, max_gap=3.5):
    return Candidate(Penalties(new_penalty, max_gap=max_gap, reach=1.2), bits, n_clusters, 9)


CHOSEN = candidate(2.0, 5.0, 4.0, max_gap=6.8)
TRIED = (candidate(8.0, 7.0, 1.0), candidate(2.0, 5.5, 4.5), CHOSEN, candidate(0.5, 6.0, 20.0))
SUGGESTION = Suggestion(CHOSEN, TRIED, n_batches=3, n_points=30)


def test_the_line_has_each_lambda_once_with_its_shortest_description():
    data = _suggestion_data(SUGGESTION)
    assert data.line_penalties.tolist() == [0.5, 2.0, 8.0]
    assert data.line_bits.tolist() == [6.0, 5.0, 7.0]
    assert data.line_clusters.tolist() == [20.0, 4.0, 1.0]


def test_all_candidates_and_the_choice_are_drawn(ax):
    plot_suggestion(SUGGESTION, ax)
    tried, line, star, _ = ax.get_lines()
    assert tried.get_ydata().tolist() == [7.0, 5.5, 5.0, 6.0]
    assert line.get_ydata().tolist() == [6.0, 5.0, 7.0]
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (2.0, 5.0)
    assert ax.get_xscale() == "log"


def test_the_number_of_clusters_has_its_own_scale(ax):
    plot_suggestion(SUGGESTION, ax)
    right = next(other for other in ax.figure.axes if other is not ax)
    assert right.get_lines()[0].get_ydata().tolist() == [20.0, 4.0, 1.0]
    assert right.get_ylabel() == "clusters in a batch"


def test_a_single_candidate_can_be_drawn(ax):
    plot_suggestion(Suggestion(CHOSEN, (CHOSEN,), 1, 1, has_scale=False), ax)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="suggestion must be a Suggestion, got Penalties"):
        plot_suggestion(CHOSEN.penalties)
