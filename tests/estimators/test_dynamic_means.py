"""DynamicMeans: what its users rely on."""

import copy
import gc
import os

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from sklearn.exceptions import NotFittedError
from streams import batch_lists

from dynmeans import DDPMixture, DPMeans, DynamicMeans, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.follow.memory import Memory

PAPER = {"new_penalty": 0.04, "max_gap": 6.8, "reach": 1.01}


@pytest.fixture
def stream():
    return moving_gaussians(n_steps=8, vanish=0.2, rng=np.random.default_rng(0))


def fitted(batches, **changes):
    model = DynamicMeans(**{**PAPER, "random_state": 0, **changes})
    labels = [model.partial_fit(X).labels_ for X in batches]
    return model, labels


def assert_same_labels(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_attributes_tell_the_state(stream):
    model, _ = fitted(stream.batches)
    assert model.n_steps_ == 8
    assert model.cluster_ids_ is model.state_.ids
    assert model.cluster_centers_ is model.state_.centers
    assert model.cluster_weights_ is model.state_.weights
    assert model.cluster_ages_ is model.state_.ages
    assert model.cost_ == model.cost_trace_[-1]
    assert model.n_iter_ == len(model.cost_trace_)
    assert set(model.labels_) == set(model.cluster_ids_[model.cluster_ages_ == 1])


def test_both_backends_give_the_same_labels(stream):
    assert_same_labels(fitted(stream.batches)[1], fitted(stream.batches, backend="reference")[1])


def test_both_parameterisations_give_the_same_labels(stream):
    penalties = Penalties(**PAPER)
    direct = {"revival_penalty": penalties.revival_penalty, "drift": penalties.drift}
    other = fitted(stream.batches, max_gap=None, reach=None, **direct)
    assert_same_labels(other[1], fitted(stream.batches)[1])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"new_penalty": 1.0}, {"new_penalty": 2.0}),
        ({"max_gap": 3.0}, {"max_gap": 4.0}),
        ({"reach": 1.1}, {"reach": 1.5}),
        ({"revival_penalty": 0.1, "drift": 0.2}, {"revival_penalty": 0.3, "drift": 0.2}),
        ({"revival_penalty": 0.1, "drift": 0.2}, {"revival_penalty": 0.1, "drift": 0.4}),
    ],
    ids=lambda changes: "-".join(changes),
)
def test_penalties_follow_a_parameter_that_changed_between_batches(before, after):
    before, after = {"new_penalty": 1.0} | before, {"new_penalty": 1.0} | after
    model = DynamicMeans(random_state=0, **before).fit([[0.0]])
    model.set_params(**after).partial_fit([[0.0]])
    assert model.penalties_ == DynamicMeans(random_state=0, **after).fit([[0.0]]).penalties_
    assert {name: getattr(model.penalties_, name) for name in after} == pytest.approx(after)


def test_fit_starts_over(stream):
    model, labels = fitted(stream.batches)
    model.fit(stream.batches[0])
    np.testing.assert_array_equal(model.labels_, labels[0])
    assert model.n_steps_ == 1


def test_fit_sequence_equals_partial_fit_batch_by_batch(stream):
    model, expected = fitted(stream.batches)
    again = DynamicMeans(**PAPER, random_state=0)
    labels, history = again.fit_sequence(stream.batches)
    assert_same_labels(labels, expected)
    assert again.state_ == model.state_
    assert history[-1].cost == model.cost_
    assert [record.time for record in history] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_fit_sequence_takes_time_and_weights_for_each_batch(stream):
    weights = [np.full(len(X), 2.0) for X in stream.batches]
    gaps = [1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 3.0, 1.0]
    model = DynamicMeans(**PAPER, random_state=0)
    labels, history = model.fit_sequence(stream.batches, elapsed=gaps, sample_weight=weights)
    other = DynamicMeans(**PAPER, random_state=0)
    for X, gap, weight in zip(stream.batches, gaps, weights, strict=True):
        other.partial_fit(X, elapsed=gap, sample_weight=weight)
    assert other.state_ == model.state_
    assert history[-1].time == sum(gaps)
    assert_same_labels([labels[-1]], [other.labels_])


def test_prediction_on_the_batch_just_fitted_equals_its_labels(stream):
    model = DynamicMeans(**PAPER, random_state=0)
    for X in stream.batches:
        np.testing.assert_array_equal(model.partial_fit(X).predict(X), model.labels_)


