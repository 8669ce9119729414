"""The server under load, over a run that is replaced, and with bodies of any kind."""

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress

import httpx
import pytest
import servers
from run_cases import RECIPE
from serving import served, windows

from dynmeans import Run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store import run_tables
from dynmeans.runs.store.store import Store
from dynmeans.serve import connections, guard, server
from dynmeans.serve.api import MAX_CLIENTS

CONFIG = RunConfig(("x", "y"), RECIPE)
JSON = {"content-type": "application/json"}
TOKEN = "a-token-of-some-length"


@pytest.fixture
def folder(tmp_path):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(windows(3))
    return tmp_path / "run"


def replace(folder, n_windows, places=((5.0, 5.0),)):
    with Run.create(folder, CONFIG, overwrite=True) as run:
        run.process([Window(list(places), name=f"new {i}") for i in range(n_windows)])


def until(is_so, seconds=10):
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()


@pytest.mark.parametrize("n_windows", [2, 8], ids=["fewer", "more"])
def test_a_run_that_is_replaced_is_served_in_place_of_the_old_one(folder, n_windows):
    with served(folder) as address:
        old = httpx.get(address).text
        assert "window 0" in old
        replace(folder, n_windows)
        status = httpx.get(address + "/api/status").json()
        assert status["n_windows"] == n_windows
        assert until(lambda: "window 0" not in httpx.get(address).text)
        labels = httpx.get(address + "/api/labels").json()
        assert [row["step"] for row in labels] == [n_windows - 1]
        assert httpx.get(address + "/health").status_code == 200


def test_labels_are_those_of_the_last_window_right_after_a_run_was_replaced(folder):
    with served(folder) as address:
        httpx.get(address)
        for n in (7, 2, 5):
            replace(folder, n)
            assert [row["step"] for row in httpx.get(address + "/api/labels").json()] == [n - 1]


@pytest.mark.parametrize("query", ["after=2&run={run}", "after=2"])
def test_a_reader_is_told_that_its_run_was_replaced(folder, query):
    with served(folder) as address:
        run = httpx.get(address + "/api/status").json()["run_id"]
        assert f'data-run="{run}"' in httpx.get(address).text
        where = f"{address}/api/stream?{query.format(run=run)}"
        with httpx.stream("GET", where, timeout=20) as response:
            lines = response.iter_lines()
            next(lines)
            replace(folder, 8)
            assert "event: run_replaced" in list(lines)
        if "run=" in query:  # one that slept meanwhile
            with httpx.stream("GET", where, timeout=20) as response:
                assert "event: run_replaced" in list(response.iter_lines())


def half_sent(address, n, text):
    host, port = address.removeprefix("http://").split(":")
    raws = []
    for _ in range(n):
        raw = socket.create_connection((host, int(port)), 10)
        raw.sendall(text)
        raws.append(raw)
    return raws


def test_half_sent_requests_keep_nobody_out(folder, monkeypatch):
    for module in (connections, server):
        monkeypatch.setattr(module, "MAX_CONNECTIONS", 60)
    with served(folder, TOKEN) as address:
        raws = half_sent(address, 80, b"GET /api/status HTTP/1.1\r\nhost: loc")
        try:
            for _ in range(5):
                found = httpx.get(f"{address}/api/status?token={TOKEN}")
                assert found.status_code == 200
        finally:
            for raw in raws:
                raw.close()


@pytest.mark.parametrize(
    "text",
    [
        b"GET /api/status HTTP/1.1\r\nhost: loc",
        b"POST /api/predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b'content-length: 100\r\n\r\n{"poi',
        b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ],
    ids=["header", "body", "second header"],
)
def test_a_request_that_does_not_come_to_its_end_is_given_up(folder, text, monkeypatch):
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.5)
    with served(folder) as address:
        (raw,) = half_sent(address, 1, text)
        raw.settimeout(8)
        answer = b""
        if text.endswith(b"\r\n\r\n"):
            answer += raw.recv(65536)
            raw.sendall(b"GET /hea")
        while part := raw.recv(65536):
            answer += part
        raw.close()
    assert answer.startswith(b"HTTP/1.1 408") == text.startswith(b"POST")


N_PAGES = 30  # more than a socket holds


def unread(address, n, room=4096):
    """Clients that ask for many pages, and do not read them yet."""
    host, port = address.removeprefix("http://").split(":")
    raws = []
    for _ in range(n):
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        raw.connect((host, int(port)))
        raw.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n" * N_PAGES)
        raws.append(raw)
    return raws


def test_clients_that_never_read_keep_nobody_out(folder, monkeypatch):
    for module in (connections, server):
        monkeypatch.setattr(module, "MAX_CONNECTIONS", 60)
    with served(folder) as address:
        raws = unread(address, 65)
        try:
            for _ in range(5):
                begin = time.monotonic()
                assert httpx.get(f"{address}/api/status", timeout=20).status_code == 200
                assert time.monotonic() - begin < 5
        finally:
            for raw in raws:
                raw.close()


