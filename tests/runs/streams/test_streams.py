"""Rows from Redis, Kafka, MQTT and PostgreSQL: read once each, wherever the run is stopped."""

import json
import threading
from dataclasses import replace

import confluent_kafka
import pytest
import servers
import stream_places as places
from run_cases import contents

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.store.sink_offsets import commit_offset
from dynmeans.runs.streams.addresses import open_stream
from dynmeans.runs.streams.message import RowsLostError

# Making a database takes seconds.
KINDS = ["redis", "kafka", "mqtt", pytest.param("postgresql", marks=pytest.mark.slow)]
ROWS = places.rows_of(150)


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory):
    """What standard input makes of the same rows."""
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    with Run.create(folder, places.config_of()) as run:
        run.process_all(LiveWindows(places.bodies_of(ROWS), places.OPTIONS), commit_seconds=0.0)
    return places.labels_of(folder)


@pytest.mark.parametrize("place", KINDS, indirect=True)
def test_a_stream_gives_what_standard_input_gives(place, unbroken, tmp_path, request):
    name = places.name_of(request)
    address = place.make(name)
    place.send(name, places.bodies_of(ROWS))
    places.follow(address, tmp_path / "run")
    assert places.labels_of(tmp_path / "run") == unbroken


@pytest.mark.parametrize("place", KINDS, indirect=True)
def test_a_stream_stopped_anywhere_is_the_unbroken_run(place, unbroken, tmp_path, request):
    name = places.name_of(request)
    address = place.make(name)
    bodies = places.bodies_of(ROWS)
    place.send(name, bodies[:80])
    places.follow(address, tmp_path / "run", stop_after=2, idle_timeout=None)
    places.follow(address, tmp_path / "run", stop_after=1, idle_timeout=None)
    place.send(name, bodies[80:])
    places.follow(address, tmp_path / "run")
    assert places.labels_of(tmp_path / "run") == unbroken


