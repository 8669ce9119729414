import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paper.results_file import ResultsFile, read_results
from paper.run_tasks import run_tasks

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.float64()), ("answer", pa.float64())])
KEY = ("a", "b")
CONFIGURATION = {"n_trials": 2, "noise": "isotropic", "grid": [1, 2.5]}
TASKS = [{"a": a, "b": b} for a in range(3) for b in (0.1, None)]


def opened(path, **changes):
    configuration = CONFIGURATION | changes
    return ResultsFile(path, experiment="x", configuration=configuration, schema=SCHEMA, key=KEY)


def answer(task):
    return {**task, "answer": task["a"] + 0.5}


def test_rows_configuration_and_machine_are_read_back(tmp_path):
    path = tmp_path / "deep" / "r.parquet"
    with opened(path) as results:
        results.append(answer(task) for task in TASKS)
    read = read_results(path, "x")
    assert read.configuration == CONFIGURATION
    assert read.frame["answer"].tolist() == [0.5, 0.5, 1.5, 1.5, 2.5, 2.5]
    assert read.frame["session"].tolist() == [0] * 6
    assert {"processor", "n_cores", "versions", "started", "python"} <= read.sessions[0].keys()
    assert os.listdir(path.parent) == ["r.parquet"]


def test_second_session_is_told_what_is_missing_and_numbers_its_rows(tmp_path):
    with opened(tmp_path / "r") as results:
        results.append([answer(TASKS[0]), answer(TASKS[3])])
    with opened(tmp_path / "r") as results:
        assert results.missing(TASKS) == [TASKS[1], TASKS[2], TASKS[4], TASKS[5]]
        results.append([answer(TASKS[1])])
    read = read_results(tmp_path / "r", "x")
    assert read.frame["session"].tolist() == [0, 0, 1]
    assert len(read.sessions) == 2


def test_task_asked_for_twice_is_missing_once(tmp_path):
    with opened(tmp_path / "r") as results:
        assert results.missing([TASKS[0], TASKS[0]]) == [TASKS[0]]


def test_rows_are_kept_when_the_block_fails(tmp_path):
    def fails(task):
        return answer(task) if task["a"] < 1 else 1 / 0

    with pytest.raises(ZeroDivisionError), opened(tmp_path / "r") as results:
        run_tasks(fails, TASKS, results)
    assert len(read_results(tmp_path / "r", "x").frame) == 2


def test_row_of_a_trial_that_is_there_already_is_refused(tmp_path):
    with opened(tmp_path / "r") as results:
        results.append([answer(TASKS[0])])
        with pytest.raises(ValueError, match=r"a row already of \{'a': 0, 'b': 0.1\}"):
            results.append([answer(TASKS[0])])


def test_file_of_another_configuration_is_refused_field_by_field(tmp_path):
    with opened(tmp_path / "r") as results:
        results.append([answer(TASKS[0])])
    before = (tmp_path / "r").read_bytes()
    expected = "n_trials is 2 there and 9 here; speed is 'nothing' there and 'high' here"
    with (
        pytest.raises(ValueError, match=expected),
        opened(tmp_path / "r", n_trials=9, speed="high"),
    ):
        pass
    assert (tmp_path / "r").read_bytes() == before
    assert os.listdir(tmp_path) == ["r"]


def test_file_that_another_run_writes_to_is_refused(tmp_path):
    with opened(tmp_path / "r") as results:
        with pytest.raises(ValueError, match="another run is writing"), opened(tmp_path / "r"):
            pass
        results.append([answer(TASKS[0])])
    assert len(read_results(tmp_path / "r", "x").frame) == 1


def test_file_of_another_experiment_is_refused(tmp_path):
    with opened(tmp_path / "r"):
        pass
    with pytest.raises(ValueError, match="is of the experiment 'x', not 'y'"):
        read_results(tmp_path / "r", "y")


def test_file_that_is_no_results_file_is_refused(tmp_path):
    (tmp_path / "text").write_text("hello")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "table")
    for name in ("text", "table"):
        with pytest.raises(ValueError, match="not a dynmeans results file"):
            read_results(tmp_path / name, "x")
    with pytest.raises(FileNotFoundError, match="no results file"):
        read_results(tmp_path / "nowhere", "x")


def test_file_of_a_later_format_is_refused(tmp_path):
    header = {"version": 2, "experiment": "x", "configuration": {}, "sessions": []}
    table = pa.table({"a": [1]}).replace_schema_metadata(
        {"dynmeans.experiment": json.dumps(header)}
    )
    pq.write_table(table, tmp_path / "r")
    with pytest.raises(ValueError, match="format version 2; this dynmeans reads version 1"):
        read_results(tmp_path / "r", "x")


def test_tasks_are_run_once_in_chunks_and_progress_counts_effort(tmp_path):
    seen = []
    with opened(tmp_path / "r") as results:
        results.append([answer(TASKS[0])])
        run_tasks(
            answer,
            TASKS,
            results,
            effort=lambda task: 0.5,
            on_progress=lambda done, total: seen.append((done, total)),
        )
    assert seen == [(1.0, 2.5), (2.0, 2.5), (2.5, 2.5)]
    assert len(read_results(tmp_path / "r", "x").frame) == len(TASKS)


KILLED = """
import sys, time
sys.path[:0] = [{tests!r}, {root!r}]
from test_results_file import TASKS, answer, opened, run_tasks

def slow(task):
    time.sleep({pause})
    return answer(task)

with opened({path!r}) as results:
    run_tasks(slow, TASKS, results)
"""


def test_killed_run_continues_with_exactly_what_is_missing(tmp_path):
    path, tests = str(tmp_path / "r"), Path(__file__).parent
    places = {"tests": str(tests), "root": str(tests.parents[1]), "path": path}
    code = KILLED.format(**places, pause=0.4)
    with subprocess.Popen([sys.executable, "-c", code]) as run:
        while not os.path.exists(path):
            assert run.poll() is None
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
    n_before = len(read_results(path, "x").frame)
    assert 0 < n_before < len(TASKS)
    ran = []
    with opened(path) as results:
        run_tasks(lambda task: ran.append(task) or answer(task), TASKS, results)
    assert len(ran) == len(TASKS) - n_before
    assert read_results(path, "x").frame["answer"].tolist() == [0.5, 0.5, 1.5, 1.5, 2.5, 2.5]
