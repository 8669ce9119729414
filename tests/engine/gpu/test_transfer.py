"""Copies between memory and a card: nobody else's rows, and nothing before its time."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fake_cupy import Array, Fake, modules_on


@pytest.fixture
def fake():
    return Fake()


@pytest.fixture
def transfer(fake, monkeypatch):
    with modules_on(fake, "transfer") as (module,):
        for name, value in (("_BUFFER", 256), ("_THREADS", 3), ("_SMALL", 0)):
            monkeypatch.setattr(module, name, value)
        yield module


def _rows(seed):
    return np.random.default_rng(seed).normal(size=(1_500, 2))


def test_threads_that_copy_rows_at_the_same_time_get_their_own(transfer):
    batches = [_rows(seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            found = list(pool.map(transfer.to_device, batches))
            for rows, there in zip(batches, found, strict=True):
                np.testing.assert_array_equal(there.values, rows)


def test_threads_that_fetch_at_the_same_time_get_their_own(transfer):
    batches = [_rows(seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(transfer.to_memory, map(Array, batches)))
    for rows, here in zip(batches, found, strict=True):
        np.testing.assert_array_equal(here, rows)


def _leave_pending(fake, size):
    """Free memory that a slow kernel of the current stream will still write to."""
    block = np.zeros(size, np.uint8)
    fake.current.add(lambda: block.fill(7))
    fake.free.append(block)


def test_rows_are_copied_after_what_still_writes_to_their_memory(fake, transfer):
    rows = _rows(0)
    _leave_pending(fake, rows.nbytes)
    there = transfer.to_device(rows)
    fake.current.synchronize()
    np.testing.assert_array_equal(there.values, rows)


def test_labels_are_fetched_after_the_kernel_that_writes_them(fake, transfer):
    labels = np.zeros(4_000, np.int32)
    fake.current.add(lambda: labels.fill(5))
    assert (transfer.to_memory(Array(labels)) == 5).all()


def test_blocks_are_brought_after_what_still_writes_to_their_room(fake):
    with modules_on(fake, "blocks") as (module,):
        rows, found = _rows(1), []
        for _ in range(2):
            _leave_pending(fake, 400 * rows[:1].nbytes)
        blocks = module.Blocks(Array(rows), 400)
        for at, begin, end in blocks:
            values = _memory_at(int(at) + rows[:begin].nbytes, rows[begin:end])
            fake.current.add(lambda values=values: found.append(values.copy()))
        fake.current.synchronize()
        np.testing.assert_array_equal(np.vstack(found), rows)


def _memory_at(address, like):
    """A view of the memory of a device, in the shape of other rows."""

    buffer = (ctypes.c_char * like.nbytes).from_address(address)
    return np.frombuffer(buffer, like.dtype).reshape(like.shape)
