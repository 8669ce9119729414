"""Memory files with a right checksum and impossible fields are refused in one line."""

import numpy as np
import pytest
from attack.held import refused

from dynmeans import DynamicMeans
from dynmeans.files.archive import write_archive
from dynmeans.follow.memory import Memory

ROWS = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]])
WILD = [-1, 0, 3, 10**30, 1.5, True, None, "2", "{}", [], {}, float("nan")]


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
