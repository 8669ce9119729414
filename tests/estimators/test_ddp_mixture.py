"""DDPMixture: what its users rely on, whatever the inference."""

import logging
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from streams import batch_lists

from dynmeans import DDPMixture
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import tracking_report
from dynmeans.mixture.gibbs import GibbsSamples
from dynmeans.mixture.particle_learning import Particles
from dynmeans.mixture.variational import VariationalPosterior
from dynmeans.records.mixture import MixtureState

INFERENCES = ["gibbs", "variational", "particle"]
SETTINGS = {
    "survival": 0.5,
    "noise_variance": 0.0025,
    "motion_variance": 0.0025,
    "prior_mean": 0.5,
    "prior_variance": 0.1,
    "random_state": 0,
}


def make_stream(seed=0, **changes):
    return moving_gaussians(
        **{"n_steps": 8, "n_clusters": 4, **changes}, rng=np.random.default_rng(seed)
    )


def fitted(inference, batches, **changes):
    model = DDPMixture(inference, **{**SETTINGS, **changes})
    return model, [model.partial_fit(X).labels_ for X in batches]


@pytest.mark.parametrize("inference", INFERENCES)
def test_clusters_are_found_and_followed(inference):
    stream = make_stream(spread=0.02, motion=0.02)
    _, labels = fitted(inference, stream.batches, noise_variance=4e-4, motion_variance=4e-4)
    assert tracking_report(stream.labels, labels)["accuracy_global"] > 0.95


@pytest.mark.parametrize("inference", INFERENCES)
def test_attributes_tell_the_state(inference):
    stream = make_stream()
    model, labels = fitted(inference, stream.batches)
    assert model.n_steps_ == 8
    assert model.cluster_ids_ is model.state_.ids
    assert model.cluster_centers_ is model.state_.centers
    assert model.cluster_variances_ is model.state_.variances
    assert model.cluster_counts_ is model.state_.counts
    assert set(labels[-1]) == set(model.cluster_ids_[model.cluster_ages_ == 1])
    assert model.cluster_counts_.sum() <= sum(len(X) for X in stream.batches) + 1e-9


@pytest.mark.parametrize("inference", INFERENCES)
def test_cluster_that_vanished_comes_back_under_its_identity(inference):
    rng = np.random.default_rng(0)
    near, far = rng.normal(0.2, 0.03, size=(10, 2)), rng.normal(0.8, 0.03, size=(10, 2))
    model, labels = fitted(inference, [np.vstack([near, far]), near, near, np.vstack([near, far])])
    np.testing.assert_array_equal(labels[3], labels[0])
    assert model.state_.next_id == 2


@pytest.mark.parametrize("inference", INFERENCES)
@given(batches=batch_lists(max_points=12))
@settings(max_examples=30)
def test_any_stream_leaves_a_sound_state(inference, batches):
    model = DDPMixture(inference, n_samples=5, burn_in=3, n_particles=6, random_state=0)
    next_id = 0
    for batch in batches:
        model.partial_fit(batch.points, elapsed=batch.elapsed)
        assert set(model.labels_) == set(model.cluster_ids_[model.cluster_ages_ == 1])
        assert model.state_.next_id >= next_id
        assert np.isfinite(model.cost_)
        assert np.all(model.samples_ >= 0)
        chances = model.predict_proba(np.eye(2, batch.points.shape[1]))
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        next_id = model.state_.next_id


@pytest.mark.parametrize("inference", INFERENCES)
def test_integer_seed_decides_everything(inference):
    batches = make_stream().batches
    first, again = fitted(inference, batches)[0], fitted(inference, batches)[0]
    assert first.state_ == again.state_
    np.testing.assert_array_equal(first.samples_, again.samples_)


@pytest.mark.parametrize("inference", INFERENCES)
def test_restored_estimator_continues_label_for_label(inference, tmp_path):
    batches = make_stream().batches
    model, _ = fitted(inference, batches[:4])
    model.state_.save(tmp_path / "state")
    restored = DDPMixture.from_state(
        MixtureState.load(tmp_path / "state"), inference=inference, **SETTINGS
    )
    for X in batches[4:]:
        np.testing.assert_array_equal(restored.partial_fit(X).labels_, model.partial_fit(X).labels_)


@pytest.mark.parametrize("inference", INFERENCES)
def test_fit_starts_over(inference):
    batches = make_stream().batches
    model, labels = fitted(inference, batches)
    np.testing.assert_array_equal(model.fit(batches[0]).labels_, labels[0])
    assert model.n_steps_ == 1


