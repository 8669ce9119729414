"""One follower: a model configuration, a memory, one step after the other, the same from a file."""

import json

import numpy as np
import pytest

from dynmeans.engine.batch import Batch
from dynmeans.estimators.dynamic_means import DynamicMeans
from dynmeans.follow.follow import follow, follow_all
from dynmeans.follow.init_memory import begin
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.follow.predict import distances_to_centers, predict
from dynmeans.inputs.input_error import InputError
from dynmeans.records.penalties import Penalties

RECIPES = {
    "auto": {"n_clusters": 3},
    "given": {"new_penalty": 900.0},
    "scaled": {"space": "standard"},
    "auto space": {"space": "auto", "new_penalty": 0.5},
    "families": {"new_penalty": 100.0, "families": True},
    "constant_velocity": {
        "new_penalty": 900.0,
        "motion": "constant_velocity",
        "moving_features": [0],
        "reach": 2.0,
    },
    "direct": {"new_penalty": 900.0, "revival_penalty": 100.0, "drift": 0.3, "revival": "exact"},
}


@pytest.fixture
def batches():
    rng = np.random.default_rng(3)
    places = np.array([[0.0, 0.0], [40.0, 90.0], [0.0, 190.0]])
    return [
        Batch(places.repeat(12, axis=0) + rng.normal(size=(36, 2)) * [3.0, 12.0] + [0.2 * t, 0])
        for t in range(6)
    ]


def _follow(model_config, batches):
    memory, labels = begin(model_config, batches), []
    for batch in batches:
        memory, step = follow(model_config, memory, batch)
        labels.append(step.clustering.labels)
    return memory, labels


@pytest.mark.parametrize("fields", RECIPES.values(), ids=RECIPES)
def test_a_sequence_gives_the_labels_of_one_batch_after_the_other(batches, fields):
    model_config = ModelConfig(**fields, random_state=3)
    memory, labels = _follow(model_config, batches)
    whole, steps = follow_all(
        model_config, begin(model_config, batches), batches, [1.0] * len(batches)
    )
    np.testing.assert_array_equal([step.clustering.labels for step in steps], labels)
    assert whole.clusters == memory.clusters
    assert whole.to_bytes() == memory.to_bytes()


@pytest.mark.parametrize("fields", RECIPES.values(), ids=RECIPES)
def test_the_estimator_gives_the_labels_of_the_follower(batches, fields):
    model = DynamicMeans(**fields, random_state=3)
    found, _ = model.fit_sequence([batch.points for batch in batches])
    _, labels = _follow(ModelConfig(**fields, random_state=3), batches)
    np.testing.assert_array_equal(found, labels)


@pytest.mark.parametrize("fields", RECIPES.values(), ids=RECIPES)
def test_a_memory_from_a_file_continues_label_for_label(batches, fields, tmp_path):
    model_config = ModelConfig(**fields, random_state=3)
    memory, _ = _follow(model_config, batches[:3])
    memory.save(tmp_path / "memory")
    again = Memory.load(tmp_path / "memory")
    assert again.to_bytes() == memory.to_bytes()
    assert Memory.from_bytes(memory.to_bytes()).to_bytes() == memory.to_bytes()
    for batch in batches[3:]:
        memory, step = follow(model_config, memory, batch)
        again, other = follow(model_config, again, batch)
        np.testing.assert_array_equal(step.clustering.labels, other.clustering.labels)
    assert again.to_bytes() == memory.to_bytes()
    assert again.space == memory.space


def test_damaged_memory_is_refused_in_one_line(batches, tmp_path):
    memory, _ = _follow(ModelConfig(new_penalty=1.0), batches)
    data = bytearray(memory.to_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match=r"^'window 3' is not a dynmeans Memory .*damaged"):
        Memory.from_bytes(bytes(data), "window 3")
    memory.clusters.save(tmp_path / "state")
    with pytest.raises(ValueError, match="holds a 'ClusterState', not a 'Memory'"):
        Memory.load(tmp_path / "state")


def test_following_changes_no_earlier_memory(batches):
    model_config = ModelConfig(new_penalty=0.3, families=True, random_state=0)
    memory, _ = follow(model_config, begin(model_config, batches[:1]), batches[0])
    before = memory.to_bytes()
    follow(model_config, memory, batches[1])
    assert memory.to_bytes() == before


def test_what_was_learned_travels_with_the_memory_and_rows_are_never_mixed_with_points(batches):
    model_config = ModelConfig(space="standard", random_state=0)
    memory, labels = _follow(model_config, batches)
    assert memory.space.name == "standard"
    assert len(memory.clusters.ids) == 3
    found, _ = predict(model_config, memory, batches[-1])
    np.testing.assert_array_equal(found, labels[-1])
    nearest = memory.clusters.ids[distances_to_centers(memory, batches[-1]).argmin(axis=1)]
    np.testing.assert_array_equal(nearest, labels[-1])
    np.testing.assert_allclose(np.sort(memory.centers[:, 1]), [0, 90, 190], atol=12)


