"""A slow batch followed by a fast one."""

import warnings

import pytest

from dynmeans import DynamicMeans, ModelConfig, Run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window

# Seen at time 0 only; after the batch at time 2 it is taken to be 3 steps old at least.
BATCHES = [[[0.0], [9.0]], [[9.0]], [[9.0]], [[9.0]]]


def model():
    return DynamicMeans(1.0, max_gap=2.6, reach=1.0, random_state=0)


def test_clusters_that_a_fast_batch_could_have_seen_are_named():
    with pytest.warns(UserWarning, match=r"clusters 0 were forgotten too early: elapsed is 0.5"):
        model().fit_sequence(BATCHES, elapsed=[1.0, 1.0, 1.0, 0.5])


def test_batches_one_by_one_are_warned_of_too():
    following = model()
    for batch in BATCHES[:3]:
        following.partial_fit(batch)
    with pytest.warns(UserWarning, match="raise max_gap in proportion"):
        following.partial_fit(BATCHES[3], elapsed=0.5)


def test_windows_of_a_run_are_warned_of_too(tmp_path):
    gaps = [1.0, 1.0, 1.0, 0.5]
    windows = [Window(rows, elapsed=gap) for rows, gap in zip(BATCHES, gaps, strict=True)]
    model_config = ModelConfig(new_penalty=1.0, max_gap=2.6, reach=1.0, random_state=0)
    with Run.create(tmp_path / "run", RunConfig(("x",), model_config)) as run:
        with pytest.warns(UserWarning, match="clusters 0 were forgotten too early"):
            run.process(windows)
        assert run.status().n_windows == 4


@pytest.mark.parametrize("last", [1.0, 0.7])
def test_nothing_is_said_where_nothing_was_lost(last):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model().fit_sequence(BATCHES, elapsed=[1.0, 1.0, 1.0, last])
