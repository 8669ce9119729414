"""Chunks that are computed again must hold the rows they held: one clear error, never a mixture."""

import os
import signal

import dask.array as da
import numpy as np
import pytest
from dask_streams import before_rounds, crowd, kill_a_worker

from dynmeans import ClusterState, DynamicMeans, Penalties, VisitingOrders, step
from dynmeans.engine.dask.chunks import RowsChangedError, checksum
from dynmeans.engine.dask.piece import ChunkInfo, make_piece

PENALTIES = Penalties(0.02, revival_penalty=0.001, drift=0.5)
ORDERS = VisitingOrders(4)
ROWS = np.arange(8.0).reshape(4, 2)


def unseeded_batch():
    """Rows that are others each time they are made."""

    def load(block):
        return np.random.default_rng().random(block.shape).round(2)

    return da.zeros((40_000, 2), chunks=(8_000, 2)).map_blocks(load, dtype=float)


def info_of(rows, weights=None):
    weight_checksum = None if weights is None else checksum(weights)
    return ChunkInfo(7, 100, len(rows), checksum(rows), weight_checksum)


def test_chunk_with_other_rows_is_refused_by_its_number():
    with pytest.raises(RowsChangedError, match=r"chunk 7 of points \(rows 100 to 103 of the batch"):
        make_piece([info_of(ROWS)], [ROWS + 1.0], None, None)


@pytest.mark.parametrize("rows", [ROWS[::-1], ROWS[:3], ROWS.astype(np.float32)])
def test_shuffled_missing_and_narrowed_rows_are_other_rows(rows):
    with pytest.raises(RowsChangedError, match="holds other values than before"):
        make_piece([info_of(ROWS)], [rows], None, None)


def test_chunk_with_other_weights_is_refused_by_its_number():
    weights = np.ones(4)
    with pytest.raises(RowsChangedError, match="chunk 7 of sample_weight"):
        make_piece([info_of(ROWS, weights)], [ROWS], [2 * weights], None)


def test_chunk_with_the_same_rows_is_taken():
    weights = np.ones(4)
    piece = make_piece([info_of(ROWS, weights)], [ROWS.copy()], [weights.copy()], None)
    np.testing.assert_array_equal(piece.parts[0].points, ROWS)


def kill_one(client, workers):
    pid = client.run(os.getpid, workers=workers[:1])[workers[0]]
    os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_rows_that_change_when_a_worker_dies_in_mid_step_are_an_error(
    cluster_to_break, monkeypatch
):
    model = DynamicMeans(0.02, random_state=0).partial_fit(crowd(1))
    before = dict(model.__dict__)
    before_rounds(monkeypatch, {2: kill_one})
    with pytest.raises(RowsChangedError, match=r"chunk \d of points .* Nothing was changed"):
        model.partial_fit(unseeded_batch())
    assert model.__dict__ == before


@pytest.mark.slow
def test_labels_of_rows_that_changed_are_an_error(cluster_to_break):
    _, clustering = step(unseeded_batch(), ClusterState.empty(2), PENALTIES, orders=ORDERS)
    kill_a_worker(cluster_to_break, 0)
    with pytest.raises(RowsChangedError, match=r"chunk \d of points"):
        clustering.labels.compute()