@pytest.mark.parametrize("space", ["raw", "standard"])
def test_an_empty_beginning_settles_nothing_and_lets_time_pass(batches, space):
    model_config, empty = ModelConfig(space=space, random_state=0), Batch(np.empty((0, 2)))
    memory, _ = follow(model_config, begin(model_config, [empty]), empty)
    assert memory.penalties is None
    assert (memory.clusters.n_steps, memory.clusters.time) == (1, 1.0)
    memory, step = follow(model_config, memory, batches[0])
    assert memory.is_initialized
    assert (memory.clusters.n_steps, step.before.n_steps) == (2, 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"space": "raw"}, "space must be what the memory was made with, 'standard', got 'raw'"),
        ({"random_state": 4}, "random_state must be what the memory was made with, got 4"),
        ({"max_gap": 3.0}, "max_gap must be .*, as the penalties were chosen with, got 3.0"),
    ],
)
def test_a_recipe_that_disagrees_with_the_memory_is_refused_by_name(batches, change, told):
    fields = {"space": "standard", "random_state": 0}
    memory, _ = _follow(ModelConfig(**fields), batches)
    with pytest.raises(InputError, match=told):
        follow(ModelConfig(**fields | change), memory, batches[0])


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"n_init": 0}, "n_init must be from 1 to 10000, got 0"),
        ({"n_init": 10**9}, "n_init must be from 1 to 10000, got 1000000000"),
        ({"space": "cubic"}, "space must be one of raw, standard, .*got 'cubic'"),
        ({"random_state": -1}, "random_state must be None, an integer from 0 to 2"),
        ({"penalties": Penalties(1.0, max_gap=5, reach=1.5), "max_gap": 3}, "give either"),
        ({"drift": 0.5, "revival_penalty": 1.0}, "takes max_gap and reach"),
        (
            {"new_penalty": 1.0, "n_clusters": 3},
            "n_clusters cannot be combined with new_penalty",
        ),
        ({"penalties": 2.0, "new_penalty": 1.0}, "give either penalties or new_penalty"),
    ],
)
def test_a_wrong_recipe_is_refused_by_name(fields, told):
    with pytest.raises(ValueError, match=told):
        ModelConfig(**fields)


def test_every_field_says_what_it_is():
    for name, field in PARAMETERS.items():
        assert field.metadata["help"].endswith(".")
        assert name == "penalties" or callable(field.metadata["check"])


def test_lambda_means_the_same_alone_and_by_name():
    assert ModelConfig(4.0, max_gap=5) == ModelConfig(new_penalty=4.0, max_gap=5)
    assert ModelConfig(4.0).to_json() == {"new_penalty": 4.0}


def test_n_clusters_replaces_lambda_given_as_penalties_and_refuses_it_by_name():
    assert ModelConfig(4.0, n_clusters=3) == ModelConfig(n_clusters=3)
    with pytest.raises(ValueError, match="cannot be combined with new_penalty"):
        ModelConfig(new_penalty=4.0, n_clusters=3)


def test_an_unknown_parameter_of_a_recipe_is_refused_by_name():
    with pytest.raises(TypeError, match="there is no parameter 'scale'"):
        ModelConfig(scale="standard")


def test_penalties_keep_their_revival_rule_if_n_clusters_chooses_lambda():
    rows = np.repeat([[0.0], [5.0], [11.0]], 10, axis=0) + np.linspace(0, 0.5, 30)[:, None]
    model = DynamicMeans(Penalties(1.0, max_gap=4, reach=2, revival="exact"), n_clusters=3)
    assert model.fit(rows).penalties_.revival == "exact"


def test_a_recipe_survives_json():
    for values in RECIPES.values():
        model_config = ModelConfig(**values, random_state=7, min_batches=2)
        assert ModelConfig.from_json(model_config.to_json()) == model_config
    given = ModelConfig(
        Penalties(
            1.0, revival_penalty=0.1, drift=0.2, motion="constant_velocity", moving_features=[1]
        )
    )
    assert ModelConfig.from_json(given.to_json()) == given


@pytest.mark.parametrize("given", [(4, 8), [4, 8], "4-8"])
def test_about_how_many_clusters_may_be_a_range(given):
    model_config = ModelConfig(n_clusters=given)
    assert model_config.n_clusters == (4.0, 8.0)
    assert ModelConfig.from_json(json.loads(json.dumps(model_config.to_json()))) == model_config
    assert ModelConfig(n_clusters="5").n_clusters == 5.0


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ("four", "a range such as 4-8, got 'four'"),
        ((8, 4), "must have lowest <= highest"),
        ((1, 2, 3), "a pair"),
        ("0-4", "must be greater than 0"),
        ("-4", "a range such as 4-8"),
    ],
)
def test_a_range_that_means_nothing_is_refused(given, rule):
    with pytest.raises(InputError, match=f"^n_clusters .*{rule}"):
        ModelConfig(n_clusters=given)