@pytest.mark.parametrize("inference", INFERENCES)
def test_empty_batch_only_lets_time_pass(inference):
    batches = make_stream().batches
    model, _ = fitted(inference, [batches[0], np.empty((0, 2)), np.empty((0, 2))])
    other, _ = fitted(inference, batches[:1])
    other.partial_fit(np.empty((0, 2)), elapsed=2.0)
    assert model.labels_.shape == (0,)
    np.testing.assert_array_equal(model.cluster_ages_, other.cluster_ages_)
    np.testing.assert_array_equal(model.cluster_centers_, other.cluster_centers_)
    assert (model.state_.time, model.n_steps_) == (3.0, 3)


@pytest.mark.parametrize("inference", INFERENCES)
def test_events_and_history_tell_what_happened(inference):
    rng = np.random.default_rng(0)
    near, far = rng.normal(0.2, 0.03, size=(10, 2)), rng.normal(0.8, 0.03, size=(10, 2))
    batches = [np.vstack([near, far]), near, np.vstack([near, far])]
    model = DDPMixture(inference, **SETTINGS)
    labels, history = model.fit_sequence(batches)
    assert [[(e.kind, e.cluster_id) for e in step.events] for step in history] == [
        [("born", 0), ("born", 1)],
        [("moved", 0), ("vanished", 1)],
        [("moved", 0), ("returned", 1)],
    ]
    assert [step.time for step in history] == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(history[2].ages, [1.0, 2.0])
    np.testing.assert_array_equal(labels[2], model.labels_)


def test_one_elapsed_time_is_needed_for_each_batch():
    with pytest.raises(ValueError, match="elapsed must have one value for each of 2 batches"):
        DDPMixture().fit_sequence([[[0.0]], [[1.0]]], elapsed=[1.0])


def test_all_that_the_inference_gave_is_there():
    X = make_stream().batches[0]
    model = DDPMixture(**SETTINGS, n_samples=30, burn_in=5, thin=3).fit(X)
    assert isinstance(model.result_, GibbsSamples)
    assert (model.samples_.shape, model.n_iter_) == ((30, 60), 95)
    model = DDPMixture("particle", **SETTINGS, n_particles=7).fit(X)
    assert isinstance(model.result_, Particles)
    assert (model.samples_.shape, model.n_iter_) == ((7, 60), 1)
    model = DDPMixture("variational", **SETTINGS).fit(X)
    assert isinstance(model.result_, VariationalPosterior)
    assert (model.samples_.shape, model.n_iter_) == ((1, 60), len(model.result_.bounds))
    assert model.cost_ == -model.result_.bounds[-1]


@pytest.mark.parametrize("inference", ["gibbs", "particle"])
def test_sample_of_highest_posterior_is_carried(inference):
    model = DDPMixture(inference, **SETTINGS).fit(make_stream().batches[0])
    best = model.result_.log_posteriors.argmax()
    np.testing.assert_array_equal(model.labels_, model.samples_[best])
    assert model.cost_ == -model.result_.log_posteriors[best]


@pytest.mark.parametrize("inference", ["gibbs", "particle"])
def test_last_sample_is_carried_where_asked(inference):
    model = DDPMixture(inference, carried_sample="last", **SETTINGS).fit(make_stream(3).batches[0])
    np.testing.assert_array_equal(model.labels_, model.samples_[-1])
    np.testing.assert_array_equal(model.cluster_ids_, np.unique(model.labels_))


def test_callable_ranks_samples_such_as_by_the_true_labels():
    stream = make_stream(1, n_steps=5)
    truth = iter(stream.labels)

    def rank_by_accuracy(samples):
        true = next(truth)
        return [tracking_report([true], [sample])["accuracy_per_step"] for sample in samples]

    quick = {"n_samples": 20}
    _, handicapped = fitted("gibbs", stream.batches, carried_sample=rank_by_accuracy, **quick)
    _, honest = fitted("gibbs", stream.batches, **quick)
    scores = [
        tracking_report(stream.labels, labels)["accuracy_per_step"]
        for labels in (handicapped, honest)
    ]
    assert scores[0] >= scores[1]


@pytest.mark.parametrize(
    "ranks", [lambda z: 1.0, lambda z: np.zeros(3), lambda z: np.full(len(z), np.nan)]
)
def test_ranking_must_give_one_number_for_each_sample(ranks):
    model = DDPMixture(carried_sample=ranks, **SETTINGS)
    with pytest.raises(ValueError, match="carry must return one number for each of 200 samples"):
        model.fit(make_stream().batches[0])


def test_prediction_is_the_most_probable_cluster_or_a_new_one():
    # Cluster 4 at 0 with c = 3, v = 0.5, sigma = 0.5; new at phi = 0 with alpha_t = 1, rho = 7.5.
    state = MixtureState([4], [3.0], [[0.0]], [0.5], [1.0], next_id=5, n_steps=1, time=1.0)
    model = DDPMixture.from_state(state, noise_variance=0.5, prior_variance=7.5)
    old, new = 3 / np.sqrt(1.0) * np.exp([0.0, -50.0]), 1 / np.sqrt(8.0) * np.exp([0.0, -6.25])
    expected = np.stack([old, new], axis=1) / (old + new)[:, None]
    np.testing.assert_allclose(model.predict_proba([[0.0], [10.0]]), expected, rtol=1e-12)
    assert model.predict([[0.0], [10.0]]).tolist() == [4, -1]
    assert model.score([[0.0]]) == pytest.approx(
        np.log((old[0] + new[0]) / 4 / np.sqrt(2 * np.pi)), rel=1e-12
    )


