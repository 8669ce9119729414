"""Labels that are old are put away; everything else stays and can still be read."""

import os
import time

import numpy as np
import pytest
from run_cases import RECIPE

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs.after_commit import Retention
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store.sent import note_sent

WINDOWS = [Window([[0.1 * i], [9.0]]) for i in range(6)]


@pytest.fixture
def folder(tmp_path):
    """Six windows in parts of their own, the first four of them a day old."""
    folder = tmp_path / "run"
    with Run.create(folder, RunConfig(("x",), RECIPE)) as run:
        run.process(WINDOWS, commit_seconds=0.0)
        for part in run.parts()[:4]:
            then = time.time() - 86400
            os.utime(folder / "labels" / part.name, (then, then))
    return folder


def apply(folder):
    with Run.open(folder) as run:
        run.lock()
        return Retention(3600.0).apply(run)


def test_old_labels_go_and_histories_stay(folder):
    with Run.open(folder) as run:
        events, clusters = run.events(), run.clusters()
    assert apply(folder) == 4
    with Run.open(folder) as run:
        assert run.labels()["step"].tolist() == [4, 4, 5, 5]
        assert run.status().n_rows == 12
        assert run.events().equals(events)
        assert run.clusters().equals(clusters)
        assert [len(record.labels) for record in run.history()] == [0, 0, 0, 0, 2, 2]
        run.verify()
    assert len(list((folder / "labels").iterdir())) == 2


def test_a_run_resumes_after_labels_were_put_away(folder):
    apply(folder)
    with Run.open(folder) as run:
        run.process(Window([[0.5], [9.0]]))
        assert run.labels()["cluster_id"].tolist()[-2:] == [0, 1]
        run.verify()


def test_labels_that_were_not_sent_stay(folder):
    with Run.open(folder) as run:
        run.lock()
        note_sent(run.store, "labels redis://somewhere/0?stream=a", 2)
    assert apply(folder) == 2


def test_a_kill_before_the_files_are_removed_leaves_none_behind(folder, monkeypatch):
    with Run.open(folder) as run:
        run.lock()
        monkeypatch.setattr("pathlib.Path.unlink", lambda *_, **__: None)
        Retention(3600.0).apply(run)
    monkeypatch.undo()
    assert len(list((folder / "labels").iterdir())) == 6
    with Run.open(folder) as run:
        run.lock()
        np.testing.assert_array_equal(run.labels()["step"], [4, 4, 5, 5])
    assert len(list((folder / "labels").iterdir())) == 2


@pytest.mark.filterwarnings("default")
def test_labels_and_scores_of_a_run_whose_old_labels_are_gone_say_so(tmp_path, capsys):
    folder = tmp_path / "run"
    with Run.create(folder, RunConfig(("x",), RECIPE, source={"truth": "who"})) as run:
        points, truth = np.arange(300)[:, None] % 2 * 9.0, np.arange(300) % 2
        run.process([Window(points, truth=truth) for _ in range(2)], commit_seconds=0.0)
        run.store.forget_parts(run.parts()[:1])
    told = "the labels of the first 300 rows were removed"
    assert main(["labels", str(folder), "--labels-only", "-o", str(tmp_path / "l.csv")]) == 0
    assert told in capsys.readouterr().err
    assert main(["score", str(folder), "--truth", "who"]) == 0
    assert told in capsys.readouterr().err
