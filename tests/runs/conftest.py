"""Folders and finished runs that several tests read."""

import tempfile
from pathlib import Path

import pytest
import run_cases
import servers
import stream_places as places


@pytest.fixture
def quick_path():
    """A folder in memory where there is one: there, waiting for the disk costs nothing."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """A table of thirty windows as Parquet."""
    path = tmp_path_factory.mktemp("tables") / "moving.parquet"
    run_cases.moving_table(30).to_parquet(path, index=False)
    return path


@pytest.fixture(scope="session")
def finished(table, tmp_path_factory):
    """A run over that table; to be read, not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    run_cases.follow(table, folder)
    return folder


@pytest.fixture(scope="session")
def servers_of_session(tmp_path_factory):
    """Each server is started once, when the first test asks for it."""
    started = {}

    def get(kind):
        if kind != "kafka":
            servers.need(kind)
        if kind not in started:
            started[kind] = places.PLACES[kind](tmp_path_factory.mktemp(kind))
        return started[kind]

    yield get
    for place in started.values():
        place.stop()


@pytest.fixture
def place(request, servers_of_session):
    return servers_of_session(request.param)


@pytest.fixture
def redis(servers_of_session):
    return servers_of_session("redis")
