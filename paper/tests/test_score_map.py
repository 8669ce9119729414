import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from dynmeans import Penalties
from paper.synthetic.score_map import _score_map_data, plot_score_map


def grid(best_reach=1.5):
    """Scores highest at lambda 0.06, T_Q 3 and one k_tau."""
    rows = [
        (new_penalty, max_gap, reach, 1 - abs(new_penalty - 0.06) - 0.01 * abs(max_gap - 3))
        for new_penalty in (0.03, 0.06, 0.12)
        for max_gap in (2.0, 3.0, 7.0)
        for reach in (1.01, 1.5)
    ]
    frame = pd.DataFrame(rows, columns=["new_penalty", "max_gap", "reach", "score"])
    return frame.assign(score=frame["score"] - 0.2 * (frame["reach"] != best_reach))


@pytest.fixture
def ax():
    return Figure().subplots()


def test_third_parameter_is_fixed_at_its_best_value():
    data = _score_map_data(grid(best_reach=1.5), "new_penalty", "max_gap", "score")
    assert data.fixed == ("reach", 1.5)
    assert len(data.scores) == 9
    assert data.scores.min() > 0.8


def test_best_place_is_that_of_the_highest_score():
    data = _score_map_data(grid(), "new_penalty", "reach", "score")
    assert data.best == (0.06, 1.5)
    assert data.fixed == ("max_gap", 3.0)


def test_contours_have_each_score_at_its_place(ax):
    shuffled = grid().sample(frac=1, random_state=0)
    plot_score_map(shuffled, ax=ax)
    (contours,) = (c for c in ax.collections if hasattr(c, "levels"))
    assert contours.zmin == pytest.approx(grid().query("reach == 1.5")["score"].min())
    best = contours.cvalues.max()
    region = contours.get_paths()[int(np.argmax(contours.cvalues))]
    assert region.contains_point((0.06, 3.0), radius=1e-3), best


def test_trials_off_a_grid_are_dots(ax):
    rng = np.random.default_rng(0)
    names = ["new_penalty", "max_gap", "reach", "score"]
    trials = pd.DataFrame(1 + rng.random((12, 4)), columns=names)
    plot_score_map(trials, ax=ax)
    np.testing.assert_array_equal(ax.collections[0].get_array(), trials["score"])
    assert ax.get_title() == "all trials"


def test_settings_are_marked_by_name(ax):
    plot_score_map(grid(), marked={"mine": Penalties(0.04, max_gap=6.8, reach=1.01)}, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["best", "mine"]
    places = [tuple(line.get_xydata()[0]) for line in ax.lines if len(line.get_xydata()) == 1]
    assert places == [(0.06, 3.0), (0.04, 6.8)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": "speed"}, "x must be one of new_penalty, max_gap, reach, got 'speed'"),
        ({"y": "new_penalty"}, "x and y must differ"),
        ({"score": "hota"}, "trials must have the columns hota"),
        ({"trials": grid().iloc[:0]}, "at least 1 row"),
    ],
)
def test_map_that_cannot_be_drawn_is_refused(changes, message, ax):
    with pytest.raises(ValueError, match=message):
        plot_score_map(**({"trials": grid(), "ax": ax} | changes))
