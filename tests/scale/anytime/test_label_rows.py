"""The last pass labels every row, and adds up what they cost."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from blobs import blobs, write_parquet

from dynmeans.scale import fit_anytime, label_rows

POINTS = blobs(9000)
RESULT = fit_anytime(
    POINTS[:-1000], new_penalty=4.0, batch_size=1000, max_batches=3, random_state=1
)


def check(labeling, labels):
    expected = RESULT.predict(POINTS)
    np.testing.assert_array_equal(labels, expected)
    assert labeling.n_unlabeled == np.sum(expected == -1)
    np.testing.assert_array_equal(
        labeling.counts, [np.sum(expected == i) for i in RESULT.memory.clusters.ids]
    )
    distances = ((POINTS[:, None] - RESULT.centers) ** 2).sum(axis=2).min(axis=1)
    cost = np.minimum(distances, 4.0).sum() + 4.0 * RESULT.n_clusters
    assert labeling.cost == pytest.approx(cost, rel=1e-12)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr("dynmeans.scale.anytime.label_rows._CHUNK_ROWS", 700)


def test_the_sample_has_rows_that_no_cluster_takes():
    assert np.sum(RESULT.predict(POINTS) == -1) > 0


def test_an_array_is_labeled_in_memory():
    labeling = label_rows(POINTS, RESULT)
    check(labeling, labeling.labels)


def test_a_memory_map_is_labeled_into_a_file(tmp_path):
    np.save(tmp_path / "points.npy", POINTS)
    labeling = label_rows(tmp_path / "points.npy", RESULT, to=tmp_path / "labels.npy", n_threads=2)
    check(labeling, np.load(tmp_path / "labels.npy"))


def test_parquet_files_get_a_file_of_labels_each(tmp_path):
    folder = write_parquet(POINTS, tmp_path / "parts", rows_per_file=4000)
    labeling = label_rows(folder, RESULT, to=tmp_path / "labels")
    names = sorted(path.name for path in (tmp_path / "labels").iterdir())
    assert names == ["part-0.parquet", "part-1.parquet", "part-2.parquet"]
    found = pd.concat([pd.read_parquet(path) for path in labeling.labels])
    check(labeling, found["cluster_id"])


def test_a_dask_array_is_labeled_into_a_file(tmp_path):
    source = da.from_array(POINTS, chunks=(2000, 2))
    labeling = label_rows(source, RESULT, to=tmp_path / "labels.npy")
    check(labeling, np.load(tmp_path / "labels.npy"))


def test_progress_counts_rows_to_the_last():
    seen = []
    label_rows(POINTS, RESULT, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (700, 9000)
    assert seen[-1] == (9000, 9000)


def test_labels_are_never_written_over_the_source(tmp_path):
    folder = write_parquet(POINTS, tmp_path / "parts")
    with pytest.raises(ValueError, match="to must not be the folder of the source"):
        label_rows(folder, RESULT, to=folder)


def test_what_cannot_be_labeled_is_refused(tmp_path):
    with pytest.raises(TypeError, match="read again, got an iterator"):
        label_rows(iter([POINTS]), RESULT)
    with pytest.raises(ValueError, match="source has 1 features, but the result"):
        label_rows(POINTS[:, :1], RESULT)
    with pytest.raises(ValueError, match="to must be a path"):
        label_rows(da.from_array(POINTS), RESULT)
    bad = POINTS.copy()
    bad[3000, 0] = np.nan
    with pytest.raises(ValueError, match="source must be finite"):
        label_rows(bad, RESULT)
