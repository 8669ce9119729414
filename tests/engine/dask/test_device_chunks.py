"""Chunks on a GPU are clustered where they lie, with the bits of one machine.

Where there is no GPU the kernels' twin in NumPy stands for it.
"""

import numpy as np
import pytest
from dask_streams import DaskStream, assert_same_bits
from distributed import Client, LocalCluster
from gpu_twin import TwinRows

from dynmeans.engine import checks, native
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask import chunks, device
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.piece_run import Part

SMALL = [seed for seed in range(60) if not DaskStream(seed).is_large]


class _There(np.ndarray):
    """An array that counts as one on a device."""


class _Arrays:
    """NumPy, whose joined arrays count as lying on a device."""

    def __getattr__(self, name):
        return getattr(np, name)

    def concatenate(self, arrays):
        return np.concatenate(arrays).view(_There)


class _Twin:
    """What `dynmeans.engine.gpu.part_rows` does, in memory."""

    arrays = _Arrays()

    def __init__(self):
        self.n_opened = 0

    def to_floats(self, chunk, name, n_dimensions):
        assert chunk.ndim == n_dimensions, name
        kind = np.float32 if chunk.dtype == np.float32 and n_dimensions == 2 else np.float64
        return np.ascontiguousarray(chunk, dtype=kind).view(_There)

    def are_in_range(self, rows):
        return checks.are_in_range(np.asarray(rows))

    def magnitudes(self, points, weights):
        weights = None if weights is None else np.asarray(weights)
        return compiled.magnitudes(np.asarray(points), weights)

    def widen(self, rows):
        return rows.astype(np.float64)

    def fingerprint(self, array):
        return array.tobytes()

    def open_rows(self, points, weights, keys, n_keys, bins):
        assert isinstance(points, _There)
        rows = TwinRows(np.asarray(points), None if weights is None else np.asarray(weights))
        rows.keys, rows.bins = np.asarray(keys), bins
        self.n_opened += 1
        return rows

    def predict(self, points, state, penalties):
        return native.predict_labels(np.asarray(points), state, penalties)[0]

    def in_memory(self, array):
        return np.asarray(array)


@pytest.fixture(scope="module")
def threads():
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    with LocalCluster(**workers, dashboard_address=":0") as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def twin(monkeypatch):
    twin = _Twin()
    monkeypatch.setattr(device, "is_on_device", lambda array: isinstance(array, _There))
    monkeypatch.setattr(device, "find_device", lambda: twin)
    return twin


def _place(chunk):
    return chunk.view(_There)


@pytest.mark.parametrize("seed", SMALL[:6])
def test_chunks_on_a_device_give_the_bits_of_one_machine(threads, twin, seed):
    stream = DaskStream(seed)
    found = stream.run(on_cluster=True, place=_place)
    assert_same_bits(found, stream.run(on_cluster=False))
    assert twin.n_opened or not any(len(points) for points, *_ in stream.batches)


def _mixed(chunk, block_info=None):
    at = 0 if block_info is None else block_info[0]["chunk-location"][0]
    return _place(chunk) if at % 2 else chunk


@pytest.mark.parametrize("seed", SMALL[:3])
def test_chunks_of_which_some_are_on_a_device_give_them_too(threads, twin, seed):
    stream = DaskStream(seed)
    assert_same_bits(stream.run(on_cluster=True, place=_mixed), stream.run(on_cluster=False))


def test_a_chunk_on_a_device_that_changed_has_another_checksum(twin):
    rows = np.arange(6.0).reshape(3, 2).view(_There)
    before = chunks.checksum(chunks.to_rows(rows))
    rows[1, 1] = -1.0
    assert chunks.checksum(chunks.to_rows(rows)) != before


def test_a_piece_says_how_large_it_is_wherever_it_lies(twin):
    rows = np.zeros((50, 2)).view(_There)
    assert Piece([], [Part(0, rows, None)]).__sizeof__() > rows.nbytes


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(40))
def test_chunks_of_cupy_give_the_bits_of_one_machine(threads, seed):
    cp = pytest.importorskip("cupy")
    stream = DaskStream(seed)
    assert_same_bits(stream.run(on_cluster=True, place=cp.asarray), stream.run(on_cluster=False))
