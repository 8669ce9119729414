"""penalties="auto": chosen on the first points, kept for life."""

import logging

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from dynmeans import DPMeans, DynamicMeans, Penalties, suggest_penalties
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.parameters import SuggestionWarning

STREAM = moving_gaussians(
    40, 4, rng=np.random.default_rng(0), spread=0.02, motion=0.01, points_per_cluster=8
)
EMPTY = np.empty((0, 2))


def fitted(batches=STREAM.batches[:3], **parameters):
    model = DynamicMeans("auto", random_state=0, **parameters)
    for X in batches:
        model.partial_fit(X)
    return model


def test_the_first_batch_decides_and_later_ones_change_nothing():
    chosen = suggest_penalties(STREAM.batches[:1])
    assert fitted(STREAM.batches[:1]).penalties_ == chosen
    assert fitted(STREAM.batches[:3]).penalties_ == chosen


def test_it_finds_the_clusters_of_the_first_batch():
    assert len(fitted(STREAM.batches[:1]).cluster_ids_) == 4


def test_a_sequence_is_decided_on_the_batches_that_suggest_penalties_looks_at():
    model = DynamicMeans("auto", random_state=0)
    model.fit_sequence(STREAM.batches)
    assert model.penalties_ == suggest_penalties(STREAM.batches)


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
def test_what_comes_after_thirty_batches_and_enough_points_is_not_looked_at():
    batches = [np.tile(batch, (20, 1)) for batch in STREAM.batches[:2]] * 15
    assert suggest_penalties([*batches, batches[0] + 1e6]) == suggest_penalties(batches)


def test_the_number_of_clusters_fixes_lambda():
    model = DynamicMeans("auto", n_clusters=4, random_state=0)
    model.fit_sequence(STREAM.batches)
    assert model.penalties_ == suggest_penalties(STREAM.batches, n_clusters=4)


def test_empty_batches_are_waited_out():
    model = fitted([EMPTY, EMPTY])
    assert not hasattr(model, "penalties_")
    model.partial_fit(STREAM.batches[0])
    assert model.penalties_ == suggest_penalties(STREAM.batches[:1])


def test_a_sequence_of_empty_batches_chooses_nothing():
    model = DynamicMeans("auto", random_state=0)
    model.fit_sequence([EMPTY, EMPTY])
    assert not hasattr(model, "penalties_")


def test_what_was_chosen_is_in_the_log(caplog):
    with caplog.at_level(logging.INFO, logger="dynmeans.follow"):
        model = fitted(STREAM.batches[:2])
    assert [r.name for r in caplog.records].count("dynmeans.follow.init_memory") == 1
    assert f"new_penalty {model.penalties_.new_penalty:.4g}" in caplog.text
    assert "single batch" in caplog.text


def test_given_gap_and_reach_are_kept():
    penalties = fitted(STREAM.batches[:1], max_gap=20.0, reach=2.0).penalties_
    assert (penalties.max_gap, penalties.reach) == (20.0, 2.0)


def test_fit_chooses_anew():
    model = fitted()
    model.fit(100.0 * STREAM.batches[0])
    assert model.penalties_.new_penalty > 1000 * fitted().penalties_.new_penalty


def test_predict_uses_what_was_chosen():
    model = fitted(STREAM.batches[:1])
    np.testing.assert_array_equal(model.predict(STREAM.batches[0]), model.labels_)
    assert (model.predict(STREAM.batches[0] + 100.0) == -1).all()


def test_a_restored_estimator_goes_on_with_what_was_chosen():
    model = fitted()
    restored = DynamicMeans.from_memory(model.memory_)
    for X in STREAM.batches[3:8]:
        np.testing.assert_array_equal(restored.partial_fit(X).labels_, model.partial_fit(X).labels_)
    assert restored.penalties_.new_penalty == model.penalties_.new_penalty