@pytest.mark.parametrize("place", KINDS, indirect=True)
def test_messages_that_are_no_rows_are_kept_once_with_the_reason(place, tmp_path, request):
    name = places.name_of(request)
    address = place.make(name)
    good = places.bodies_of(ROWS[:40])
    bad = '{"t": 3, "x": null, "y": 1, "name": "hole"}'
    place.send(name, [good[0], bad, *good[1:]])
    places.follow(address, tmp_path / "run", stop_after=1, idle_timeout=None)
    places.follow(address, tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        (letter,) = run.dead_letters()
        assert run.status().n_dead_letters == 1
        assert run.status().n_rows == 40
        run.verify()
    assert "has no finite value for 'x'" in letter["reason"]
    assert json.loads(letter["body"])["name"] == "hole"


@pytest.mark.parametrize(
    ("on_missing", "expected"), [("error", (1, 0)), ("drop", (0, 1))], ids=["kept", "dropped"]
)
def test_messages_read_again_are_not_counted_again(redis, tmp_path, on_missing, expected):
    rows = [ROWS[0] | {"t": float(t), "name": str(t)} for t in (1, 2, 11, 17, 18, 29, 45)]
    bodies = places.bodies_of(rows)
    bad = '{"t": 12, "x": null, "y": 1, "name": "hole"}'
    name = f"again_{on_missing}"
    address = redis.make(name)
    # The window of 11 is still open when that of 1 closes: what follows 11 is read again.
    redis.send(name, [*bodies[:3], bad, *bodies[3:]])
    options = replace(places.OPTIONS, on_missing=on_missing)
    places.follow(address, tmp_path / "run", options=options, stop_after=1, idle_timeout=None)
    places.follow(address, tmp_path / "run", options=options)
    with Run.open(tmp_path / "run") as run:
        status = run.status()
    assert (status.n_dead_letters, status.n_dropped_rows) == expected
    assert status.n_rows == 7


def test_rows_that_come_too_late_are_letters_or_counted(redis, tmp_path):
    bodies = places.bodies_of([*ROWS[:60], ROWS[0] | {"name": "late"}])
    address = redis.make("late")
    redis.send("late", bodies)
    places.follow(address, tmp_path / "kept")
    places.follow(address, tmp_path / "left", options=replace(places.OPTIONS, on_late="drop"))
    with Run.open(tmp_path / "kept") as kept, Run.open(tmp_path / "left") as left:
        assert [
            (run.status().n_late_rows, run.status().n_dead_letters) for run in (kept, left)
        ] == [
            (0, 1),
            (1, 0),
        ]
        (letter,) = kept.dead_letters()
    assert "which is closed" in letter["reason"]


@pytest.mark.parametrize(
    "body",
    ["not json", "[1]", '{"t": "noon", "x": 1, "y": 1, "name": "a"}', "[" * 100_000, "",
     '{"t": 1, "x": 1e200, "y": 1, "name": "a"}', '{"t": 1e300, "x": 1, "y": 1, "name": "a"}'],
    ids=["text", "list", "time", "deep", "empty", "large", "far"],
)  # fmt: skip
def test_no_message_stops_a_run(redis, tmp_path, body, request):
    name = places.name_of(request)
    address = redis.make(name)
    redis.send(name, [*places.bodies_of(ROWS[:20]), body, *places.bodies_of(ROWS[20:40])])
    places.follow(address, tmp_path / "run", idle_timeout=0.3)
    with Run.open(tmp_path / "run") as run:
        assert (run.status().n_rows, run.status().n_dead_letters) == (40, 1)


def test_columns_named_wrong_end_the_run_with_a_reason(redis, tmp_path):
    address = redis.make("wrong")
    redis.send("wrong", ['{"when": 1, "a": 2}'] * 150)
    with pytest.raises(ValueError, match="none of the first 100 messages could be read"):
        places.follow(address, tmp_path / "run")


def test_fields_of_a_redis_entry_are_columns(redis, tmp_path):
    client = redis.server.client()
    for row in ROWS[:40]:
        client.xadd("fields", row)
    places.follow(redis.make("fields"), tmp_path / "run", idle_timeout=0.3)
    with Run.open(tmp_path / "run") as run:
        assert run.status().n_rows == 40


def test_entries_trimmed_before_they_were_read_are_missed(redis, tmp_path):
    address = redis.make("trimmed")
    redis.send("trimmed", places.bodies_of(ROWS[:60]))
    places.follow(address, tmp_path / "run", stop_after=2, idle_timeout=None)
    redis.send("trimmed", places.bodies_of(ROWS[60:]))
    redis.server.client().xtrim("trimmed", maxlen=10, approximate=False)
    with pytest.raises(RowsLostError, match="no longer holds all rows"):
        places.follow(address, tmp_path / "run")


def test_entries_trimmed_after_they_were_read_are_not_missed(redis, unbroken, tmp_path):
    address = redis.make("tidy")
    redis.send("tidy", places.bodies_of(ROWS[:60]))
    places.follow(address, tmp_path / "run", stop_after=2, idle_timeout=None)
    with Run.open(tmp_path / "run") as run:
        ms, number, _ = run.position["partitions"]["0"]["after"]
    redis.server.client().xtrim("tidy", minid=f"{ms}-{number}", approximate=False)
    redis.send("tidy", places.bodies_of(ROWS[60:]))
    places.follow(address, tmp_path / "run")
    assert places.labels_of(tmp_path / "run") == unbroken


@pytest.mark.slow
def test_a_server_that_is_killed_is_waited_for(unbroken, tmp_path):
    servers.need("redis")
    place = places.RedisPlace(tmp_path / "server")
    try:
        address = place.make("rows")
        place.send("rows", places.bodies_of(ROWS[:80]))
        end = threading.Timer(0.3, lambda: (place.server.restart(), place.send("rows", rest)))
        rest = places.bodies_of(ROWS[80:])
        end.start()
        places.follow(address, tmp_path / "run", idle_timeout=1.5)
        end.join()
        assert places.labels_of(tmp_path / "run") == unbroken
    finally:
        place.stop()


def test_a_row_sent_twice_is_taken_in_once(redis, unbroken, tmp_path):
    bodies = places.bodies_of(ROWS)
    twice = [body for i, body in enumerate(bodies) for body in (bodies[max(0, i - 2)], body)]
    address = redis.make("twice")
    redis.send("twice", twice)
    windows = places.follow(
        address, tmp_path / "run", options=replace(places.OPTIONS, deduplicate=True)
    )
    assert places.labels_of(tmp_path / "run") == unbroken
    assert windows.n_repeated == 150


@pytest.mark.slow
def test_a_row_of_a_transaction_that_ends_late_is_not_missed(servers_of_session, tmp_path):
    place = servers_of_session("postgresql")
    address = place.make("slow_writer")
    insert = "INSERT INTO slow_writer (t, x, y, name) VALUES (%s, %s, %s, %s)"
    with place.server.client() as slow:
        slow.autocommit = False
        slow.execute(insert, (1.0, 0.0, 0.0, "slow"))  # takes number 1, and is not committed
        place.send("slow_writer", places.bodies_of(ROWS[:30]))
        end = threading.Timer(0.5, slow.commit)
        end.start()
        places.follow(address, tmp_path / "run")
        end.join()
    assert "slow" in {row["row_id"] for row in places.labels_of(tmp_path / "run")}


@pytest.mark.slow
@pytest.mark.parametrize("lines_of_partition", [1, 7])
def test_a_kafka_partition_that_lags_behind_loses_no_rows(
    servers_of_session, unbroken, tmp_path, lines_of_partition
):
    place = servers_of_session("kafka")
    topic = f"lagging{lines_of_partition}"
    producer = confluent_kafka.Producer({"bootstrap.servers": f"127.0.0.1:{place.server.port}"})
    producer.list_topics(topic, 10)
    for i, body in enumerate(places.bodies_of(ROWS)):
        producer.produce(topic, body.encode(), partition=i // lines_of_partition % 4)
    producer.flush(10)
    places.follow(place.server.address(topic), tmp_path / "run")
    assert places.labels_of(tmp_path / "run") == unbroken


def test_a_kafka_topic_is_not_idle_before_its_first_answer(servers_of_session):
    address = servers_of_session("kafka").make("unheard")
    stream = open_stream(address, (), threading.Event())
    stream.open({}, None)
    assert stream.poll(0.0) is None  # assigned, and nothing was fetched yet
    while stream.poll(0.1) is None:
        pass
    assert stream.poll(0.0) == []
    stream.close()


@pytest.mark.slow
def test_a_kafka_broker_that_is_down_is_not_idle(unbroken, tmp_path):
    place = places.KafkaPlace(tmp_path)
    bodies = places.bodies_of(ROWS)
    try:
        address = place.make("rows")
        place.send("rows", bodies[:80])
        steps = [
            threading.Timer(1.0, place.server.down),
            threading.Timer(4.0, lambda: (place.server.up(), place.send("rows", bodies[80:]))),
        ]
        for step in steps:
            step.start()
        places.follow(address, tmp_path / "run", idle_timeout=1.5)
        for step in steps:
            step.join()
        assert places.labels_of(tmp_path / "run") == unbroken
    finally:
        place.stop()


def test_messages_received_before_the_first_window_outlive_a_stop(servers_of_session, tmp_path):
    place = servers_of_session("mqtt")
    address = place.make("early")
    options = ["-f", "x,y", "-t", "t", "--every", "10", "--new-penalty", "1"]
    command = ["cluster", address, *options, "-o", str(tmp_path / "run"), "--idle-timeout", "400ms"]
    place.send("early", places.bodies_of(ROWS[:4]))
    assert main([*command, "--keep-last-open", "-q"]) == 0
    place.send("early", places.bodies_of(ROWS[4:30]))
    assert main([*command, "-q"]) == 0
    with Run.open(tmp_path / "run") as run:
        assert run.status().n_rows == 30


def test_a_password_is_not_stored(redis, tmp_path, capsys):
    client = redis.server.client()
    client.acl_setuser("me", enabled=True, passwords=["+sesame"], keys=["*"], commands=["+@all"])
    redis.send("secret", places.bodies_of(ROWS[:30]))
    address = redis.make("secret").replace("redis://", "redis://me:sesame@")
    options = ["-f", "x,y", "-t", "t", "--every", "10", "--new-penalty", "1"]
    out = ["-o", str(tmp_path / "run"), "--idle-timeout", "200ms", "--json"]
    assert main(["cluster", address, *options, *out]) == 0
    assert b"sesame" not in (tmp_path / "run" / "run.sqlite").read_bytes()
    with Run.open(tmp_path / "run") as run:
        assert run.config.source["input"].startswith("redis://me@127.0.0.1")
    capsys.readouterr()
    assert main(["cluster", address.replace("sesame", "wrong"), *options, *out]) == 1
    assert "sesame" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("redis://localhost/0", "must name a stream"),
        ("redis://localhost/zero?stream=a", "must be a number"),
        ("redis://localhost/0?stream=a&shade=b", "1 option that is not known here"),
        ("kafka://localhost", "must name one topic"),
        ("kafka://localhost/rows?no.such=1", "No such configuration property"),
        ("mqtt://localhost/rows", "must name a topic and a client"),
        ("postgresql://localhost/db?table=a", "must name a table and a column"),
    ],
)
def test_an_address_that_lacks_something_is_told(address, message, tmp_path, capsys):
    options = [
        "-f",
        "x",
        "--rows-per-window",
        "3",
        "--new-penalty",
        "1",
        "-o",
        str(tmp_path / "run"),
    ]
    assert main(["cluster", address, *options]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("id float8 PRIMARY KEY", "must hold integers"),
        ("id bigint", "without such an index"),
        ("number bigint", "has no column 'id'"),
    ],
)
def test_a_column_that_cannot_tell_where_to_begin_is_refused(
    servers_of_session, tmp_path, columns, message, request
):
    place, name = servers_of_session("postgresql"), places.name_of(request)
    with place.server.client() as client:
        client.execute(f"CREATE TABLE {name} ({columns}, t float8, x float8, y float8, name text)")
    with pytest.raises(ValueError, match=message):
        places.follow(place.server.address(name), tmp_path / "run")


