"""Parameters chosen on the first rows of a stream, which are then clustered, each once."""

import random
import subprocess
import sys
import threading
import time

import pytest
import stream_places as places

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.input import Input

SLOW = pytest.mark.slow
KINDS = [*(pytest.param(kind, marks=SLOW) for kind in ("kafka", "mqtt", "postgresql")), "redis"]
ROWS = places.rows_of(150)
CHOSEN = ModelConfig(random_state=0)
LONG = places.rows_of(5000, per_window=150)


@pytest.fixture(scope="session")
def suggested(tmp_path_factory):
    """What standard input makes of a stream that is long enough to choose on."""
    folder = tmp_path_factory.mktemp("suggested") / "run"
    lines = [f"{body}\n".encode() for body in places.bodies_of(LONG)]
    ClusterJob(Input("-", lines=lines), places.OPTIONS, CHOSEN, folder).start()
    return folder


def penalties_of(folder):
    with Run.open(folder) as run:
        return run.penalties


def suggest_command(address, folder, *more):
    options = [
        "-f",
        "x,y",
        "-t",
        "t",
        "--every",
        "10",
        "--allowed-lateness",
        "5",
        "--id",
        "name",
    ]
    return ["cluster", address, *options, "-o", str(folder), "--quiet", *more]


@pytest.mark.parametrize("place", KINDS, indirect=True)
def test_parameters_chosen_on_a_stream_are_those_of_standard_input(
    place, suggested, tmp_path, request
):
    name = places.name_of(request)
    address = place.make(name)
    place.send(name, places.bodies_of(LONG))
    assert main(suggest_command(address, tmp_path / "run", "--idle-timeout", "400ms")) == 0
    assert penalties_of(tmp_path / "run") == penalties_of(suggested)
    assert places.labels_of(tmp_path / "run") == places.labels_of(suggested)
    with Run.open(tmp_path / "run") as run:
        assert run.status().is_finished


@pytest.mark.parametrize("place", KINDS, indirect=True)
def test_a_kill_while_rows_to_choose_on_are_waited_for_loses_none(
    place, suggested, tmp_path, request
):
    name = places.name_of(request)
    address = place.make(name)
    bodies = places.bodies_of(LONG)
    place.send(name, bodies[:300])
    command = [sys.executable, "-m", "dynmeans.cli", *suggest_command(address, tmp_path / "run")]
    waiting = subprocess.Popen(command)
    wait_until(lambda: is_read(place, tmp_path / "run"), waiting)
    waiting.kill()
    waiting.wait()
    place.send(name, bodies[300:])
    assert main(suggest_command(address, tmp_path / "run", "--idle-timeout", "400ms")) == 0
    assert places.labels_of(tmp_path / "run") == places.labels_of(suggested)


@SLOW
@pytest.mark.parametrize("seed", range(2))
def test_kills_at_any_moment_of_waiting_and_choosing_lose_no_row(
    servers_of_session, suggested, tmp_path, seed
):
    place, name, rng = servers_of_session("mqtt"), f"waiting{seed}", random.Random(seed)
    address, bodies = place.make(name), places.bodies_of(LONG)
    command = [sys.executable, "-m", "dynmeans.cli", *suggest_command(address, tmp_path / "run")]
    for first in range(0, len(bodies), 500):
        waiting = subprocess.Popen(command)
        place.send(name, bodies[first : first + 500])
        time.sleep(rng.uniform(0.0, 2.5))
        waiting.kill()
        waiting.wait()
    assert main(suggest_command(address, tmp_path / "run", "--idle-timeout", "1s")) == 0
    assert penalties_of(tmp_path / "run") == penalties_of(suggested)
    assert places.labels_of(tmp_path / "run") == places.labels_of(suggested)


def is_read(place, folder):
    """Whether the first rows were taken: seen in the inbox of a run, where there is one."""
    if not (folder / "run.sqlite").exists():
        return False
    with Run.open(folder) as run:
        (n_kept,) = run.store.query("SELECT count(*) FROM mqtt_inbox")[0]
    return not isinstance(place, places.MqttPlace) or n_kept > 0


def wait_until(is_so, process):
    while not is_so():
        assert process.poll() is None
        time.sleep(0.05)


def test_a_run_that_waits_for_a_choice_takes_parameters_that_are_given(
    servers_of_session, tmp_path, request, capsys
):
    place, name, folder = servers_of_session("mqtt"), places.name_of(request), tmp_path / "run"
    address = place.make(name)
    place.send(name, places.bodies_of(ROWS))
    stop = threading.Event()
    job = ClusterJob(Input(address), places.OPTIONS, CHOSEN, folder)
    threading.Timer(1.0, stop.set).start()
    assert job.start(stop=stop).is_stopped
    with Run.open(folder) as run:
        assert not run.has_windows
        assert run.status().n_windows == 0
    assert main(["status", str(folder)]) == 0
    assert "waiting   for enough rows to choose parameters" in capsys.readouterr().out
    given = ModelConfig(new_penalty=1.0, max_gap=5, reach=1.5, random_state=0)
    job = ClusterJob(Input(address, idle_timeout=0.4), places.OPTIONS, given, folder)
    assert job.start().n_rows == len(ROWS)
    with Run.open(folder) as run:
        assert run.config.model_config == given
        assert run.penalties.max_gap == 5


def test_a_run_is_not_replaced_by_one_whose_parameters_are_still_to_be_chosen(suggested):
    job = ClusterJob(Input("redis://host/rows"), places.OPTIONS, CHOSEN, suggested)
    with pytest.raises(ValueError, match="overwrite requires new_penalty on a stream"):
        job.start(overwrite=True)
    with Run.open(suggested) as run:
        assert run.status().is_finished


def test_a_bad_message_after_the_last_window_of_a_short_stream_is_kept(redis, tmp_path):
    address = redis.make("short")
    redis.send("short", [*places.bodies_of(ROWS), "no row"])
    folder = tmp_path / "run"
    # Learned from more windows than there are.
    scaled = ModelConfig(new_penalty=1.0, space="standard", random_state=0)
    ClusterJob(Input(address, idle_timeout=0.2), places.OPTIONS, scaled, folder).start()
    with Run.open(folder) as run:
        assert run.status().n_dead_letters == 1
        assert run.status().is_finished
