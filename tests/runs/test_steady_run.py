"""Runs whose clusters keep a course: stored, resumed, read, told from damaged ones."""

import sqlite3

import numpy as np
import pytest
import run_cases

from dynmeans import DynamicMeans, Penalties, Run
from dynmeans.cli.__main__ import main
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window

PENALTIES = Penalties(
    0.02, max_gap=5, reach=1.2, motion="constant_velocity", moving_features=[0, 1]
)
CONFIG = RunConfig(("x", "y"), ModelConfig(PENALTIES, random_state=0))
STREAM = moving_gaussians(
    10, 4, rng=np.random.default_rng(1), motion=0.05, spread=0.02, motion_model="constant_velocity"
)
WINDOWS = [Window(batch) for batch in STREAM.batches]


@pytest.fixture
def folder(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(WINDOWS)
    return tmp_path / "run"


def test_run_equals_the_estimator(folder):
    model = DynamicMeans(0.02, max_gap=5, reach=1.2, motion="constant_velocity", random_state=0)
    _, history = model.fit_sequence(STREAM.batches)
    with Run.open(folder, CONFIG) as run:
        assert run.cluster_state == model.state_
        assert run.penalties == PENALTIES
        for record, expected in zip(run.history(), history, strict=True):
            np.testing.assert_array_equal(record.velocities, expected.velocities)
            assert record.events == expected.events


def test_resumed_run_is_the_one_that_never_stopped(folder, tmp_path):
    with Run.create(tmp_path / "halves", CONFIG) as run:
        run.process(WINDOWS[:4])
    with Run.open(tmp_path / "halves") as run:
        run.process(WINDOWS[4:])
    assert run_cases.contents(tmp_path / "halves") == run_cases.contents(folder)


def test_changed_velocities_are_found(folder):
    with sqlite3.connect(folder / "run.sqlite") as connection:
        connection.execute("UPDATE windows SET velocities = zeroblob(length(velocities))")
    connection.close()
    with Run.open(folder) as run, pytest.raises(ValueError, match="damaged"):
        run.verify()


def test_motion_of_another_kind_is_refused(folder):
    model_config = ModelConfig(PENALTIES.with_motion("random_walk"), random_state=0)
    with pytest.raises(ValueError, match=r"penalties was .*motion constant_velocity.*, is .*"):
        Run.open(folder, RunConfig(("x", "y"), model_config))


def test_configuration_is_read_as_it_was_stored():
    assert RunConfig.from_fields(CONFIG.to_fields()) == CONFIG


def test_command_line_takes_motion_and_moving_features(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_cases.moving_table(8).to_csv("rows.csv", index=False)
    options = ["-f", "x,y", "--time", "when", "--every", "1min", "--new-penalty", "1"]
    steady = [
        "--motion",
        "constant_velocity",
        "--moving-features",
        "y",
    ]
    assert main(["cluster", "rows.csv", *options, *steady, "-o", "run"]) == 0
    with Run.open("run") as run:
        assert run.penalties.moving_features == (1,)
        assert run.cluster_state.velocities.any()
        assert not run.cluster_state.velocities[:, 0].any()
    capsys.readouterr()
    assert (
        main(
            [
                "cluster",
                "rows.csv",
                *options,
                "--moving-features",
                "y",
                "-o",
                "other",
            ]
        )
        == 1
    )
    assert "--moving-features needs --motion" in capsys.readouterr().err