@pytest.mark.slow
def test_a_stopped_stream_learns_its_scaling_from_all_windows(redis, tmp_path):
    address = redis.make("scaled")
    redis.send("scaled", places.bodies_of(ROWS))
    places.follow(address, tmp_path / "whole", space="standard")
    places.follow(address, tmp_path / "parts", space="standard", stop_after=0, idle_timeout=None)
    with Run.open(tmp_path / "parts") as run:
        assert not run.has_windows
    places.follow(address, tmp_path / "parts", space="standard")
    found, expected = contents(tmp_path / "parts"), contents(tmp_path / "whole")
    assert found == expected


@pytest.fixture
def finished_stream(tmp_path):
    folder = tmp_path / "run"
    with Run.create(folder, places.config_of()) as run:
        run.process_all(LiveWindows(places.bodies_of(ROWS), places.OPTIONS), commit_seconds=0.0)
    return folder


def arrived(kind, place, name):
    """What a place holds, in order."""
    if kind == "redis":
        return [json.loads(fields[b"json"]) for _, fields in place.server.client().xrange(name)]
    with place.server.client() as client:
        return [row[0] for row in client.execute(f"SELECT item FROM {name} ORDER BY step, number")]


@pytest.mark.parametrize("kind", ["redis", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_labels_and_events_arrive_exactly_once(kind, servers_of_session, finished_stream):
    place = servers_of_session(kind)
    addresses = {
        what: place.server.address(f"sent_{what}").replace("&by=id", "")
        for what in ("labels", "events")
    }
    command = ["send", str(finished_stream), "--labels-to", addresses["labels"]]
    assert main([*command, "--events-to", addresses["events"]]) == 0
    # As after a kill between the sending and the note of it.
    with Run.open(finished_stream) as run:
        run.lock()
        for place_sent, next_step in run.store.manifest("sent").items():
            assert next_step > 3
            commit_offset(run.store, place_sent, 3)
    assert main([*command, "--events-to", addresses["events"]]) == 0
    labels, events = (arrived(kind, place, f"sent_{what}") for what in ("labels", "events"))
    with Run.open(finished_stream) as run:
        assert [row["row_id"] for row in labels] == run.labels()["row_id"].tolist()
        assert [row["kind"] for row in events] == run.events()["kind"].tolist()
    assert labels[0]["key"] == "run/0-0"


@pytest.mark.parametrize("kind", ["kafka", "mqtt"])
def test_labels_arrive_at_least_once(kind, servers_of_session, tmp_path, redis):
    """They are read back as rows of another run."""
    place, name = servers_of_session(kind), "labels_back"
    back, source = place.make(name), redis.make("rows_for_" + kind)
    redis.send("rows_for_" + kind, places.bodies_of(ROWS))
    options = [
        "-f",
        "x,y",
        "-t",
        "t",
        "--every",
        "10",
        "--allowed-lateness",
        "5",
        "--new-penalty",
        "1",
    ]
    idle = ["--idle-timeout", "500ms", "-q"]
    to = back.partition("?")[0]
    command = ["cluster", source, *options, "--id", "name", *idle, "--labels-to", to]
    assert main([*command, "-o", str(tmp_path / "first")]) == 0
    again = ["-f", "cluster_id", "-t", "time", "--every", "10", "--id", "row_id"]
    second = ["cluster", back, *again, "--new-penalty", "0.1", *idle]
    assert main([*second, "-o", str(tmp_path / "second")]) == 0
    with Run.open(tmp_path / "first") as one, Run.open(tmp_path / "second") as two:
        assert one.labels()["row_id"].tolist() == two.labels()["row_id"].tolist()


def test_a_place_that_is_away_holds_nothing_up(redis, tmp_path, capsys):
    address = redis.make("onwards")
    redis.send("onwards", places.bodies_of(ROWS))
    options = [
        "-f",
        "x,y",
        "-t",
        "t",
        "--every",
        "10",
        "--allowed-lateness",
        "5",
        "--new-penalty",
        "1",
    ]
    away = f"redis://127.0.0.1:{servers.free_port()}/0?stream=a"
    command = [
        "cluster",
        address,
        *options,
        "--idle-timeout",
        "300ms",
        "--events-to",
        away,
        "--json",
    ]
    assert main([*command, "-o", str(tmp_path / "run")]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["n_rows"] == 150
    assert "cannot be reached" in told.err
