"""Over Dask, fit_groups gives what it gives on one machine."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from dynmeans import fit_groups
from dynmeans.follow.recipe import Recipe

RECIPE = Recipe(new_penalty=2.0, random_state=5)
OPTIONS = {"by": "sensor", "features": ["x", "y"], "batch": "hour", "recipe": RECIPE}


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "sensor": [f"s{k}" for k in rng.integers(40, size=900)],
            "hour": np.sort(rng.integers(5, size=900)),
            "x": rng.normal(size=900) * 3,
            "y": rng.normal(size=900) * 3,
        }
    )


def parted(frame, n_parts=4):
    return dd.from_pandas(frame, npartitions=n_parts, sort=False)


@pytest.mark.parametrize("n_parts", [1, 4])
def test_labels_states_and_batches_equal_those_of_one_machine(frame, n_parts):
    local = fit_groups(frame, **OPTIONS)
    found = fit_groups(parted(frame, n_parts), **OPTIONS)
    np.testing.assert_array_equal(found.labels.compute(), local.labels)
    assert found.states == local.states
    assert found.batches.equals(local.batches)


def test_labels_keep_the_partitions_of_the_frame(frame):
    spread = parted(frame)
    found = fit_groups(spread, **OPTIONS)
    assert found.labels.chunks[0] == tuple(map(len, spread.partitions))


def test_states_go_on_from_one_machine_to_dask(frame):
    whole = fit_groups(frame, **OPTIONS)
    early = fit_groups(frame[frame.hour < 2], **OPTIONS)
    late = fit_groups(parted(frame[frame.hour >= 2]), **OPTIONS, state=early.states)
    assert late.states == whole.states


def test_empty_partitions_are_taken(frame):
    spread = parted(frame)
    spread = spread[spread.hour < 2]
    found = fit_groups(spread, **OPTIONS)
    assert found.states == fit_groups(frame[frame.hour < 2], **OPTIONS).states


def test_bad_rows_are_named_by_partition(frame):
    frame.loc[500, "x"] = np.nan
    with pytest.raises(ValueError, match=r"nan in column 'x' of row 50 of partition 2 \(key"):
        fit_groups(parted(frame), **OPTIONS)
    frame.loc[500, "sensor"] = None
    with pytest.raises(ValueError, match=r"partition 2: by must have a value in every row"):
        fit_groups(parted(frame), **OPTIONS)


@pytest.mark.slow
def test_separate_worker_processes_give_the_same_bits(frame):
    local = fit_groups(frame, **OPTIONS)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        found = fit_groups(parted(frame), **OPTIONS)
        np.testing.assert_array_equal(found.labels.compute(), local.labels)
        assert found.states == local.states