def test_penalties_and_parameters_are_not_given_both():
    model = fitted()
    with pytest.raises(ValueError, match="either penalties or max_gap"):
        DynamicMeans(model.penalties_, max_gap=3).fit([[0.0]])
    with pytest.raises(ValueError, match="either penalties or new_penalty"):
        DynamicMeans(model.penalties_, new_penalty=1.0).fit([[0.0]])


def test_a_refused_batch_leaves_nothing_chosen():
    model = DynamicMeans("auto", n_init=0)
    with pytest.raises(ValueError, match="n_init"):
        model.partial_fit(STREAM.batches[0])
    assert not hasattr(model, "penalties_")
    assert not hasattr(model, "state_")


def test_auto_does_not_go_with_the_other_parameterization():
    model = DynamicMeans("auto", revival_penalty=0.1, drift=0.1)
    with pytest.raises(ValueError, match="takes max_gap and reach"):
        model.fit(STREAM.batches[0])


@pytest.mark.parametrize("estimator", [DynamicMeans, DPMeans])
def test_other_words_are_refused_with_those_that_are_not(estimator):
    message = r"penalties must be a Penalties, a number .* or \"auto\", got 'atuo'"
    with pytest.raises(ValueError, match=message):
        estimator("atuo").fit(STREAM.batches[0])


def test_auto_warns_where_its_choice_should_not_be_trusted():
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 100, size=(10, 2))
    alone = [places + rng.normal(0, 0.2, size=places.shape) for _ in range(6)]
    with pytest.warns(SuggestionWarning, match="have a single point"):
        DynamicMeans("auto").fit_sequence(alone)


def test_numbers_are_shown_as_penalties_too():
    model = DynamicMeans(0.1, max_gap=4, reach=2).partial_fit(STREAM.batches[0])
    assert (model.penalties_.new_penalty, model.penalties_.max_gap) == (0.1, 4)
    model.set_params(penalties=0.2).partial_fit(STREAM.batches[1])
    assert model.penalties_.new_penalty == 0.2


def test_penalties_are_one_value_from_the_suggestion_to_the_estimator():
    penalties = suggest_penalties(STREAM.batches)
    model = DynamicMeans(penalties, random_state=0)
    labels, _ = model.fit_sequence(STREAM.batches)
    assert model.penalties_ == penalties
    chosen, _ = DynamicMeans(random_state=0).fit_sequence(STREAM.batches)
    for one, other in zip(labels, chosen, strict=True):
        np.testing.assert_array_equal(one, other)


def test_penalties_survive_a_clone_and_keep_their_revival_rule():
    penalties = Penalties(0.1, max_gap=4, reach=2, revival="exact")
    model = clone(DynamicMeans(penalties)).fit(STREAM.batches[0])
    assert model.penalties_ == penalties
    other = DynamicMeans(penalties, revival="paper").fit(STREAM.batches[0])
    assert other.penalties_ == penalties.with_revival("paper")


def test_points_in_another_unit_give_the_same_clusters_without_a_scale():
    one, other = (DynamicMeans(random_state=0).fit(s * STREAM.batches[0]) for s in (1.0, 1000.0))
    assert adjusted_rand_score(one.labels_, other.labels_) == 1.0
    assert len(one.cluster_ids_) == 4


def test_dp_means_takes_lambda_from_penalties():
    penalties = suggest_penalties(STREAM.batches)
    model = DPMeans(penalties, random_state=0).fit(STREAM.batches[0])
    assert model.penalties_.new_penalty == penalties.new_penalty


def test_the_choice_does_not_hang_on_random_state():
    one, two = (DynamicMeans("auto", random_state=seed).fit(STREAM.batches[0]) for seed in (1, 2))
    assert one.penalties_ == two.penalties_


def test_a_clone_is_not_fitted():
    assert not hasattr(clone(fitted()), "penalties_")


def test_dp_means_chooses_too():
    model = DPMeans("auto", random_state=0).fit(STREAM.batches[0])
    assert len(model.cluster_ids_) == 4
    assert model.penalties_.new_penalty == suggest_penalties(STREAM.batches[:1]).new_penalty
