"""Labels that are old are put away; everything else stays and can still be read."""

import os
import threading
import time
import warnings

import numpy as np
import pytest
from run_cases import RECIPE

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs.after_commit import Retention
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store.run_tables import step_records
from dynmeans.runs.store.sink_offsets import commit_offset

REMOVED = "labels of the first 8 rows were removed as too old"
WINDOWS = [Window([[0.1 * i], [9.0]]) for i in range(6)]


@pytest.fixture
def folder(tmp_path):
    """Six windows in parts of their own, the first four of them a day old."""
    folder = tmp_path / "run"
    with Run.create(folder, RunConfig(("x",), RECIPE)) as run:
        run.process(WINDOWS, commit_seconds=0.0)
        for part in run.label_files()[:4]:
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
        with pytest.warns(UserWarning, match=REMOVED):
            assert run.labels()["step"].tolist() == [4, 4, 5, 5]
        assert run.status().n_rows == 12
        assert run.events().equals(events)
        assert run.clusters().equals(clusters)
        with pytest.warns(UserWarning, match=REMOVED):
            assert [len(record.labels) for record in run.history()] == [0, 0, 0, 0, 2, 2]
        run.verify()
    assert len(list((folder / "labels").iterdir())) == 2


def test_a_run_resumes_after_labels_were_put_away(folder):
    apply(folder)
    with Run.open(folder) as run:
        run.process(Window([[0.5], [9.0]]))
        assert run.labels(first_step=4)["cluster_id"].tolist()[-2:] == [0, 1]
        run.verify()


def test_labels_that_were_not_sent_stay(folder):
    with Run.open(folder) as run:
        run.lock()
        commit_offset(run.store, "labels redis://somewhere/0?stream=a", 2)
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
        np.testing.assert_array_equal(run.labels(first_step=4)["step"], [4, 4, 5, 5])
    assert len(list((folder / "labels").iterdir())) == 2


@pytest.mark.filterwarnings("default")
def test_labels_and_scores_of_a_run_whose_old_labels_are_gone_say_so(tmp_path, capsys):
    folder = tmp_path / "run"
    with Run.create(folder, RunConfig(("x",), RECIPE, source={"truth": "who"})) as run:
        points, truth = np.arange(300)[:, None] % 2 * 9.0, np.arange(300) % 2
        run.process([Window(points, truth=truth) for _ in range(2)], commit_seconds=0.0)
        run.store.delete_label_files(run.label_files()[:1])
    told = "the labels of the first 300 rows were removed"
    assert main(["labels", str(folder), "--labels-only", "-o", str(tmp_path / "l.csv")]) == 0
    assert told in capsys.readouterr().err
    assert main(["score", str(folder), "--truth", "who"]) == 0
    assert told in capsys.readouterr().err


def few_rows(i):
    """A window of its own size, so that labels of another one are noticed."""
    return Window(np.array([[9.0 * j] for j in range(1 + i % 4)]))


def run_of_sizes(folder, n=40):
    with Run.create(folder, RunConfig(("x",), RECIPE)) as run:
        run.process([few_rows(i) for i in range(n)], commit_seconds=0.0)


def test_a_window_never_gets_labels_of_another_while_labels_are_removed(tmp_path):
    folder = tmp_path / "run"
    run_of_sizes(folder)
    with Run.open(folder) as reader, Run.open(folder) as writer:
        writer.lock()
        records = step_records(reader.store, 1, True, 0, None)
        next(records), next(records)
        parts = writer.label_files()
        gone = [part for part in parts if part.last_step < 20]
        writer.store.delete_label_files(gone)
        writer.store.remove_files(gone)
        with pytest.warns(UserWarning, match="labels of the first .* were removed as too old"):
            rest = list(records)
    sizes = {record.step: len(record.labels) for record in rest}
    assert list(sizes) == list(range(2, 40))
    assert all(sizes[step] in (0, 1 + step % 4) for step in range(2, 20))
    assert all(sizes[step] == 1 + step % 4 for step in range(20, 40))


def test_labels_that_are_removed_while_they_are_read_are_reported(tmp_path):
    folder = tmp_path / "run"
    run_of_sizes(folder)
    with Run.open(folder) as reader, Run.open(folder) as writer:
        writer.lock()
        tables = reader.label_tables()
        next(tables)
        gone = writer.label_files()[:10]
        writer.store.delete_label_files(gone)
        writer.store.remove_files(gone)
        with pytest.warns(UserWarning, match="were removed as too old"):
            rest = [step for table in tables for step in table["step"].to_pylist()]
    assert min(rest) == gone[-1].last_step + 1


def test_a_window_whose_labels_are_missing_without_removal_is_damage(tmp_path):
    folder = tmp_path / "run"
    run_of_sizes(folder, 6)
    with Run.open(folder) as run:
        run.lock()
        part = run.label_files()[2]
        with run.store.transaction() as connection:
            connection.execute("DELETE FROM label_files WHERE first_step = ?", (part.first_step,))
        with pytest.raises(ValueError, match="damaged"):
            run.history(first_step=1)


def test_histories_beside_a_writer_that_removes_labels_hold_their_own_labels(tmp_path):
    folder, is_over, wrong, n_read = tmp_path / "run", threading.Event(), [], []

    def read():
        while not is_over.is_set():
            with Run.open(folder) as reader, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                history = reader.history()
            n_read.append(len(history))
            wrong.extend(
                r.step for r in history if len(r.labels) not in (0, 1 + r.step % 4)
            )  # fmt: skip

    with Run.create(folder, RunConfig(("x",), RECIPE)) as run:
        run.process([few_rows(0)])
        thread = threading.Thread(target=read)
        thread.start()
        for i in range(1, 200):
            run.process([few_rows(i)])
            gone = run.label_files()[:-3]
            if gone:
                run.store.delete_label_files(gone)
                run.store.remove_files(gone)
        is_over.set()
        thread.join()
    assert n_read
    assert wrong == []