def test_a_client_that_never_reads_is_given_up_and_a_slow_one_gets_all(folder, monkeypatch):
    monkeypatch.setattr(connections, "READ_SECONDS", 3.0)
    with served(folder) as address:
        whole = N_PAGES * len(httpx.get(f"{address}/").content)
        (dead,), (slow,) = unread(address, 1), unread(address, 1, room=1 << 18)
        found = b""
        while len(found) < whole and (part := slow.recv(65536)):
            found += part
            time.sleep(0.01)
        time.sleep(4)
        dead.settimeout(5)
        read = 0
        with suppress(ConnectionResetError):
            while part := dead.recv(1 << 20):
                read += len(part)
        dead.close()
        slow.close()
    assert len(found) >= whole
    assert read < whole


def test_no_more_readers_than_the_limit_are_admitted(folder):
    async def ask(address):
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(timeout=60, limits=limits) as client:
            where = address + "/api/stream?after=2"
            requests = [
                client.send(client.build_request("GET", where), stream=True) for _ in range(230)
            ]
            answers = await asyncio.gather(*requests)
            found = [answer.status_code for answer in answers]
            await asyncio.gather(*(answer.aclose() for answer in answers))
            return found

    with served(folder) as address:
        found = asyncio.run(ask(address))
        assert found.count(200) == MAX_CLIENTS
        assert found.count(503) == 30
        # All have left: there is room again.
        readers = lambda: 'connected_clients{run="run"} 0.0' in httpx.get(address + "/metrics").text  # noqa: E731
        assert until(readers)


def test_few_events_are_read_where_few_are_asked_for(folder, monkeypatch):
    with Run.open(folder) as run:
        run.process([Window([[30.0 * (i % 3), 0.0]]) for i in range(300)])
    read = []
    whole = run_tables.windows_with_events

    def counted(*arguments):
        for found in whole(*arguments):
            read.append(found)
            yield found

    monkeypatch.setattr(run_tables, "windows_with_events", counted)
    with served(folder) as address:
        answer = httpx.get(address + "/api/events?limit=2&kind=moved&kind=born")
        assert len(answer.json()) == 2
        assert len(read) <= 2
        every = httpx.get(address + "/api/events?limit=10000&kind=moved&kind=born")
    assert every.json()[:2] == answer.json()
    assert answer.headers["x-total-count"] == str(len(every.json()))


@pytest.mark.parametrize("query", ["", "&status=forgotten", "&status=inactive", "&status=active"])
def test_few_clusters_and_windows_are_read_where_few_are_asked_for(query, folder, monkeypatch):
    with Run.open(folder) as run:
        run.process([Window([[30.0 * (i // 3), 0.0]]) for i in range(90)])
    read, whole = [], Store.rows

    def counted(store, table, *arguments):
        for row in whole(store, table, *arguments):
            read.append(table)
            yield row

    monkeypatch.setattr(Store, "rows", counted)
    with served(folder) as address:
        httpx.get(address + "/api/status")
        read.clear()
        answer = httpx.get(address + f"/api/clusters?limit=2{query}")
        assert read.count("clusters") <= 2
        assert read.count("windows") <= 4
        every = httpx.get(address + f"/api/clusters?limit=10000{query}")
    assert answer.json() == every.json()[:2]
    assert answer.json()
    assert answer.headers["x-total-count"] == str(len(every.json()))


def test_an_unknown_status_of_clusters_is_refused(folder):
    with served(folder) as address:
        answer = httpx.get(address + "/api/clusters?status=gone")
    assert answer.status_code == 422
    assert "must be one of active, inactive, forgotten" in answer.json()["error"]


def test_an_integer_of_400_digits_is_refused(folder):
    with served(folder) as address:
        for body in ('{"points": [[%s, 1]]}', '{"points": [[1, %s.0]]}'):
            text = (body % ("9" * 400)).encode()
            answer = httpx.post(address + "/api/predict", content=text, headers=JSON)
            assert answer.status_code == 422
            assert answer.json()["error"]


def test_bodies_in_chunks_are_read_or_refused_like_others(folder):
    def chunks(n):
        yield b'{"points": [[0, 0]'
        for _ in range(n):
            yield b" " * (1 << 16)
        yield b"]}"

    with served(folder) as address:
        post = lambda n: httpx.post(address + "/api/predict", content=chunks(n), headers=JSON)  # noqa: E731
        assert post(2).json()["cluster_ids"] == [0]
        raw = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), 10)
        raw.sendall(
            b"POST /api/predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        stop = threading.Event()

        def send():
            try:
                while not stop.is_set():
                    raw.sendall(b"10000\r\n" + b" " * (1 << 16) + b"\r\n")
            except OSError:
                pass

        sender = threading.Thread(target=send)
        sender.start()
        answer = b""
        with suppress(ConnectionError):  # what was not read resets the connection
            while part := raw.recv(65536):
                answer += part
        stop.set()
        raw.close()
        sender.join()
        assert answer.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("has_reader", [False, True])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_server_that_is_told_to_stop_ends_with_an_exit_code_of_its_own(
    folder, sent, code, has_reader
):
    port = servers.free_port()
    words = [sys.executable, "-m", "dynmeans.cli", "serve", str(folder), "--port", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:

        def answers():
            with suppress(httpx.HTTPError):
                return httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200

        assert until(answers, 60)
        with ExitStack() as stack:
            if has_reader:
                where = f"http://127.0.0.1:{port}/api/stream"
                lines = stack.enter_context(httpx.stream("GET", where, timeout=20)).iter_lines()
                next(lines)
            process.send_signal(sent)
            told = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    assert process.returncode == code
    assert b"Traceback" not in told