@pytest.mark.filterwarnings("ignore:clusters .* were forgotten too early")
@settings(max_examples=100, deadline=None)
@given(batches=batch_lists(n_features=2))
def test_prediction_equals_labels_on_any_batch_just_fitted(batches):
    model = DynamicMeans(2.0, random_state=0)
    for batch in batches:
        model.partial_fit(batch.points, elapsed=batch.elapsed, sample_weight=batch.sample_weight)
        # With points that weigh less than 1 a pass may raise the cost; it is not returned, and what
        # is may be one that predictions would change (0004, 0012).
        is_initialized = model.n_iter_ > 1 and model.cost_trace_[-1] == model.cost_trace_[-2]
        if len(batch.points) and is_initialized:
            np.testing.assert_array_equal(model.predict(batch.points), model.labels_)


def test_prediction_is_pure_and_says_where_a_new_cluster_is_cheaper():
    model = DynamicMeans(1.0, random_state=0).partial_fit([[0.0], [5.0]])
    before = model.state_
    assert model.predict([[0.9], [2.5], [5.5]]).tolist() == [0, -1, 1]
    assert model.state_ is before


def test_prediction_counts_the_time_since_a_cluster_was_seen():
    # Unseen for 2 steps: Q dt = 2/5; drift = (5 * 0.5 + 1) / 4 = 0.875, so a point at distance x
    # costs 0.4 + x^2 / 2.75, which reaches lambda at x = sqrt(1.65) = 1.28.
    model = DynamicMeans(1.0, max_gap=5, reach=1.5, random_state=0).partial_fit([[0.0]])
    model.partial_fit(np.empty((0, 1)), elapsed=2.0)
    assert model.predict([[1.28], [1.29]]).tolist() == [0, -1]


def test_score_is_the_opposite_of_the_cost_of_the_points():
    # 0.3^2 to the cluster at 0, and lambda for the far point
    model = DynamicMeans(1.0, random_state=0).partial_fit([[0.0]])
    assert model.score([[0.3], [9.0]]) == pytest.approx(-1.09)