def test_prediction_a_million_deviations_away_is_finite():
    model = DDPMixture(**SETTINGS).fit(make_stream().batches[0])
    chances = model.predict_proba([[5e4, 5e4], [-5e4, 0.0]])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert model.predict([[5e4, 5e4]]).tolist() == [-1]


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("inference", "exact", "inference must be one of gibbs, variational, particle"),
        ("concentration", 0.0, "concentration must be greater than 0"),
        ("survival", 1.0, "survival must be less than 1"),
        ("noise_variance", -1.0, "noise_variance must be greater than 0"),
        ("motion_variance", 0.0, "motion_variance must be greater than 0"),
        ("prior_variance", np.nan, "prior_variance must be finite"),
        ("prior_mean", [1.0, 2.0, 3.0], "prior_mean must be one number or have 2 values, got 3"),
        ("n_samples", 0, "n_samples must be at least 1, got 0"),
        ("burn_in", -1, "burn_in must be at least 0, got -1"),
        ("thin", 0, "thin must be at least 1, got 0"),
        ("carried_sample", "worst", "carry must be one of best, last or a callable, got 'worst'"),
    ],
)
def test_bad_parameter_is_refused_and_nothing_is_fitted(parameter, value, message):
    model = DDPMixture(**{**SETTINGS, parameter: value})
    with pytest.raises(ValueError, match=message):
        model.fit(make_stream().batches[0])
    assert not hasattr(model, "state_")


@pytest.mark.parametrize(
    ("inference", "parameter", "value", "message"),
    [
        ("particle", "n_particles", 0, "n_particles must be at least 1, got 0"),
        ("variational", "truncation", 0, "truncation must be at least 1, got 0"),
        ("variational", "max_iter", 0, "max_iter must be at least 1, got 0"),
        ("variational", "tol", -1.0, "tol must be at least 0, got -1.0"),
        ("variational", "tol", np.nan, "tol must be finite, got nan"),
    ],
)
def test_bad_parameter_of_one_inference_is_refused(inference, parameter, value, message):
    with pytest.raises(ValueError, match=message):
        DDPMixture(inference, **{**SETTINGS, parameter: value}).fit(make_stream().batches[0])


def test_count_that_is_no_integer_is_refused():
    with pytest.raises(TypeError, match=r"n_samples must be an integer, got 10\.5"):
        DDPMixture(n_samples=10.5).fit([[0.0]])


@pytest.mark.parametrize("inference", INFERENCES)
def test_nan_in_the_batch_is_refused_and_the_state_stays(inference):
    batches = make_stream().batches
    model, _ = fitted(inference, batches[:2])
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan, 0.0]])
    with pytest.raises(ValueError, match="elapsed must be greater than 0"):
        model.partial_fit(batches[2], elapsed=0.0)
    assert model.__dict__ == before


class InterruptError(Exception):
    pass


@pytest.mark.parametrize(
    ("inference", "settings"),
    [
        ("gibbs", {"n_samples": 1, "burn_in": 10**9}),
        ("particle", {"n_particles": 200_000}),
        ("variational", {"max_iter": 10**9, "tol": 0.0, "truncation": 400}),
    ],
)
def test_interrupted_batch_leaves_the_model_as_it_was(inference, settings):
    def handler(signum, frame):
        raise InterruptError

    batches = make_stream(n_clusters=20).batches
    model, _ = fitted(inference, batches[:1])
    before = dict(model.__dict__)
    model.set_params(**settings)
    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.03)
    try:
        with pytest.raises(InterruptError):
            model.partial_fit(np.repeat(batches[1], 3, axis=0))
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert {name: model.__dict__[name] for name in before if name not in settings} == {
        name: value for name, value in before.items() if name not in settings
    }


def test_other_threads_run_meanwhile():
    X = make_stream().batches[0]
    model = DDPMixture(**SETTINGS, n_samples=1, burn_in=5000)
    worker = threading.Thread(target=model.fit, args=(X,))
    worker.start()
    n_turns = 0
    while worker.is_alive():
        n_turns += 1
        worker.join(timeout=1e-4)
    assert n_turns > 10


def test_progress_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="dynmeans"):
        DDPMixture(**SETTINGS, burn_in=3000).fit(make_stream().batches[0])
    assert any("gibbs" in message and "% done" in message for message in caplog.messages)
