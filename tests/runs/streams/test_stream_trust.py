"""What one odd message, an empty table or a wrong clock does to a stream's run: nothing much."""

import json
import threading
from dataclasses import replace

import pytest
import stream_places as places

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.addresses import open_stream
from dynmeans.runs.streams.message import RowsLostError
from dynmeans.runs.streams.stream_windows import StreamWindows

START = 1_700_000_000


def rows(n, first=0, step=1.0, **more):
    return [
        {"t": START + step * i, "x": i % 3, "y": 5 * (i % 2), **more}
        for i in range(first, first + n)
    ]


def status_of(folder):
    with Run.open(folder) as run:
        return run.status()


@pytest.mark.parametrize(
    "cut",
    [{"rows_per_window": 10}, {"window_column": "b"}, {"every": "10"}],
    ids=["count", "batch", "every"],
)
def test_a_message_with_another_kind_of_time_is_one_dead_letter_across_restarts(
    cut, redis, tmp_path, request
):
    name = places.name_of(request)
    address = redis.make(name)
    options = WindowOptions(features=("x", "y"), time="t", **cut)

    def sent(some):
        redis.send(name, places.bodies_of({**row, "b": int(row["t"]) // 10} for row in some))

    sent(rows(30))
    places.follow(address, tmp_path / "run", options=options)
    odd = {"t": "2024-01-01T00:00:00", "x": 1, "y": 1, "b": 170000003}
    redis.send(name, [json.dumps(odd)])
    sent(rows(60, first=30))
    places.follow(address, tmp_path / "run", options=options)
    found = status_of(tmp_path / "run")
    assert (found.n_rows, found.n_dead_letters) == (90, 1)


@pytest.mark.parametrize("source", ["-", "redis://localhost/0?stream=rows"])
def test_features_of_a_live_source_are_named_one_by_one(source, tmp_path, capsys):
    words = ["cluster", source, "-t", "t", "--every", "10", "-f", "x_*", "--new-penalty", "1"]
    assert main([*words, "-o", str(tmp_path / "run")]) == 1
    assert "not a pattern such as 'x_*'" in capsys.readouterr().err


def test_a_row_with_more_columns_does_not_change_the_features(redis, tmp_path, request):
    name = places.name_of(request)
    address = redis.make(name)
    options = WindowOptions(features=("x", "y"), time="t", every="10")
    redis.send(name, places.bodies_of(rows(30)))
    places.follow(address, tmp_path / "run", options=options)
    redis.send(name, places.bodies_of(rows(1, first=30, z=5) + rows(29, first=31)))
    places.follow(address, tmp_path / "run", options=options)
    assert status_of(tmp_path / "run").n_rows == 60


@pytest.mark.slow
def test_a_table_that_was_emptied_and_numbered_anew_is_told(servers_of_session, tmp_path, request):
    place, name = servers_of_session("postgresql"), places.name_of(request)
    address = place.make(name)
    place.send(name, places.bodies_of({**row, "name": "a"} for row in rows(200)))
    places.follow(address, tmp_path / "run")
    with place.server.client() as client:
        client.execute(f"TRUNCATE {name} RESTART IDENTITY")
    place.send(name, places.bodies_of({**row, "name": "b"} for row in rows(200, first=200)))
    with pytest.raises(RowsLostError, match="no longer holds all rows"):
        places.follow(address, tmp_path / "run")


@pytest.mark.slow
def test_a_table_that_is_emptied_while_it_is_read_is_told(servers_of_session, request):
    place, name = servers_of_session("postgresql"), places.name_of(request)
    address, stop = place.make(name), threading.Event()
    place.send(name, places.bodies_of({**row, "name": "a"} for row in rows(50)))
    stream = open_stream(address, ("t", "x"), stop)
    stream.open({}, None)
    assert len(stream.poll(0.1)) == 50
    with place.server.client() as client:
        client.execute(f"TRUNCATE {name} RESTART IDENTITY")
    place.send(name, places.bodies_of({**row, "name": "b"} for row in rows(50, first=50)))
    with pytest.raises(RowsLostError):
        stream.poll(0.1)
    stream.close()


@pytest.mark.slow
def test_rows_that_were_read_may_be_deleted(servers_of_session, tmp_path, request):
    place, name = servers_of_session("postgresql"), places.name_of(request)
    address = place.make(name)
    place.send(name, places.bodies_of({**row, "name": "a"} for row in rows(100)))
    places.follow(address, tmp_path / "run", options=places.OPTIONS)
    with place.server.client() as client:
        client.execute(f"DELETE FROM {name} WHERE id < 100")
    place.send(name, places.bodies_of({**row, "name": "b"} for row in rows(100, first=100)))
    places.follow(address, tmp_path / "run")
    assert status_of(tmp_path / "run").n_rows == 200


AHEAD = WindowOptions(features=("x", "y"), time="t", every="10s", time_unit="s")


@pytest.mark.parametrize("at", [0, 30, 99], ids=["first", "between", "last"])
@pytest.mark.parametrize("n_stops", [0, 1])
def test_one_row_dated_2100_is_one_dead_letter(at, n_stops, redis, tmp_path, request):
    name = places.name_of(request)
    address = redis.make(name)
    some = rows(200)
    some.insert(at, {"t": 4_102_444_800, "x": 0, "y": 0})
    redis.send(name, places.bodies_of(some[: at + 1]))
    if n_stops:
        places.follow(address, tmp_path / "run", options=replace(AHEAD, keep_last_open=True))
    redis.send(name, places.bodies_of(some[at + 1 :]))
    places.follow(address, tmp_path / "run", options=AHEAD)
    with Run.open(tmp_path / "run") as run:
        letters = [letter["reason"] for letter in run.dead_letters()]
        found = run.status()
    assert (found.n_rows, found.n_windows) == (200, 20)
    assert len(letters) == 1
    assert "max_ahead" in letters[0]
    assert "years ahead" in letters[0]


def test_a_gap_of_years_in_all_rows_is_no_row_ahead(redis, tmp_path, request):
    name = places.name_of(request)
    address = redis.make(name)
    later = [{**row, "t": row["t"] + 10 * 366 * 86400} for row in rows(50, first=50)]
    redis.send(name, places.bodies_of(rows(50) + later))
    places.follow(address, tmp_path / "run", options=AHEAD)
    found = status_of(tmp_path / "run")
    assert (found.n_rows, found.n_dead_letters) == (100, 0)


def test_rows_ahead_of_their_own_partition_alone_are_odd(tmp_path, servers_of_session, request):
    place, name = servers_of_session("kafka"), places.name_of(request)
    address = place.make(name)
    old, new = rows(40), [{**row, "t": row["t"] + 5 * 366 * 86400} for row in rows(40)]
    place.send(name, places.bodies_of(old))
    place.send(name, places.bodies_of(new), partition=1)
    places.follow(address, tmp_path / "run", options=AHEAD)
    assert status_of(tmp_path / "run").n_rows == 80


@pytest.mark.parametrize("options", [places.OPTIONS, replace(places.OPTIONS, id=None)])
def test_rows_of_a_stream_are_not_joined_to_a_file_and_labels_alone_are_offered(
    options, redis, tmp_path, request, capsys
):
    name, out = places.name_of(request), str(tmp_path / "run")
    address = redis.make(name)
    some = rows(60, name="a", kind="b")
    redis.send(name, places.bodies_of(some))
    places.follow(address, tmp_path / "run", options=options)
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(places.bodies_of(some)))
    labels = str(tmp_path / "labels.csv")
    for words in (
        ["labels", out, "-o", labels],
        ["labels", out, "-o", labels, "--input", str(file)],
        ["score", out, "--truth", "name", "--input", str(file)],
        ["clusters", out, "--describe", "kind", "--input", str(file)],
    ):
        assert main(words) == 1
        told = capsys.readouterr().err
        assert "have no row numbers" in told
        assert "--labels-only" in told
        assert "--input" not in told
    assert main(["labels", out, "--labels-only", "-o", labels]) == 0


def test_a_stop_before_open_rows_are_read_again_loses_none(redis, tmp_path, request):
    name = places.name_of(request)
    address = redis.make(name)
    options = WindowOptions(features=("x", "y"), time="t", every="10")
    redis.send(name, places.bodies_of(rows(25)))
    places.follow(address, tmp_path / "run", options=replace(options, keep_last_open=True))
    with Run.open(tmp_path / "run") as run:
        stop = threading.Event()
        stop.set()
        stream = open_stream(address, options.columns, stop)
        with pytest.raises(StoppedError):
            run.process(StreamWindows(stream, options, run, stop=stop))
    redis.send(name, places.bodies_of(rows(25, first=25)))
    places.follow(address, tmp_path / "run", options=options)
    assert status_of(tmp_path / "run").n_rows == 50