def test_transform_gives_distances_to_the_centers():
    model = DynamicMeans(1.0, random_state=1).partial_fit([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(model.transform([[0.0, 0.0]]), [[0.0, 5.0]])


def test_row_order_does_not_change_the_clustering(stream):
    rng = np.random.default_rng(5)
    shuffles = [rng.permutation(len(X)) for X in stream.batches]
    _, expected = fitted(stream.batches)
    shuffled = [X[order] for X, order in zip(stream.batches, shuffles, strict=True)]
    _, labels = fitted(shuffled)
    assert_same_labels(labels, [z[order] for z, order in zip(expected, shuffles, strict=True)])


def test_random_state_alone_decides_the_orders(stream):
    np.random.seed(1)  # noqa: NPY002
    _, first = fitted(stream.batches)
    np.random.seed(2)  # noqa: NPY002
    _, second = fitted(stream.batches)
    assert_same_labels(first, second)


def test_other_random_states_can_give_other_results():
    X = np.random.default_rng(0).random((200, 2))
    costs = {fitted([X], random_state=seed, n_init=1)[0].cost_ for seed in range(5)}
    assert len(costs) > 1


def test_restored_estimator_continues_label_for_label(stream, tmp_path):
    model, expected = fitted(stream.batches)
    first_half, _ = fitted(stream.batches[:4])
    first_half.memory_.save(tmp_path / "memory")
    restored = DynamicMeans.from_memory(Memory.load(tmp_path / "memory"))
    labels = [restored.partial_fit(X).labels_ for X in stream.batches[4:]]
    assert_same_labels(labels, expected[4:])
    assert restored.state_ == model.state_


def test_history_after_a_restore_goes_on_in_time(stream):
    first_half = DynamicMeans(**PAPER, random_state=0)
    for X, gap in zip(stream.batches[:3], [5.0, 2.0, 0.5], strict=True):
        first_half.partial_fit(X, elapsed=gap)
    restored = DynamicMeans.from_memory(first_half.memory_, keep_history=True)
    assert restored.partial_fit(stream.batches[3]).history_[-1].time == 8.5


FITTED = ("labels_", "cluster_ids_", "penalties_", "events_", "cost_", "memory_", "n_steps_")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (DynamicMeans(1.0), FITTED),
        (DPMeans(1.0), ("labels_", "cluster_ids_", "penalties_", "memory_", "cost_")),
        (DDPMixture(), ("labels_", "cluster_ids_", "state_", "result_", "n_iter_", "cost_")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_result_that_is_read_before_the_first_batch_raises_not_fitted(model, names):
    for name in names:
        assert not hasattr(model, name)
        with pytest.raises(
            NotFittedError, match=r"has not clustered a batch yet. Call .*fit first"
        ):
            getattr(model, name)


def test_a_history_that_is_not_kept_names_the_parameter():
    with pytest.raises(AttributeError, match=r"history_ is available .* keep_history=True"):
        DynamicMeans(1.0).history_  # noqa: B018


@pytest.mark.parametrize("memory", [None, "memory.npz"])
def test_restoring_from_something_else_is_refused_with_the_way_out(memory):
    with pytest.raises(TypeError, match=r"memory must be a Memory, got .*Memory.load"):
        DynamicMeans.from_memory(memory)


def test_starting_over_forgets_every_fitted_attribute():
    model = DynamicMeans(1.0, keep_history=True, random_state=0).fit([[0.0], [5.0]])
    model.set_params(keep_history=False).fit([[0.0]])
    assert not hasattr(model, "history_")


def test_history_follows_a_changed_window():
    model = DynamicMeans(1.0, keep_history=True, random_state=0)
    for _ in range(3):
        model.partial_fit([[0.0]])
    model.set_params(keep_history=1).partial_fit([[0.0]])
    assert [record.step for record in model.history_] == [3]


def test_estimator_and_functional_core_share_their_states(stream):
    model, _ = fitted(stream.batches[:2])
    orders = np.arange(len(stream.batches[2]))[None, :]
    state, _ = step(stream.batches[2], model.state_, Penalties(**PAPER), orders=orders)
    assert state.n_steps == 3


def test_empty_first_batch_lets_time_pass():
    model = DynamicMeans(1.0, random_state=0).partial_fit(np.empty((0, 3)))
    assert model.n_steps_ == 1
    assert model.partial_fit([[1.0, 2.0, 3.0]]).labels_.tolist() == [0]


BAD_BATCHES = [
    ([[np.nan, 0.0]], {}, ValueError, "NaN"),
    ([[np.inf, 0.0]], {}, ValueError, "X must be finite .* got inf"),
    ([[1e300, 0.0]], {}, ValueError, "X must be finite and at most"),
    ([[0.0]], {}, ValueError, "features"),
    ([["a", "b"]], {}, ValueError, "convert"),
    (scipy.sparse.eye(2), {}, ValueError, "X as a sparse matrix needs space='cosine'"),
    (np.ones((1, 2)) * 1j, {}, ValueError, "Complex"),
    (np.broadcast_to(0.0, (2**31, 2)), {}, ValueError, "X must have at most 2"),
    ([[0.0, 0.0]], {"elapsed": 0}, ValueError, "elapsed must be greater than 0"),
    ([[0.0, 0.0]], {"sample_weight": [-1.0]}, ValueError, "sample_weight must be at least 0"),
    ([[0.0, 0.0]], {"sample_weight": [1.0, 1.0]}, ValueError, "sample_weight must have one"),
]


@pytest.mark.parametrize(("X", "arguments", "error", "message"), BAD_BATCHES)
def test_bad_batch_is_refused_and_changes_nothing(X, arguments, error, message):
    model = DynamicMeans(1.0, random_state=0).partial_fit([[0.0, 0.0], [5.0, 5.0]])
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        model.partial_fit(X, **arguments)
    assert vars(model) == before


BAD_PARAMETERS = [
    ({"new_penalty": 0.0}, ValueError, "new_penalty must be greater than 0"),
    ({"max_gap": 1.0}, ValueError, "max_gap must be greater than 1"),
    ({"reach": 0.5}, ValueError, "reach must be at least 1"),
    ({"revival_penalty": -1.0, "drift": 1.0}, ValueError, "revival_penalty must be at least 0"),
    ({"revival_penalty": 1.0}, ValueError, "either revival_penalty and drift"),
    ({"max_gap": 2, "reach": 1, "revival_penalty": 1, "drift": 1}, ValueError, "not both pairs"),
    ({"n_init": 0}, ValueError, "n_init must be from 1 to 10000"),
    ({"n_init": 2.5}, TypeError, "n_init must be an integer"),
    ({"revival": "fuzzy"}, ValueError, "revival must be one of"),
    ({"backend": "abacus"}, ValueError, "backend must be one of"),
    ({"random_state": "dice"}, TypeError, "dice"),
]


@pytest.mark.parametrize(("parameters", "error", "message"), BAD_PARAMETERS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameter_is_refused_and_changes_nothing(method, parameters, error, message):
    model = DynamicMeans(**parameters)
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        getattr(model, method)([[0.0, 0.0]])
    assert vars(model) == before


def test_failed_fit_keeps_what_was_fitted_before():
    model = DynamicMeans(1.0, random_state=0).partial_fit([[0.0, 0.0], [5.0, 5.0]])
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[np.nan]])
    assert vars(model) == before


def test_failed_fit_sequence_keeps_what_was_fitted_before():
    model = DynamicMeans(1.0, random_state=0).partial_fit([[0.0], [5.0]])
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit_sequence([[[0.0]], [[np.nan]]])
    assert vars(model) == before


def test_fit_refuses_an_empty_batch():
    with pytest.raises(ValueError, match="0 sample"):
        DynamicMeans(1.0).fit(np.empty((0, 2)))


def test_error_in_a_sequence_names_the_batch():
    with pytest.raises(ValueError, match=r"batches\[1\]: X must be finite .* got NaN"):
        DynamicMeans(1.0).fit_sequence([[[0.0]], [[np.nan]]])


def test_empty_sequence_is_refused_by_name():
    with pytest.raises(ValueError, match="batches must hold at least one batch"):
        DynamicMeans(1.0).fit_sequence([])


def test_fit_sequence_wants_one_time_for_each_batch():
    with pytest.raises(ValueError, match="one value for each of 2 batches, got 3"):
        DynamicMeans(1.0).fit_sequence([[[0.0]], [[1.0]]], elapsed=[1.0, 1.0, 1.0])


def resident_megabytes():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads memory from /proc")
def test_memory_stays_flat_on_an_endless_stream():
    """1e5 batches of clusters that come and never return: what is remembered stays bounded."""
    rng = np.random.default_rng(0)
    model = DynamicMeans(0.01, max_gap=6.8, reach=1.01, n_init=1, random_state=0)
    most, megabytes = 0, []
    for batch in range(100_000):
        model.partial_fit(rng.random((4, 2)) * 100)
        most = max(most, len(model.cluster_ids_))
        if batch % 10_000 == 9_999:
            megabytes.append(resident_megabytes())
    assert model.cluster_ids_[-1] > 390_000
    assert most <= 4 * 7
    # One leaked state, or one leaked label array, per batch would be some 10 MB.
    assert megabytes[-1] < megabytes[0] + 2


def test_a_bad_random_state_is_named() -> None:
    with pytest.raises(TypeError, match=r"random_state must be None, .* got 'dice'"):
        DynamicMeans(1.0, random_state="dice").fit([[0.0]])


def test_parameter_replaced_between_batches_holds_for_the_next_one():
    model = DynamicMeans(1.0, random_state=0).partial_fit([[0.0], [3.0]])
    assert model.partial_fit([[0.1], [3.1]]).penalties_.new_penalty == 1.0
    assert model.set_params(penalties=4.0).partial_fit([[0.1]]).penalties_.new_penalty == 4.0
    model.n_init = True
    with pytest.raises(TypeError, match="n_init must be an integer, got True"):
        model.partial_fit([[0.1]])


def test_list_of_moving_features_may_change_in_place():
    moving = [0]
    model = DynamicMeans(1.0, motion="constant_velocity", moving_features=moving, random_state=0)
    assert model.partial_fit([[0.0, 0.0]]).penalties_.moving_features == (0,)
    moving[0] = 1
    assert model.partial_fit([[0.0, 0.0]]).penalties_.moving_features == (1,)


def test_lives_of_many_batches_are_counted_as_they_came():
    model = DynamicMeans(1.0, min_cluster_size=150, min_batches=150, random_state=0)
    batches = [np.array([[0.0], [9.0]])] * 149
    for batch in batches:
        model.partial_fit(batch)
    assert model.confirmed_labels_.tolist() == [-1, -1]
    copied = copy.deepcopy(model).partial_fit(batches[0][:1])
    assert copied.confirmed_labels_.tolist() == [0]
    assert model.partial_fit(batches[0]).confirmed_labels_.tolist() == [0, 1]
    model.fit_sequence([*batches, batches[0][:1]])
    assert model.confirmed_labels_.tolist() == [0]


@pytest.mark.parametrize("kind", [DynamicMeans, DPMeans, DDPMixture])
def test_masked_values_are_refused_and_not_taken_for_values(kind):
    masked = np.ma.masked_array([[1.0], [2.0], [99.0]], mask=[[0], [0], [1]])
    with pytest.raises(ValueError, match="X must have no masked values, got 1"):
        kind().fit(masked)
    with pytest.raises(ValueError, match="sample_weight must have no masked values, got 1"):
        DynamicMeans(1.0).fit([[1.0], [2.0], [3.0]], sample_weight=masked[:, 0])
    assert len(DynamicMeans(1.0).fit(np.ma.masked_array([[1.0], [2.0]])).labels_) == 2
