"""Producer, broker and run are killed over and over; at the end the run is the unbroken one.

Usage: stream_kill_driver.py KIND FOLDER N_KILLS SEED; prints counts as JSON: kills of each, rows,
windows, and windows that were committed before the last kill.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import confluent_kafka
import paho.mqtt.client as mqtt
import psycopg
import redis
import servers
import stream_places as places

from dynmeans import Run
from dynmeans.runs.reading.live_windows import LiveWindows

# A producer that starts again repeats its last rows where it cannot know which arrived.
OVERLAP = 60
OPTIONS = replace(places.OPTIONS, allowed_lateness="80", deduplicate=True)
NAME = "rows"
PAUSE = 0.004  # of the producer, between rows
# Before most kills the run commits a window, so that it is killed at work; seconds.
SHARE_AT_WORK, LONGEST_WAIT = 0.7, 4.0
# What the broker acknowledged it must have written: at every change.
servers.MqttBroker.saving = "autosave_on_changes true\nautosave_interval 1\n"
VICTIMS = ("producer", "broker", "run")


def produce_redis(place: Any, bodies: list[str]) -> None:
    client = place.server.client()
    top = client.xrevrange(NAME, count=1)
    for i in range(int(top[0][0].split(b"-")[0]) if top else 0, len(bodies)):
        with suppress(redis.ResponseError):  # an entry on its way when its sender was killed
            client.xadd(NAME, {"json": bodies[i]}, id=f"{i + 1}-0")
        time.sleep(PAUSE)


def produce_kafka(place: Any, bodies: list[str]) -> None:
    settings = {"bootstrap.servers": f"127.0.0.1:{place.server.port}", "log_level": 0}
    probe = confluent_kafka.Consumer(settings | {"group.id": "probe"})
    partition = confluent_kafka.TopicPartition(NAME, 0)
    _, n_there = probe.get_watermark_offsets(partition, 10)
    probe.close()
    producer = confluent_kafka.Producer(settings | {"linger.ms": 1})
    sent = place.progress()
    for i in range(max(0, min(sent, n_there) - OVERLAP), len(bodies)):
        producer.produce(NAME, bodies[i].encode(), partition=0)
        producer.flush(10)
        place.note(i)
        time.sleep(PAUSE)


def produce_mqtt(place: Any, bodies: list[str]) -> None:
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", place.server.port)
    client.loop_start()
    for i in range(max(0, place.progress() - OVERLAP), len(bodies)):
        info = client.publish(NAME, bodies[i], qos=1)
        info.wait_for_publish(5)
        if not info.is_published():
            raise ConnectionError("the broker is away")
        place.note(i)
        time.sleep(PAUSE)


def produce_postgresql(place: Any, bodies: list[str]) -> None:
    with place.server.client() as client:
        client.autocommit = False
        (done,) = client.execute(f"SELECT count(*) FROM {NAME}").fetchone()
        rng = random.Random(done)
        while done < len(bodies):
            n = rng.randint(1, 9)
            for body in bodies[done : done + n]:
                client.execute(
                    f"INSERT INTO {NAME} (t, x, y, name) SELECT t, x, y, name FROM "
                    "json_to_record(%s) AS r(t float8, x float8, y float8, name text)",
                    (body,),
                )
            client.commit()
            done += n
            time.sleep(n * PAUSE)


PRODUCERS = {
    "redis": produce_redis,
    "kafka": produce_kafka,
    "mqtt": produce_mqtt,
    "postgresql": produce_postgresql,
}


class Attack:
    """One stream with its three processes."""

    def __init__(self, kind: str, folder: Path, n_kills: int, seed: int) -> None:
        self.kind, self.folder, self.n_kills = kind, folder, n_kills
        self.rng, self.kills = random.Random(seed), Counter[str]()
        # About as many rows as it takes to be still at work when the last kill comes.
        rows = places.rows_of(200 + 40 * n_kills)
        self.bodies = places.bodies_of(rows)
        self.place = places.PLACES[kind](folder / "server")
        self.place.progress, self.place.note = self._progress, self._note
        self.address = self.place.make(NAME)
        self.children: dict[str, int] = {}

    def _progress(self) -> int:
        path = self.folder / "progress"
        return int(path.read_text() or 0) if path.exists() else 0

    def _note(self, i: int) -> None:
        if i <= self._progress():  # rows that are repeated
            return
        fresh = self.folder / "progress.new"
        fresh.write_text(str(i))
        fresh.rename(self.folder / "progress")

    def go(self) -> dict[str, Any]:
        """Kill until it is enough, then let all come to the end and compare."""
        try:
            while sum(self.kills.values()) < self.n_kills:
                self._keep_alive("producer", self._produce)
                self._keep_alive("run", lambda: self._follow(None))
                if self.rng.random() < SHARE_AT_WORK:
                    self._wait_for_a_window()
                time.sleep(self.rng.uniform(0.0, 0.15))
                self._kill(self.rng.choice(VICTIMS))
            self._kill_child("run")
            n_before = self._n_windows()
            self._keep_alive("producer", self._produce)
            self._wait_for("producer")
            self._fork("run", lambda: self._follow(4.0))
            self._wait_for("run")
            self._compare()
            windows = {"windows": self._n_windows(), "windows before the last kill": n_before}
            return {"kills": dict(self.kills), "rows": len(self.bodies), **windows}
        finally:
            for victim in list(self.children):
                self._kill_child(victim)
            self.place.stop()

    def _kill(self, victim: str) -> None:
        if victim != "broker":
            self.kills[victim] += self._kill_child(victim)
        elif self.kind == "kafka":  # its log is in memory: it goes down with it, and comes up
            self.place.server.down()
            time.sleep(self.rng.uniform(0.02, 0.4))
            self.place.server.up()
            self.kills["broker"] += 1
        else:
            if self.kind == "mqtt":  # may have acknowledged a row that it had not written yet:
                self._kill_child("producer")  # it begins with earlier rows when it starts again
            self.place.server.restart()
            self.kills["broker"] += 1

    def _kill_child(self, name: str) -> int:
        child = self.children.pop(name, None)
        if child is None:
            return 0
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        return int(os.WIFSIGNALED(status))

    def _keep_alive(self, name: str, work: Callable[[], None]) -> None:
        """Start a process that ended; that a run fails is a failure of the attack."""
        child = self.children.get(name)
        if child is not None:
            done, status = os.waitpid(child, os.WNOHANG)
            if done == 0:
                return
            if name == "run":
                raise AssertionError(f"the run ended with {status}: {self._errors()}")
        self._fork(name, work)

    def _wait_for(self, name: str) -> None:
        for _ in range(20):
            _, status = os.waitpid(self.children.pop(name), 0)
            if status == 0:
                return
            if name == "run":
                raise AssertionError(f"the run ended with {status}: {self._errors()}")
            self._fork("producer", self._produce)
        raise AssertionError(f"the producer does not come to its end: {self._errors()}")

    def _errors(self) -> str:
        return (self.folder / "errors").read_text()[-600:]

    def _fork(self, name: str, work: Callable[[], None]) -> None:
        child = os.fork()
        if child:
            self.children[name] = child
            return
        code = 1
        try:
            log = os.open(self.folder / "errors", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 2)
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _produce(self) -> None:
        with suppress(OSError, redis.RedisError, psycopg.Error):
            PRODUCERS[self.kind](self.place, self.bodies)
            return
        sys.stderr.write("the producer was cut off\n")
        os._exit(3)

    def _follow(self, idle_timeout: float | None) -> None:
        places.follow(self.address, self.folder / "run", options=OPTIONS, idle_timeout=idle_timeout)

    def _wait_for_a_window(self) -> None:
        n_before, end = self._n_windows(), time.monotonic() + LONGEST_WAIT
        while self._n_windows() == n_before and time.monotonic() < end:
            time.sleep(0.02)

    def _n_windows(self) -> int:
        path = self.folder / "run" / "run.sqlite"
        if not path.exists():
            return 0
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM windows").fetchone()[0]
        finally:
            connection.close()

    def _compare(self) -> None:
        expected = self.folder / "unbroken"
        with Run.create(expected, places.config_of(OPTIONS)) as run:
            run.process_all(LiveWindows(self.bodies, OPTIONS), commit_seconds=2.0)
        found, wanted = held(self.folder / "run"), held(expected)
        for part in wanted:
            if found[part] != wanted[part]:
                n = len(found["labels"]), len(wanted["labels"])
                raise AssertionError(
                    f"{part} differ after {dict(self.kills)}: {n[0]} of {n[1]} rows"
                )


def held(folder: Path) -> dict[str, Any]:
    """What a run found; not where its source stood."""
    with Run.open(folder) as run:
        run.verify()
        labels = run.labels(frame="arrow").select(["step", "row_id", "time", "cluster_id"])
        events, state = run.events(frame="arrow").to_pylist(), run.cluster_state
        return {
            "labels": labels.to_pylist(),
            "events": events,
            "centers": state.centers.tolist(),
            "letters": list(run.dead_letters()),
        }


if __name__ == "__main__":
    kind, folder, n_kills, seed = sys.argv[1:]
    counts = Attack(kind, Path(folder), int(n_kills), int(seed)).go()
    sys.stdout.write(json.dumps(counts) + "\n")
