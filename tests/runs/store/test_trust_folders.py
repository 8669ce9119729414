"""A run folder is as it was written, or refused: digests, old folders, locks between processes."""

import os
import random
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import run_cases

import dynmeans
from dynmeans import Run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.export.export_labels import export_labels
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store.dead_letters import dead_letter
from dynmeans.runs.store.schema import database_errors
from dynmeans.runs.store.sink_offsets import commit_offset
from dynmeans.runs.store.writer_lock import WriterLock, is_locked

CONFIG = RunConfig(("x", "y"), run_cases.RECIPE)
PLACES = np.array([[0.0, 0.0], [5.0, 5.0], [0.1, 0.0], [5.0, 5.2]])
CHANGES = {
    "configuration": "UPDATE configuration SET value = '4' WHERE name = 'n_init'",
    "a name of other bytes": "UPDATE configuration SET name = CAST(x'ff41' AS TEXT)"
    " WHERE name = 'n_init'",
    "a name that is no text": "UPDATE configuration SET name = x'ff' WHERE name = 'n_init'",
    "missing parts": "DELETE FROM label_files WHERE first_step = 0",
    "a missing identity": "DELETE FROM run_info",
    "a missing option": "DELETE FROM configuration WHERE name = 'revival'",
    "manifest": "UPDATE manifest SET value = replace(value, '16', '17') WHERE name = 'counts'",
    "memory": "UPDATE memory SET data = substr(data, 1, length(data) - 1)",
    "a memory of text": "UPDATE memory SET data = 'text'",
    "parts": "UPDATE label_files SET last_step = last_step + 1",
    "windows": "UPDATE windows SET elapsed = 2.0 WHERE step = 1",
    "a missing window": "DELETE FROM windows WHERE step = 1",
    "samples": "UPDATE samples SET truth = '[1, 1, 1, 1]' WHERE step = 2",
    "a missing sample": "DELETE FROM samples WHERE step = 2",
    "clusters": "UPDATE clusters SET n_points = n_points + 1 WHERE cluster_id = 0",
    "a missing cluster": "DELETE FROM clusters WHERE cluster_id = 1",
    "events": "UPDATE events SET kind = 'merged' WHERE step = 0 AND number = 0",
    "a missing event": "DELETE FROM events WHERE step = 1 AND number = 0",
    "tokens": "UPDATE idempotency_keys SET key = 'epoch 2'",
    "a missing token": "DELETE FROM idempotency_keys",
    "an empty blob for the number 0": "UPDATE windows SET n_dropped_rows = x'' WHERE step = 0",
    "dead_letters": "UPDATE dead_letters SET body = x'00'",
    "a missing letter": "DELETE FROM dead_letters",
    "what was sent": "UPDATE manifest SET value = replace(value, '3', '2') WHERE name = 'sent'",
    "what was sent is missing": "DELETE FROM manifest WHERE name = 'sent'",
}


def batches_of(n, seed=3):
    rng = np.random.default_rng(seed)
    truth = np.array([0, 1, 0, 1])
    return [Window(PLACES + rng.normal(0, 0.05, (4, 2)), truth=truth) for _ in range(n)]


@pytest.fixture
def folder(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(batches_of(3), commit_seconds=0.0)
        run.process(batches_of(1, seed=4), idempotency_key="epoch 1")
        run.store_dead_letters({}, [dead_letter("line 3", "no row", b"{")])
        commit_offset(run.store, "events a", 3)
    return tmp_path / "run"


def execute(folder, sql):
    with sqlite3.connect(folder / "run.sqlite") as connection:
        assert connection.execute(sql).rowcount > 0
    connection.close()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_verifying_finds_a_change_in_any_table(folder, change):
    with Run.open(folder) as run:
        run.verify()
    execute(folder, change)
    with pytest.raises(ValueError, match="damaged"), Run.open(folder) as run:
        run.verify()


def test_a_run_without_its_identity_says_that_it_is_damaged(folder):
    execute(folder, "DELETE FROM run_info")
    with Run.open(folder) as run, pytest.raises(ValueError, match="its run ID is missing"):
        run.status()


def test_a_missing_table_is_damage_told_in_one_line(folder):
    with sqlite3.connect(folder / "run.sqlite") as connection:
        connection.execute("DROP TABLE samples")
    connection.close()
    with (
        pytest.raises(ValueError, match="no such table: samples"),
        Run.open(folder) as run,
    ):
        run.verify()


def test_a_database_that_cannot_be_opened_is_not_said_to_be_unwritable(tmp_path):
    path = tmp_path / "run.sqlite"
    with (
        pytest.raises(PermissionError, match=r"cannot open '.*run\.sqlite'"),
        database_errors(path),
    ):
        sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)


