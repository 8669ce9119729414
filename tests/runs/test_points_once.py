"""A window is mapped into its space once, and its rows are not kept."""

import numpy as np
import pytest

from dynmeans import DynamicMeans, Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.spaces.standard import Standard

ROWS = np.random.default_rng(0).normal(size=(30, 2)) * [1.0, 50.0]


def test_a_run_maps_every_window_into_its_space_once(tmp_path, monkeypatch):
    n_mapped, to_points = [], Standard.to_points

    def counted(space, rows):
        n_mapped.append(len(rows))
        return to_points(space, rows)

    model_config = ModelConfig(new_penalty=4.0, space="standard", random_state=0)
    with Run.create(tmp_path / "run", RunConfig(("x", "y"), model_config)) as run:
        run.process(Window(ROWS))
        monkeypatch.setattr(Standard, "to_points", counted)
        run.process([Window(ROWS + 0.1), Window(ROWS[:20])])
    assert n_mapped == [30, 20]


@pytest.mark.parametrize("space", ["raw", "standard"])
def test_distances_of_a_run_are_those_of_the_estimator(space, tmp_path):
    given = {"new_penalty": 4.0, "space": space, "random_state": 0}
    model = DynamicMeans(**given).fit(ROWS)
    with Run.create(tmp_path / "run", RunConfig(("x", "y"), ModelConfig(**given))) as run:
        run.process(Window(ROWS))
        labels = run.labels()
    away = model.transform(ROWS)[np.arange(30), np.searchsorted(model.cluster_ids_, model.labels_)]
    np.testing.assert_allclose(labels["distance"], away, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("space", ["raw", "standard"])
def test_an_estimator_keeps_no_rows(space):
    model = DynamicMeans(new_penalty=4.0, space=space, keep_history=True, random_state=0)
    model.partial_fit(ROWS).partial_fit(ROWS).partial_fit(ROWS)
    assert model._step.points is None
