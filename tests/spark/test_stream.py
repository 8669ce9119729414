"""A Spark stream whose driver is killed: every row labeled once, the state of the unbroken run.

Spark starts in its own process, with workers of their own in the long form. What needs no Spark is
in test_micro_batches.py.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dynmeans import DynamicMeans, Run

DRIVER = Path(__file__).parent / "spark_driver.py"
N_FILES = 6
CLUSTER = "local-cluster[2,1,1024]"  # two workers, processes of their own

pytestmark = pytest.mark.skipif(
    shutil.which("java") is None, reason="Spark needs Java: make system-deps installs it"
)


def frame(number, n_rows=200):
    rng = np.random.default_rng(number)
    places = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]]) + 0.2 * number
    points = places[rng.integers(3, size=n_rows)] + 0.3 * rng.normal(size=(n_rows, 2))
    seconds = pd.to_timedelta(number * 3600 + np.arange(n_rows), unit="s")
    return pd.DataFrame(
        {
            "name": [f"r{number}-{i}" for i in range(n_rows)],
            "seen": (pd.Timestamp("2026-01-01") + seconds).astype("datetime64[us]"),
            "x": points[:, 0],
            "y": points[:, 1],
        }
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("stream") / "in", N_FILES)


def write_files(folder, n_files):
    folder.mkdir()
    for number in range(n_files):
        path = folder / f"part-{number}.parquet"
        frame(number).to_parquet(path)
        os.utime(path, (1_700_000_000 + number,) * 2)  # Spark takes files in order of their time.
    return folder


def spark(*arguments):
    """Run the driver in a session of its own, so that it and all its children can be killed."""
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, str(DRIVER), *map(str, arguments)],
        env=environment,
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=900,
    )
    return done.returncode, done.stdout + done.stderr


def expected_of(n_files):
    """Names, labels and state of the same rows without Spark."""
    model, labels = DynamicMeans(new_penalty=2.0, random_state=3), []
    for number in range(n_files):
        labels.extend(model.partial_fit(frame(number)[["x", "y"]].to_numpy()).labels_)
    return pd.concat([frame(number) for number in range(n_files)]), labels, model


def results(folder):
    with Run.open(folder) as run:
        run.verify()
        return run.labels(), run.cluster_state


def test_epoch_that_spark_hands_over_again_is_taken_once_and_the_udf_labels_its_rows(tmp_path):
    """The short form, with one Spark in one process."""
    source, run, out = write_files(tmp_path / "in", 2), tmp_path / "run", tmp_path / "out.csv"
    code, output = spark("resume_and_label", "local[1]", source, run, tmp_path / "checkpoint", out)
    assert code == 0, output
    labels, state = results(run)
    rows, expected, model = expected_of(2)
    assert labels["row_id"].tolist() == rows["name"].tolist()
    assert labels["cluster_id"].tolist() == expected
    assert state == model.state_
    found = pd.read_csv(out)
    assert found["epochs"][0] == "[0, 1, 1]"
    named = found.set_index("name").loc[rows["name"], "cluster_id"]
    assert named.tolist() == model.predict(rows[["x", "y"]].to_numpy()).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("master", ["local[2]", CLUSTER])
def test_every_row_is_labeled_once_though_the_driver_is_killed(master, source, tmp_path):
    folder, checkpoint = tmp_path / "run", tmp_path / "checkpoint"
    for death in ("before:2", "after:2", "before:1", "after:1", "none"):
        code, output = spark("follow", master, source, folder, checkpoint, death)
        assert code == (0 if death == "none" else -signal.SIGKILL), output
    labels, state = results(folder)
    rows, expected, model = expected_of(N_FILES)
    assert labels["row_id"].tolist() == rows["name"].tolist()
    assert labels["cluster_id"].tolist() == expected
    assert state == model.state_


@pytest.mark.slow
def test_the_unbroken_stream_gives_the_same_folder_and_the_udf_its_labels(source, tmp_path):
    folder, checkpoint = tmp_path / "run", tmp_path / "checkpoint"
    code, output = spark("follow", "local[2]", source, folder, checkpoint, "none")
    assert code == 0, output
    broken = tmp_path / "broken"
    for death in ("before:3", "none"):
        spark("follow", "local[2]", source, broken, tmp_path / "other", death)
    pd.testing.assert_frame_equal(results(folder)[0], results(broken)[0])
    assert results(folder)[1] == results(broken)[1]


@pytest.mark.slow
def test_the_udf_labels_rows_as_predict_does(source, tmp_path):
    model = expected_of(N_FILES)[2]
    model.memory_.save(tmp_path / "memory.npz")
    last = frame(N_FILES - 1)
    last.loc[3, "x"] = np.nan
    last.loc[5, "x"] = 1e6
    last.to_parquet(tmp_path / "rows.parquet")
    code, output = spark(
        "label", CLUSTER, tmp_path / "rows.parquet", tmp_path / "memory.npz", tmp_path / "out.csv"
    )
    assert code == 0, output
    found = pd.read_csv(tmp_path / "out.csv").set_index("name").loc[last["name"], "cluster_id"]
    is_whole = np.arange(len(last)) != 3
    expected = model.predict(last.loc[is_whole, ["x", "y"]].to_numpy())
    assert found[is_whole].tolist() == expected.tolist()
    assert found.iloc[5] == -1
    assert np.isnan(found.iloc[3])
