"""Parts of labels are joined behind the run: no row is lost, and no reader notices."""

import shutil
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest
from run_cases import RECIPE

from dynmeans import Run
from dynmeans.runs.after_commit import Retention
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store import compaction, label_files
from dynmeans.runs.store.label_tables import label_tables

CONFIG = RunConfig(("x",), RECIPE)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(compaction, "AT_ONCE", 4)


@pytest.fixture
def an_hour_later(monkeypatch):
    """What was joined goes at the next commit, or start."""
    monkeypatch.setattr(label_files, "KEPT_SECONDS", -1.0)


def windows(n, first=0, n_rows=3):
    return [Window(np.arange(n_rows)[:, None] * 9.0 + 0.01 * i) for i in range(first, first + n)]


def files_of(folder):
    return sorted(path.name for path in (folder / "labels").iterdir())


def test_a_window_a_commit_leaves_few_files(tmp_path, an_hour_later):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(300), commit_seconds=0.0)
        labels = run.labels()
        run.verify()
    assert labels["step"].tolist() == np.repeat(np.arange(300), 3).tolist()
    assert labels["row_id"].tolist() == list(range(900))
    with Run.open(tmp_path / "run") as run:
        assert run.labels().equals(labels)
        run.lock()
        assert [part.name for part in run.label_files()] == files_of(tmp_path / "run")
        assert (
            len(run.label_files()) <= 300 - 63 * 2
        )  # how many depends on how fast they are joined
        run.verify()


def test_parts_are_joined_level_by_level(tmp_path, few, an_hour_later):
    with Run.create(tmp_path / "run", CONFIG) as run:
        for i in range(200):
            run.process(windows(1, first=i))
            run._joining.close()
    with Run.open(tmp_path / "run") as run:
        run.lock()
    names = files_of(tmp_path / "run")
    assert len(names) < 16
    assert any(".3.parquet" in name for name in names)


def test_readers_that_look_at_an_earlier_commit_read_all_its_rows(tmp_path, few, an_hour_later):
    folder = tmp_path / "run"
    with Run.create(folder, CONFIG) as run:
        run.process(windows(3), commit_seconds=0.0)
        with Run.open(folder) as reader, reader.store.snapshot():
            tables = reader.label_tables()
            first = next(tables)
            for i in range(3, 40):
                run.process(windows(1, first=i))
                run._joining.close()
            assert not (folder / "labels" / reader.label_files()[1].name).exists()
            rest = [row for table in tables for row in table["row_id"].to_pylist()]
    assert first["row_id"].to_pylist() + rest == list(range(9))


def test_a_part_that_is_gone_and_named_still_is_damage(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(3), commit_seconds=0.0)
        (tmp_path / "run" / "labels" / run.label_files()[1].name).unlink()
        with pytest.raises(ValueError, match="is missing"):
            list(run.label_tables())


def test_readers_see_all_rows_of_each_commit_while_parts_are_joined(tmp_path, few):
    folder, is_over, found = tmp_path / "run", threading.Event(), []
    with Run.create(folder, CONFIG) as run:
        run.process(windows(1))

        def read():
            while not is_over.is_set():
                with Run.open(folder) as reader, reader.store.snapshot():
                    n_rows = reader.status().n_rows
                    found.append((n_rows, len(reader.labels(frame="arrow"))))
                with Run.open(folder) as reader:
                    reader.verify()

        thread = threading.Thread(target=read)
        thread.start()
        run.process(windows(250, first=1), commit_seconds=0.0)
        is_over.set()
        thread.join()
    assert len(found) > 1
    assert all(n_rows == n_labels for n_rows, n_labels in found)


def test_parts_that_were_put_away_meanwhile_are_not_brought_back(tmp_path, few, monkeypatch):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(3), commit_seconds=0.0)
        run.process(windows(1, first=3))  # a thread joins four
        run.store.delete_label_files(run.label_files()[:2])
        run._joining.close()
        assert run.labels(first_step=2)["step"].unique().tolist() == [2, 3]
        assert [part.name for part in run.label_files()] == files_of(tmp_path / "run")
        run.verify()


def test_a_joined_part_is_as_old_as_its_last(tmp_path, few):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(4), commit_seconds=0.0)
        run._joining.close()
        assert len(run.label_files()) == 1
        assert Retention(3600.0).apply(run, is_last=True) == 0
        assert Retention(-1.0).apply(run, is_last=True) == 1


def test_large_parts_are_left_alone(tmp_path, few, monkeypatch):
    monkeypatch.setattr(compaction, "MAX_ROWS", 11)
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(9), commit_seconds=0.0)
    assert len(files_of(tmp_path / "run")) == 9


def test_a_damaged_part_stops_the_joining_and_not_the_run(tmp_path, few, caplog):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(3), commit_seconds=0.0)
        path = tmp_path / "run" / "labels" / run.label_files()[0].name
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        run.process(windows(20, first=3), commit_seconds=0.0)
        assert run.status().n_windows == 23
    assert "label files are not compacted" in caplog.text


def test_windows_of_a_history_get_their_labels_across_joined_parts(tmp_path, few):
    with Run.create(tmp_path / "run", CONFIG) as run:
        for i in range(30):
            run.process(windows(1, first=i, n_rows=1 + i % 4))
            run._joining.close()
        assert [len(record.labels) for record in run.history()] == [1 + i % 4 for i in range(30)]
        assert len(list(label_tables(run.store, 5, 9))) <= 3
        assert run.labels(first_step=5, last_step=9)["step"].unique().tolist() == [5, 6, 7, 8, 9]


def test_parts_are_read_without_pandas(tmp_path):
    """A process that follows a stream for days joins parts, and needs no frame."""
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(3), commit_seconds=0.0)
    code = (
        "import sys; from dynmeans import Run;"
        f"print(len(Run.open({str(tmp_path / 'run')!r}).labels(frame='arrow')),"
        " 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "9 False"


@pytest.mark.parametrize("then", ["run on", "end", "resume", "be killed"])
def test_a_copy_of_the_database_and_then_of_the_labels_is_a_whole_run(tmp_path, few, then):
    """As docs/runs.md says, whatever the run does between the two copies."""
    folder, copy = tmp_path / "run", tmp_path / "copy"
    copy.mkdir()
    with Run.create(folder, CONFIG) as run:
        run.process(windows(7), commit_seconds=0.0)
        with sqlite3.connect(folder / "run.sqlite") as source:
            source.backup(sqlite3.connect(copy / "run.sqlite"))
        n_before = run.status().n_windows
        for i in range(7, 40):
            run.process(windows(1, first=i))
            run._joining.close()
        if then in ("run on", "be killed"):
            shutil.copytree(folder / "labels", copy / "labels")
    if then == "resume":
        with Run.open(folder) as run:
            run.process(windows(9, first=40), commit_seconds=0.0)
    if then in ("end", "resume"):
        shutil.copytree(folder / "labels", copy / "labels")
    if then == "be killed":  # what is left of a commit that was not made goes at the next start
        (folder / "labels" / "part-000000000099.parquet").write_bytes(b"half")
        with Run.open(folder) as run:
            run.lock()
        assert "part-000000000099.parquet" not in files_of(folder)
    with Run.open(copy) as run:
        assert run.status().n_windows == n_before
        run.verify()
        assert run.labels()["step"].tolist() == np.repeat(np.arange(7), 3).tolist()
    with Run.open(copy) as run:  # the copy goes on like the run itself
        run.process(windows(1, first=7))
        run.verify()
