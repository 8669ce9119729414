"""Places that streams live in, for tests: each can be sent rows and be read by a run."""

import json
import signal
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import confluent_kafka
import paho.mqtt.client as mqtt
import servers
from mock_kafka import MockKafka

from dynmeans import Penalties, Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.addresses import open_stream
from dynmeans.runs.streams.stream_windows import StreamWindows

OPTIONS = WindowOptions(features=("x", "y"), time="t", every="10", allowed_lateness="5", id="name")
PENALTIES = Penalties(1.0, max_gap=5, reach=1.5)
Row = dict[str, Any]


class RedisPlace:
    def __init__(self, folder: Path) -> None:
        self.server = servers.RedisServer(folder)

    def make(self, name: str) -> str:
        return self.server.address(name)

    def send(self, name: str, bodies: Iterable[str]) -> None:
        pipe = self.server.client().pipeline(transaction=False)
        for body in bodies:
            pipe.xadd(name, {"json": body})
        pipe.execute()

    def stop(self) -> None:
        self.server.stop()


class KafkaPlace:
    def __init__(self, folder: Path) -> None:
        self.server = MockKafka()

    def make(self, name: str) -> str:
        self.send(name, [])
        return self.server.address(name)

    def send(self, name: str, bodies: Iterable[str], partition: int = 0) -> None:
        producer = confluent_kafka.Producer({"bootstrap.servers": f"127.0.0.1:{self.server.port}"})
        producer.list_topics(name, 10)
        for body in bodies:
            producer.produce(name, body.encode(), partition=partition)
        producer.flush(30)

    def stop(self) -> None:
        self.server.stop()


class MqttPlace:
    def __init__(self, folder: Path) -> None:
        self.server = servers.MqttBroker(folder)

    def make(self, name: str) -> str:
        """The broker keeps messages for a session that has been there once."""
        address = self.server.address(name, client=name)
        done = threading.Event()
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name, clean_session=False)
        client.on_connect = lambda c, *_: c.subscribe(name, 1)
        client.on_subscribe = lambda *_: done.set()
        client.connect("127.0.0.1", self.server.port)
        client.loop_start()
        assert done.wait(10)
        client.disconnect()
        client.loop_stop()
        return address

    def send(self, name: str, bodies: Iterable[str]) -> None:
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        client.max_inflight_messages_set(1000)
        client.connect("127.0.0.1", self.server.port)
        client.loop_start()
        for info in [client.publish(name, body, qos=1) for body in bodies]:
            info.wait_for_publish(30)
        client.disconnect()
        client.loop_stop()

    def stop(self) -> None:
        self.server.stop()


class PostgresqlPlace:
    def __init__(self, folder: Path) -> None:
        self.server = servers.PostgresqlServer(folder)

    def make(self, name: str) -> str:
        with self.server.client() as client:
            client.execute(
                f"CREATE TABLE {name} (id bigserial PRIMARY KEY, t float8, x float8, y float8, "
                "name text)"
            )
        return self.server.address(name)

    def send(self, name: str, bodies: Iterable[str]) -> None:
        insert = (
            f"INSERT INTO {name} (t, x, y, name) SELECT t, x, y, name FROM "
            "json_to_record(%s) AS r(t float8, x float8, y float8, name text)"
        )
        with self.server.client() as client, client.cursor() as cursor:
            cursor.executemany(insert, [(body,) for body in bodies])

    def stop(self) -> None:
        self.server.stop(signal.SIGINT)  # gives its shared memory back


PLACES = {
    "redis": RedisPlace,
    "kafka": KafkaPlace,
    "mqtt": MqttPlace,
    "postgresql": PostgresqlPlace,
}


def rows_of(n: int, per_window: int = 12) -> list[Row]:
    """Three clusters that move; times out of order by less than the allowed lateness."""
    rows = []
    for i in range(n):
        k = i % 3
        t = 10.0 * i / per_window + (i * 7919 % 5) - 2 + i * 1e-6
        x, y = 6.0 * k + 0.002 * i + (i * 31 % 7) / 20, 9.0 * k + (i * 17 % 5) / 20
        rows.append({"t": t, "x": x, "y": y, "name": f"row {i}"})
    return rows


def bodies_of(rows: Iterable[Row]) -> list[str]:
    return [json.dumps(row) for row in rows]


def config_of(options: WindowOptions = OPTIONS, **settings: Any) -> RunConfig:
    model_config = ModelConfig(PENALTIES, **{"random_state": 0} | settings)
    return RunConfig(("x", "y"), model_config, {"input": "stream", **options.to_fields()})


def follow(
    address: str,
    folder: Path,
    *,
    options: WindowOptions = OPTIONS,
    idle_timeout: float | None = 0.2,
    stop_after: int | None = None,
    **settings: Any,
) -> StreamWindows:
    """Make the run or resume it, until the stream is idle or so many windows were taken in.

    With none to take in it stops half a second later: a run that learns first waits for rows then.
    """
    if idle_timeout and address.startswith("mqtt"):  # the broker sends, nobody asks it to
        idle_timeout = max(idle_timeout, 0.4)
    config, stop = config_of(options, **settings), threading.Event()
    is_there = (folder / "run.sqlite").exists()
    n_windows = 0
    if stop_after == 0:
        threading.Timer(0.5, stop.set).start()

    def count(record: Any, window: Any) -> None:
        nonlocal n_windows
        n_windows += 1
        if n_windows == stop_after:
            stop.set()

    with Run.open(folder, config) if is_there else Run.create(folder, config) as run:
        run.lock()
        stream = open_stream(address, options.columns, stop)
        windows = StreamWindows(stream, options, run, stop=stop, idle_timeout=idle_timeout)
        try:
            run.process(windows, commit_seconds=0.0, on_window=count)
        except StoppedError:
            assert stop_after is not None
    return windows


def labels_of(folder: Path) -> list[Row]:
    with Run.open(folder) as run:
        table = run.labels(frame="arrow").select(["step", "row_id", "time", "cluster_id"])
    return table.to_pylist()


def name_of(request: Any) -> str:
    """A name of a stream or table that no other test uses."""
    return "".join(c if c.isalnum() else "_" for c in request.node.name).lower()[-40:]