def test_damage_is_told_with_a_way_out(folder):
    with sqlite3.connect(folder / "run.sqlite") as connection:
        connection.execute("DROP TABLE clusters")
    connection.close()
    with (
        pytest.raises(ValueError, match=r"damaged.*Restore the folder from a back-up"),
        Run.open(folder) as run,
    ):
        run.clusters()


@pytest.mark.parametrize(
    ("change", "read"),
    [
        (CHANGES["configuration"], lambda run: run.config),
        (CHANGES["manifest"], lambda run: run.status()),
        (CHANGES["parts"], lambda run: run.labels()),
        (CHANGES["windows"], lambda run: run.history()),
        (CHANGES["a missing window"], lambda run: run.history()),
        (CHANGES["samples"], lambda run: list(run.samples())),
        (CHANGES["clusters"], lambda run: run.clusters()),
        (CHANGES["events"], lambda run: run.events(kinds=["merged"])),
        (CHANGES["a missing event"], lambda run: run.history()),
    ],
)
def test_a_changed_row_is_noticed_when_it_is_read(folder, change, read):
    execute(folder, change)
    with pytest.raises(ValueError, match="damaged"), Run.open(folder) as run:
        read(run)


def test_a_flipped_bit_in_a_part_never_changes_exported_labels(folder, tmp_path):
    part = folder / "labels" / "part-000000000001.parquet"
    whole = part.read_bytes()
    rng = random.Random(5)
    for _ in range(12):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        part.write_bytes(data)
        with Run.open(folder) as run, pytest.raises(ValueError, match="damaged"):
            export_labels(run, tmp_path / "out.csv", labels_only=True)


def test_a_flipped_bit_in_the_database_never_changes_what_is_read(folder):
    path = folder / "run.sqlite"
    whole, before = path.read_bytes(), shown(folder)
    rng = random.Random(7)
    for _ in range(30):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            found = shown(folder)
        except (ValueError, OSError):
            continue
        assert found == before
    path.write_bytes(whole)
    assert shown(folder) == before


def shown(folder):
    """All that people read of a run, as text."""
    with Run.open(folder) as run:
        tables = (run.labels(), run.clusters(), run.events(), run.history().to_frame())
        samples = [(s.step, s.points.tolist(), s.cluster_ids.tolist()) for s in run.samples()]
        return [table.to_csv() for table in tables], samples, run.cluster_state.centers.tolist()


def test_labels_whose_parts_are_gone_from_the_database_are_refused(folder):
    execute(folder, "DELETE FROM label_files")
    with (
        Run.open(folder) as run,
        pytest.raises(ValueError, match="a part of its labels is missing"),
    ):
        run.labels()


def test_the_version_that_wrote_a_run_is_recorded(folder):
    with Run.open(folder) as run:
        status = run.status()
    assert (status.created_with, status.last_written_with) == (dynmeans.__version__,) * 2


def test_the_lock_is_held_from_creation(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        with pytest.raises(OSError, match="another process is writing"):
            Run.create(tmp_path / "run", CONFIG, overwrite=True)
        with Run.open(tmp_path / "run") as other, pytest.raises(OSError, match="another process"):
            other.process(Window(PLACES))
        run.process(Window(PLACES))


def test_a_run_made_by_another_process_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    class LateLock(WriterLock):
        def __init__(self, folder):
            monkeypatch.setattr("dynmeans.runs.store.store.WriterLock", WriterLock)
            with Run.create(folder, CONFIG) as other:  # it was faster
                other.process(Window(PLACES))
            super().__init__(folder)

    monkeypatch.setattr("dynmeans.runs.store.store.WriterLock", LateLock)
    with pytest.raises(FileExistsError, match="already contains a run"):
        Run.create(tmp_path / "run", CONFIG)
    with Run.open(tmp_path / "run") as run:
        assert run.status().n_windows == 1


def test_a_run_replaced_since_it_was_opened_is_not_written_to(folder):
    with Run.open(folder) as run:
        other = RunConfig(("x", "y"), replace(run_cases.RECIPE, n_init=7))
        Run.create(folder, other, overwrite=True).close()
        with pytest.raises(OSError, match="has replaced the run"):
            run.process(Window(PLACES))


def test_asking_whether_a_run_is_written_takes_no_lock(folder):
    handle = os.open(folder / "writer.lock", os.O_RDONLY)
    try:
        assert not is_locked(folder)
        # Thousands of looks from another process, and a writer that must never be turned away.
        look = (
            "from pathlib import Path; from dynmeans.runs.store.writer_lock import is_locked; "
            f"[is_locked(Path({str(folder)!r})) for _ in range(10_000)]"
        )
        with subprocess.Popen([sys.executable, "-c", look]) as process:
            while process.poll() is None:
                WriterLock(folder).release()
    finally:
        os.close(handle)


def test_a_writer_is_seen_by_others(folder):
    lock = WriterLock(folder)
    assert is_locked(folder)
    lock.release()
    assert not is_locked(folder)
