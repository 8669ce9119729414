import numpy as np
import pandas as pd
import pytest
from tiny_experiment import tiny_config

from paper.synthetic.authors_means import standard_errors_off
from paper.synthetic.claims import speed_claims
from paper.synthetic.search import best_settings, edges
from paper.synthetic.summary import authors_table, by_clusters, speed_table
from paper.synthetic.tasks import KEY, paper_settings


def row(method, trial, accuracy, cpu_s, **more):
    setting = paper_settings()[method]
    efforts = {"dynamic_means": 3, "gibbs": 5000, "variational": 5000, "particle": 100}
    return {
        **dict.fromkeys(KEY),
        "part": "comparison",
        "method": method,
        "choice": "honest",
        "n_clusters": 5,
        "trial": trial,
        "effort": efforts[method],
        "revival": "paper" if method == "dynamic_means" else None,
        **setting,
        "accuracy_frozen": accuracy,
        "accuracy_global": accuracy,
        "accuracy_per_step": accuracy,
        "cpu_s": cpu_s,
        **more,
    }


@pytest.fixture
def frame():
    return pd.DataFrame(
        [
            *(row("dynamic_means", trial, 0.7 + 0.01 * trial, 0.01) for trial in range(3)),
            *(row("gibbs", trial, 0.6, 3.0) for trial in range(2)),
            *(row("variational", trial, 0.65, 0.2) for trial in range(2)),
            *(row("particle", trial, 0.8 + 0.001 * trial, 2.0) for trial in range(2)),
        ]
    )


def test_speed_is_compared_on_the_streams_both_clustered(frame):
    table = speed_table(frame, paper_settings(), "accuracy_global").set_index("method")
    assert table.loc["gibbs", "times_faster"] == pytest.approx(300)
    assert table.loc["gibbs", "n"] == 2
    # (0.70 + 0.71) / 2 - 0.6
    assert table.loc["gibbs", "gain"] == pytest.approx(0.105)


def test_claim_needs_both_speed_and_accuracy(frame):
    holds = speed_table(frame, paper_settings(), "accuracy_global").set_index("method")["holds"]
    assert holds.to_dict() == {"gibbs": True, "variational": False, "particle": False}


def test_claim_says_where_it_does_not_hold_and_why(frame):
    assert speed_claims(frame, paper_settings(), "accuracy_global") == [
        "Gibbs (honest): yes at K = 5.",
        "variational inference: no at 5 (20 times).",
        "particle learning (honest): no at 5 (200 times, accuracy 0.10 lower).",
    ]


def test_lower_accuracy_within_two_standard_errors_is_equal():
    rows = [row("dynamic_means", t, 0.7, 0.01) for t in range(2)]
    frame = pd.DataFrame(
        [*rows, row("gibbs", 0, 0.60, 3.0), row("gibbs", 1, 0.84, 3.0)]
    )  # gains 0.10 and -0.14: mean -0.02, error 0.12
    assert speed_table(frame, paper_settings(), "accuracy_global")["holds"].tolist() == [True]


SWEEP = tiny_config(new_penalties=(0.04, 0.06, 0.1), max_gaps=(6.8,), reaches=(1.01,))


def swept(accuracies):
    return pd.DataFrame(
        row("dynamic_means", trial, accuracy, 0.01, part="search", new_penalty=new_penalty)
        for new_penalty, values in accuracies.items()
        for trial, accuracy in enumerate(values)
    )


def test_best_setting_is_that_of_the_highest_mean():
    frame = swept({0.04: (0.9, 0.5), 0.06: (0.75, 0.75), 0.1: (0.7, 0.7)})
    compared = pd.DataFrame([row("dynamic_means", 0, 1.0, 0.01, new_penalty=0.1)])
    expected = {"new_penalty": 0.06, "max_gap": 6.8, "reach": 1.01}
    assert best_settings(SWEEP, pd.concat([frame, compared])) == {"dynamic_means": expected}


def test_nothing_is_best_before_all_settings_were_tried():
    frame = swept({0.04: (0.9, 0.5), 0.06: (0.75, 0.75)})
    assert best_settings(SWEEP, frame) == {}


def test_best_value_at_the_end_of_its_grid_is_named():
    setting = {"new_penalty": 0.1, "max_gap": 6.8, "reach": 1.01}
    assert list(edges(SWEEP, {"dynamic_means": setting})) == [("dynamic_means", "new_penalty")]
    assert not list(edges(SWEEP, {"dynamic_means": {**setting, "new_penalty": 0.06}}))


def test_averages_are_over_streams_at_the_usual_effort():
    rows = [row("dynamic_means", t, a, 0.01) for t, a in enumerate((0.5, 0.7))]
    rows.append(row("dynamic_means", 0, 0.9, 0.01, effort=30))
    averages = by_clusters(pd.DataFrame(rows), "dynamic_means", "accuracy_global")
    assert (averages.x.tolist(), averages.n.tolist()) == ([5.0], [2])
    np.testing.assert_allclose(averages.mean, [0.6])
    np.testing.assert_allclose(averages.deviation, [np.sqrt(0.02)])
    np.testing.assert_allclose(averages.error, [np.sqrt(0.01)])


def test_authors_are_compared_with_the_rows_of_their_rule():
    rows = [row("dynamic_means", t, a, 0.01, revival="exact") for t, a in enumerate((0.5, 0.6))]
    rows.append(row("dynamic_means", 0, 0.1, 0.01))
    table = authors_table(pd.DataFrame(rows), "isotropic")
    assert table["ours"].tolist() == pytest.approx([55.0] * 3)
    assert table["authors"].tolist() == [40.4, 55.3, 83.1]
    # Deviation sqrt(2) * 5 over two streams of ours, and over ten of theirs.
    assert table["ours_error"].tolist() == pytest.approx([5.0] * 3)
    assert table["authors_error"].tolist() == pytest.approx([np.sqrt(5)] * 3)


def test_difference_is_in_standard_errors_of_both_samples():
    # Ours have mean 50 and deviation 2 over 4; theirs are of 10 streams.
    scores = np.array([[48.0], [52.0], [50 + np.sqrt(2)], [50 - np.sqrt(2)]])
    deviation = scores.std(ddof=1)
    expected = (50 - 40) / (deviation * np.sqrt(1 / 4 + 1 / 10))
    np.testing.assert_allclose(standard_errors_off(scores, (40.0,)), [expected])
