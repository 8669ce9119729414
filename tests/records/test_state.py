"""A state is a value: frozen, checked, saved whole."""

import contextlib
import json
import os
import pickle
import shutil
import tracemalloc
import zipfile

import numpy as np
import pytest

from dynmeans import ClusterState, DynamicMeans
from dynmeans.files.archive import write_archive
from dynmeans.follow.init_memory import memory_from_clusters
from dynmeans.follow.model_config import ModelConfig

FIELDS = {
    "ids": [3, 7],
    "centers": [[0.0, 1.0], [2.0, 3.0]],
    "weights": [5.0, 6.0],
    "ages": [1.0, 2.0],
    "next_id": 9,
    "n_steps": 4,
}


def test_state_does_not_change_with_the_arrays_it_was_made_from():
    centers = np.array(FIELDS["centers"])
    state = ClusterState(**{**FIELDS, "centers": centers})
    centers[:] = 99.0
    assert state.centers.tolist() == FIELDS["centers"]


def test_state_arrays_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        ClusterState(**FIELDS).centers[0] = 1.0


def test_states_are_equal_when_every_field_is():
    assert ClusterState(**FIELDS) == ClusterState(**FIELDS)
    assert ClusterState(**FIELDS) != ClusterState(**{**FIELDS, "n_steps": 5})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("ids", [7, 3], "ids must be increasing"),
        ("ids", [-1, 3], "not negative"),
        ("ids", [3], "must have one row for each of 1 ids"),
        ("centers", [[0.0, np.nan], [2.0, 3.0]], "centers must be finite"),
        ("centers", [0.0, 1.0], "centers two"),
        ("centers", np.empty((2, 0)), "n_features must be at least 1"),
        ("weights", [0.0, 1.0], "weights must be greater than 0"),
        ("ages", [np.inf, 1.0], "ages must be greater than 0 and finite"),
        ("next_id", 7, "next_id must be above every id"),
        ("next_id", 2**63 - 1, "next_id must be at most 2\\*\\*62, got .*: no IDs are left"),
        ("next_id", 9.5, "next_id must be an integer of at least 0, got 9.5"),
        ("n_steps", -1, "n_steps must be an integer of at least 0, got -1"),
        ("n_steps", 2**63, "n_steps must be at most"),
        ("time", np.inf, "time must be a finite number of at least 0, got inf"),
    ],
)
def test_bad_rows_are_refused_by_name(field, value, message):
    with pytest.raises(ValueError, match=message):
        ClusterState(**{**FIELDS, field: value})


def test_saved_state_loads_to_the_same_bits(tmp_path):
    state = ClusterState(**{**FIELDS, "weights": [0.1 + 0.2, 1 / 3]})
    state.save(tmp_path / "state")
    assert ClusterState.load(tmp_path / "state") == state


def test_saving_replaces_the_file_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "state.npz"
    ClusterState.empty(2).save(path)
    ClusterState(**FIELDS).save(path)
    assert ClusterState.load(path) == ClusterState(**FIELDS)
    assert [p.name for p in tmp_path.iterdir()] == ["state.npz"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    ClusterState(**FIELDS).save(path)

    def fail_halfway(file, *arguments, **options):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail_halfway)
    with pytest.raises(OSError, match="disk full"):
        ClusterState.empty(2).save(path)
    assert ClusterState.load(path) == ClusterState(**FIELDS)
    assert [p.name for p in tmp_path.iterdir()] == ["state.npz"]


def test_loading_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        ClusterState.load(tmp_path / "nowhere")


@pytest.mark.parametrize("n_bytes", [0, 1, 40, 200, 700])
def test_truncated_file_is_refused(tmp_path, n_bytes):
    path = tmp_path / "state"
    ClusterState(**FIELDS).save(path)
    path.write_bytes(path.read_bytes()[:-n_bytes] if n_bytes else b"")
    with pytest.raises(ValueError, match="damaged"):
        ClusterState.load(path)


def test_foreign_file_is_refused(tmp_path):
    path = tmp_path / "state"
    np.savez(path, ids=[1])
    with pytest.raises(ValueError, match="is not a dynmeans ClusterState file"):
        ClusterState.load(f"{path}.npz")


def _rewrite(path, name, change):
    """Replace one member of the zip file, its own checksum included."""
    old = path.with_suffix(".old")
    shutil.move(path, old)
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(path, "w") as target:
        for member in source.namelist():
            data = source.read(member)
            target.writestr(member, change(data) if member == name else data)


