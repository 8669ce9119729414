import numpy as np
import pytest

import dynmeans
from dynmeans import DynamicMeans, Penalties, suggest_penalties
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_global
from dynmeans.parameters.selection import suggest


def make_batches(n_steps=8, n_clusters=4, seed=0, **kind):
    kind = {"spread": 0.02, "motion": 0.01, "death": 0.0, "points_per_cluster": 8} | kind
    return moving_gaussians(n_steps, n_clusters, rng=np.random.default_rng(seed), **kind)


BATCHES = make_batches().batches
FOUND = suggest(BATCHES)


def check_same(found, factor=1.0):
    """Visiting orders hang on the values, and may shift lambda by half an octave."""
    p, q = found.penalties, FOUND.penalties
    assert p.new_penalty == pytest.approx(factor * q.new_penalty, rel=0.42)
    assert (p.max_gap, p.reach) == (q.max_gap, q.reach)
    assert found.chosen.n_clusters_per_batch == FOUND.chosen.n_clusters_per_batch
    assert found.chosen.n_clusters_total == FOUND.chosen.n_clusters_total


def test_it_is_a_public_name():
    assert "suggest_penalties" in dynmeans.__all__
    assert suggest_penalties(BATCHES) == FOUND.penalties


def test_the_suggested_penalties_find_the_clusters():
    stream = make_batches()
    p = FOUND.penalties
    model = DynamicMeans(p, random_state=0)
    labels, _ = model.fit_sequence(stream.batches)
    assert accuracy_global(stream.labels, labels) > 0.99
    assert FOUND.chosen.n_clusters_per_batch == 4.0
    assert FOUND.chosen.n_clusters_total == 4


def test_the_chosen_candidate_is_among_those_tried():
    assert FOUND.chosen in FOUND.candidates
    assert FOUND.n_batches == 8
    assert FOUND.n_points == 8 * 32


@pytest.mark.parametrize("factor", [1e-3, 64.0])
def test_scaling_the_data_scales_lambda_by_the_square_and_nothing_else(factor):
    check_same(suggest([factor * batch for batch in BATCHES]), factor**2)


def test_shifting_the_data_changes_nothing():
    check_same(suggest([batch + np.array([3.0, -50.0]) for batch in BATCHES]))


def test_the_order_of_rows_does_not_matter():
    found = suggest_penalties([batch[::-1] for batch in BATCHES])
    assert found.new_penalty == pytest.approx(FOUND.penalties.new_penalty)
    assert (found.max_gap, found.reach) == (FOUND.penalties.max_gap, FOUND.penalties.reach)


def test_the_same_batches_give_the_same_suggestion_bit_for_bit():
    assert suggest(BATCHES) == FOUND


def test_a_generator_changes_the_visiting_orders():
    stream = make_batches(seed=4, n_clusters=12, spread=0.06, motion=0.05)
    fixed = suggest(stream.batches)
    drawn = suggest(stream.batches, rng=np.random.default_rng(1))
    again = suggest(stream.batches, rng=np.random.default_rng(1))
    assert drawn == again
    assert [c.description_bits for c in drawn.candidates] != [
        c.description_bits for c in fixed.candidates
    ]


def test_a_row_of_weight_two_is_two_rows():
    weights = [np.where(np.arange(len(batch)) % 4 == 0, 2.0, 1.0) for batch in BATCHES]
    repeated = [b.repeat(w.astype(int), axis=0) for b, w in zip(BATCHES, weights, strict=True)]
    found = suggest(BATCHES, sample_weight=weights)
    expected = suggest(repeated)
    assert found.penalties.new_penalty == pytest.approx(expected.penalties.new_penalty)
    assert found.chosen.description_bits == pytest.approx(expected.chosen.description_bits)


def test_a_row_of_weight_zero_takes_no_part():
    weights = [np.append(np.ones(len(batch)), 0.0) for batch in BATCHES]
    batches = [np.vstack([batch, [[1e6, 0.0]]]) for batch in BATCHES]
    assert suggest_penalties(batches, sample_weight=weights) == FOUND.penalties


def test_float32_points_are_taken_as_they_are():
    check_same(suggest([batch.astype(np.float32) for batch in BATCHES]))


def test_time_between_batches_scales_gaps_and_drift():
    # A clock of 60 steps a batch: gaps last 60 times as long, positions fade 60 times as slowly.
    found = suggest_penalties(BATCHES, elapsed=60.0)
    assert found.new_penalty == pytest.approx(FOUND.penalties.new_penalty)
    assert found.max_gap == pytest.approx(60.0 * FOUND.penalties.max_gap)
    assert found.drift == pytest.approx(FOUND.penalties.drift / 60.0)


