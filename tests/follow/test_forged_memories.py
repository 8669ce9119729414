"""Memory files with a right checksum and impossible fields are refused in one line."""

import numpy as np
import pytest
from attack.held import refused

from dynmeans import DynamicMeans
from dynmeans.files.archive import write_archive
from dynmeans.follow.init_memory import memory_from_clusters
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig
from dynmeans.records.penalties import Penalties

ROWS = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]])
WILD = [-1, 0, 3, 10**30, 1.5, True, None, "2", "{}", [], {}, float("nan")]
MIXED = "standard(0,1) + cyclic:24(2,3)"
SPHERE = ["cosine", "cosine:2", "cosine:centered"]


@pytest.fixture
def memory():
    return DynamicMeans(1.0, random_state=0, max_gap=5).fit(ROWS).memory_


@pytest.mark.parametrize("value", WILD, ids=repr)
@pytest.mark.parametrize("field", ["n_features", "seed", "feature_names", "method"])
def test_a_memory_with_an_impossible_field_is_refused_or_usable(memory, field, value, tmp_path):
    arrays, header = memory._parts()
    path = tmp_path / "memory"
    write_archive(path, "Memory", 1, arrays, header | {field: value})
    is_refused, found = refused(lambda: Memory.load(path))
    if is_refused:
        return
    assert field != "n_features"
    is_refused, model = refused(lambda: DynamicMeans.from_memory(found).partial_fit(ROWS))
    if not is_refused:
        assert model.labels_.tolist() == [0, 0, 1]
        assert model.predict(ROWS).tolist() == [0, 0, 1]


@pytest.mark.parametrize("value", [-1, 0, 1, 3, 1.5, None])
def test_a_wrong_number_of_features_is_named(memory, value, tmp_path):
    arrays, header = memory._parts()
    write_archive(tmp_path / "memory", "Memory", 1, arrays, header | {"n_features": value})
    with pytest.raises(ValueError, match=r"n_features must be|clusters have 2 coordinates"):
        Memory.load(tmp_path / "memory")


def save_forged(model, path, arrays=None, **header):
    known_arrays, known = model.memory_._parts()
    for name, value in header.items():
        place, _, key = name.partition("__")
        known = known | {place: known[place] | {key: value} if key else value}
    write_archive(path, "Memory", 1, known_arrays | (arrays or {}), known)
    return path


@pytest.fixture(scope="module")
def models():
    rows = np.random.default_rng(0).uniform(1, 20, (60, 4))
    spaces = ["raw", "standard", "cyclic:24", MIXED, *SPHERE, "landmarks:6"]
    return {
        space: DynamicMeans(1.0, space=space, random_state=0, max_gap=5).fit(rows)
        for space in spaces
    }


@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 2**31 - 1, 2**31, 2**64])
@pytest.mark.parametrize("space", ["raw", "standard", "cyclic:24", MIXED, *SPHERE])
def test_a_number_of_features_that_the_space_does_not_have_is_refused(
    models, space, n_features, tmp_path
):
    with pytest.raises(ValueError, match=r"n_features|coordinates|shape|feature"):
        Memory.load(save_forged(models[space], tmp_path / "memory", n_features=n_features))


@pytest.mark.parametrize("value", ["%s", [], [[]], [1.0], [["a"]], [[1.0], [2.0, 3.0]], 7, "{}"])
@pytest.mark.parametrize(
    ("space", "field"),
    [
        ("cosine:2", "axes"),
        ("cosine:centered", "mean"),
        ("landmarks:6", "rows"),
        ("landmarks:6", "root"),
    ],
)
def test_learned_numbers_of_another_kind_are_refused(models, space, field, value, tmp_path):
    if (field, value) == ("mean", [1.0]):
        value = [1.0, 1.0]  # of four features
    path = save_forged(models[space], tmp_path / "memory", **{f"space__{field}": value})
    is_refused, _ = refused(lambda: Memory.load(path))
    assert is_refused


@pytest.mark.parametrize("value", [0.0, 1e300, -2.0, 1.0])
@pytest.mark.parametrize("space", SPHERE)
def test_stored_centers_off_the_sphere_are_refused(models, space, value, tmp_path):
    centers = np.array(models[space].memory_.clusters.centers)
    centers[0] = value
    with pytest.raises(ValueError, match=r"centers must have length 1 in this space; that of"):
        Memory.load(save_forged(models[space], tmp_path / "memory", {"clusters.centers": centers}))


def test_weights_whose_sums_have_no_length_are_refused(models, tmp_path):
    weights = np.full(models["cosine"].memory_.clusters.n_clusters, 1e300)
    path = save_forged(models["cosine"], tmp_path / "memory", {"clusters.weights": weights})
    with pytest.raises(ValueError, match=r"weights must be at most 1e\+100"):
        Memory.load(path)


def test_given_centers_off_the_sphere_are_refused():
    state = DynamicMeans(1.0, random_state=0, max_gap=5).fit(ROWS).memory_.clusters
    config = ModelConfig(penalties=Penalties(1.0, max_gap=5, reach=1.2), space="cosine")
    with pytest.raises(ValueError, match=r"centers must have length 1"):
        memory_from_clusters(config, state)


@pytest.mark.parametrize("space", ["raw", "standard", "cosine:2", "cosine:centered", "landmarks:6"])
def test_an_unchanged_memory_is_read(models, space, tmp_path):
    found = Memory.load(save_forged(models[space], tmp_path / "memory"))
    assert found.clusters == models[space].memory_.clusters
    assert found.space == models[space].memory_.space