def _edit_header(**changes):
    def change(data):
        start = data.index(b'{"')
        header = {**json.loads(data[start:]), **changes}
        body = json.dumps(header, sort_keys=True).encode()
        return data[:start].replace(str(len(data) - start).encode(), str(len(body)).encode()) + body

    return change


def test_tampered_numbers_are_refused(tmp_path):
    path = tmp_path / "state"
    ClusterState(**FIELDS).save(path)
    _rewrite(path, "weights.npy", lambda data: data[:-1] + b"\x41")
    with pytest.raises(ValueError, match="checksum differs"):
        ClusterState.load(path)


def test_tampered_counter_is_refused(tmp_path):
    path = tmp_path / "state"
    ClusterState(**FIELDS).save(path)
    _rewrite(path, "metadata.npy", _edit_header(next_id=8))
    with pytest.raises(ValueError, match="checksum differs"):
        ClusterState.load(path)


def test_unknown_version_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "state"
    ClusterState(**FIELDS).save(path)
    _rewrite(path, "metadata.npy", _edit_header(version=9))
    with pytest.raises(ValueError, match="format version 9; this dynmeans reads version 1"):
        ClusterState.load(path)


def _saved(path, **changes):
    """Write a file as `save` would, checksum included, with other arrays or metadata."""
    state = ClusterState(**FIELDS)
    arrays = {
        name: getattr(state, name) for name in ("ids", "centers", "weights", "ages", "counts")
    }
    counters = {"next_id": 9, "n_steps": 4, "time": 4.0}
    for name, value in changes.items():
        (counters if name in counters else arrays)[name] = value
    write_archive(path, "ClusterState", 1, arrays, counters)


@pytest.mark.parametrize(
    "changes",
    [
        {"next_id": 2**63 - 1},
        {"next_id": "9"},
        {"n_steps": None},
        {"time": float("nan")},
        {"wings": np.ones(2)},
        {"ids": np.array(["a", "b"])},
        {"ids": np.array([7, 3])},
        {"ids": np.array([3.5, 7.5])},
        {"weights": np.ones((2, 2))},
        {"centers": np.full((2, 2), np.inf)},
    ],
)
def test_a_file_that_no_save_could_have_written_is_refused_in_one_line(tmp_path, changes):
    _saved(tmp_path / "state", **changes)
    with pytest.raises(
        ValueError, match="is not a dynmeans ClusterState file, or it is damaged"
    ) as e:
        ClusterState.load(tmp_path / "state")
    assert len(str(e.value).splitlines()) == 1


def _peak_memory(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _load_refused(path, reason):
    with pytest.raises(ValueError, match=f"damaged: .*{reason}"):
        ClusterState.load(path)


def test_a_small_file_cannot_take_much_memory(tmp_path):
    path = tmp_path / "bomb"
    with open(path, "wb") as file:
        np.savez_compressed(file, metadata=np.zeros(50_000_000, dtype=np.uint8))
    assert _peak_memory(lambda: _load_refused(path, "compressed")) < 5_000_000


def test_a_shape_larger_than_the_file_takes_no_memory(tmp_path):
    path = tmp_path / "state"
    ClusterState(**FIELDS).save(path)
    _rewrite(
        path,
        "weights.npy",
        lambda data: data.replace(b"(2,), ", b"(9999999999,), ").replace(b"         \n", b"\n"),
    )
    assert _peak_memory(lambda: _load_refused(path, "does not fit its bytes")) < 5_000_000


def test_a_pipe_or_a_folder_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(ValueError, match="is not a regular file"):
            ClusterState.load(path)


def test_any_flipped_bit_is_refused_or_changes_nothing(tmp_path):
    path, state = tmp_path / "state", ClusterState(**FIELDS)
    state.save(path)
    data = path.read_bytes()
    for bit in range(0, 8 * len(data), 53):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with contextlib.suppress(ValueError):
            assert ClusterState.load(path) == state


def test_a_state_off_a_network_is_read_where_its_bytes_are_not_aligned():
    state = DynamicMeans(1.0, random_state=0).fit([[0.0, 1.0], [9.0, 9.0]]).state_
    buffers = []
    data = pickle.dumps(state, protocol=5, buffer_callback=buffers.append)
    shifted = [memoryview(b"x" + bytes(buffer.raw()))[1:] for buffer in buffers]
    again = pickle.loads(data, buffers=shifted)
    assert buffers
    assert again == state
    assert all(getattr(again, name).flags.aligned for name in ("ids", "centers", "weights"))
    assert DynamicMeans.from_memory(memory_from_clusters(ModelConfig(1.0), again)).predict(
        [[9.0, 9.0]]
    ).tolist() == [1]