def test_empty_batches_let_time_pass():
    empty = np.empty((0, 2))
    found = suggest([empty, *BATCHES[:4], empty, *BATCHES[4:]])
    assert found.n_batches == 8
    assert found.chosen.n_clusters_total == 4


def test_one_batch_gives_lambda_and_leaves_the_rest_at_the_defaults():
    found = suggest(BATCHES[:1])
    assert found.chosen.n_clusters_per_batch == 4.0
    assert (found.penalties.max_gap, found.penalties.reach) == (6.8, 1.2)
    assert "single batch" in found.explanation


def test_absences_make_the_gap_longer():
    rng = np.random.default_rng(2)
    places = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    batches = []
    for t in range(30):
        seen = places[[(t + 3 * k) % 12 < 6 for k in range(4)]]  # six batches on, six off
        batches.append(seen.repeat(8, axis=0) + 0.3 * rng.normal(size=(8 * len(seen), 2)))
    found = suggest(batches)
    assert found.penalties.max_gap >= 6.8
    assert found.chosen.n_clusters_total == 4


def test_far_moves_make_the_reach_longer():
    stream = make_batches(20, 8, seed=1, spread=0.003, motion=0.03)
    assert suggest(stream.batches).penalties.reach > 1.2


def test_given_values_are_kept():
    found = suggest_penalties(BATCHES, max_gap=9.0, reach=2.5)
    assert (found.max_gap, found.reach) == (9.0, 2.5)
    assert suggest_penalties(BATCHES, max_gap=np.inf).max_gap == np.inf
    assert suggest_penalties(BATCHES[:1], reach=1.7).reach == 1.7


def test_points_that_are_all_alike_have_no_scale():
    found = suggest([np.ones((5, 2)), np.ones((3, 2))], max_gap=4.0)
    assert found.penalties == Penalties(1.0, max_gap=4.0, reach=1.2)
    assert "placeholder" in found.explanation


def test_the_explanation_names_what_was_chosen():
    text = FOUND.explanation
    assert f"new_penalty {FOUND.penalties.new_penalty:.4g}" in text
    assert f"max_gap {FOUND.penalties.max_gap:.3g}" in text
    assert f"reach {FOUND.penalties.reach:.3g}" in text
    assert "4 clusters on average" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batches": []}, "batches must hold at least one batch"),
        ({"batches": [np.empty((0, 2))]}, "at least one point"),
        ({"batches": [[1.0, 2.0]]}, r"batches\[0\].*two dimensions"),
        ({"batches": [BATCHES[0], np.zeros((3, 5))]}, r"batches\[1\] has 5 features"),
        ({"batches": [[[np.nan, 1.0]]]}, r"batches\[0\].*finite"),
        ({"batches": BATCHES, "elapsed": [1.0]}, "elapsed must have one value for each"),
        ({"batches": BATCHES, "elapsed": 0.0}, "elapsed must be greater than 0"),
        ({"batches": BATCHES, "sample_weight": [[1.0]] * 8}, "sample_weight must have one value"),
        ({"batches": BATCHES, "n_init": 0}, "n_init must be from 1 to 10000"),
        ({"batches": BATCHES, "max_gap": 1.0}, "max_gap must be greater than 1"),
        ({"batches": BATCHES, "reach": 0.5}, "reach must be at least 1"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        suggest_penalties(**arguments)


@pytest.mark.parametrize("noise", ["isotropic", "radial"])
@pytest.mark.parametrize("n_clusters", [4, 12])
def test_the_suggestion_tracks_nearly_as_well_as_the_best_of_a_grid(noise, n_clusters):
    stream = make_batches(
        40,
        n_clusters,
        seed=5,
        noise=noise,
        spread=0.03,
        motion=0.03,
        death=0.05,
        points_per_cluster=15,
    )

    def accuracy(penalties):
        model = DynamicMeans(penalties, random_state=0)
        return accuracy_global(stream.labels, model.fit_sequence(stream.batches)[0])

    unit = (2 if noise == "isotropic" else 1) * 2 * 0.03**2
    best = max(
        accuracy(Penalties(multiple * unit, max_gap=gap, reach=reach))
        for multiple in (3, 4, 6, 8, 12, 17)
        for gap in (2.5, 6.8)
        for reach in (1.01, 1.5)
    )
    assert accuracy(suggest_penalties(stream.batches[:25])) > 0.8 * best


def test_a_hint_of_hundreds_of_digits_is_refused():
    with pytest.raises(ValueError, match="n_clusters must be finite"):
        DynamicMeans(n_clusters=10**400).fit(np.ones((3, 1)))
