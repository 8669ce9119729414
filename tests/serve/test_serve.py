"""The server: what it gives, whom it refuses, and how it keeps up with a run."""

import json
import re
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest
from run_cases import RECIPE
from serving import served, windows

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs.configuration import RunConfig
from dynmeans.serve.server import make_guarded_app, serve

TOKEN = "a-token-of-some-length"
JSON = {"content-type": "application/json"}
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def folder(tmp_path):
    with Run.create(tmp_path / "run", RunConfig(("x", "y"), RECIPE)) as run:
        run.process(windows(3))
    return tmp_path / "run"


@pytest.fixture
def address(folder):
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def with_token(tmp_path_factory):
    folder = tmp_path_factory.mktemp("closed") / "run"
    with Run.create(folder, RunConfig(("x", "y"), RECIPE)) as run:
        run.process(windows(1))
    with served(folder, TOKEN) as address:
        yield address


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server for tests that leave its run as it was, or only name clusters."""
    folder = tmp_path_factory.mktemp("shared") / "run"
    with Run.create(folder, RunConfig(("x", "y"), RECIPE)) as run:
        run.process(windows(3))
    with served(folder) as address:
        yield address


def events_of(response, n):
    """The first n events of a stream, as (kind, id, data)."""
    found, event = [], {}
    for line in response.iter_lines():
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value
        elif event:
            if "event" in event:
                found.append((event["event"], event.get("id"), json.loads(event["data"])))
            event = {}
        if len(found) == n:
            return found
    return found


def test_what_a_run_holds_is_given_as_json(address):
    get = lambda path: httpx.get(address + path).json()  # noqa: E731
    assert get("/api/status")["n_windows"] == 3
    assert "folder" not in get("/api/status")
    assert [row["cluster_id"] for row in get("/api/clusters?status=active")] == [1, 0]
    assert {row["kind"] for row in get("/api/events?kind=born")} == {"born"}
    assert {row["step"] for row in get("/api/events?after=1")} == {2}
    assert [row["cluster_id"] for row in get("/api/labels")] == [0, 0, 1]
    assert get("/health")["status"] == "ok"
    predicted = httpx.post(address + "/api/predict", json={"points": [[0, 0], [50, 50]]}).json()
    assert predicted["cluster_ids"] == [0, -1]


def test_every_address_is_described(folder):
    app = make_guarded_app(folder, None)
    page = (DOCS / "live-page-and-alerts.md").read_text()
    assert {route.path for route in app._app.routes} == set(
        re.findall(r"[` ](/[a-z/-]*)[`? ]", page)
    )


def test_metrics_count_what_the_run_took_in(address):
    text = httpx.get(address + "/metrics").text
    assert 'dynmeans_rows_total{run="run"} 9.0' in text
    assert 'dynmeans_windows_total{run="run"} 3.0' in text
    assert 'dynmeans_clusters_born_total{run="run"} 2.0' in text


def test_a_window_reaches_a_reader_and_one_that_slept_catches_up(address, folder):
    with httpx.stream("GET", address + "/api/stream?after=2", timeout=20) as response:
        lines = response.iter_lines()
        assert next(lines) == "retry: 1000"
        with Run.open(folder) as run:
            run.process(windows(1, first=3))
        kinds = {}
        for line in lines:
            if line.startswith("id: "):
                kinds["id"] = line
            if line.startswith("data: ") and "batches" in line:
                kinds["chunk"] = json.loads(line[6:])
                break
    assert kinds["id"] == "id: 3"
    asleep = {"last-event-id": "0"}
    with httpx.stream("GET", address + "/api/stream", headers=asleep, timeout=20) as response:
        found = [event for event in events_of(response, 2) if event[0] == "windows"]
    assert found[0][1] == "3"
    assert len(found[0][2]["batches"]["steps"]) * 3 // 4 >= 3 * 4  # three windows, in base64


def test_a_name_given_over_http_reaches_the_page(address, folder):
    with httpx.stream("GET", address + "/api/stream?after=2", timeout=20) as response:
        done = httpx.post(address + "/api/names", json={"cluster_id": 1, "name": "tug"})
        assert done.status_code == 200
        found = events_of(response, 2)
    (names,) = [data["cluster_names"] for kind, _, data in found if kind == "edits"][-1:]
    assert names == {"1": "tug"}
    assert httpx.get(address + "/api/names").json() == {"1": "tug"}
    with Run.open(folder) as run:
        assert run.edits.names[1] == "tug"


def test_edits_are_made_and_undone(address):
    post = lambda body: httpx.post(address + "/api/edits", json=body)  # noqa: E731
    assert post({"kind": "merge", "cluster_id": 0, "other_id": 1}).status_code == 200
    assert post({"kind": "undo"}).status_code == 200
    assert post({"kind": "pin", "cluster_id": 0, "author": "ann"}).json()["author"] == "ann"
    assert len(httpx.get(address + "/api/edits").json()) == 3


def test_the_page_is_the_report_and_may_ask_its_own_server_only(address):
    found = httpx.get(address + "/")
    assert found.text.startswith("<!DOCTYPE html>")
    assert "connect-src 'self'" in found.text
    assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_run_without_a_window_is_waited_for(tmp_path):
    Run.create(tmp_path / "run", RunConfig(("x",), RECIPE)).close()
    with served(tmp_path / "run") as address:
        assert "no window yet" in httpx.get(address).text


@pytest.mark.parametrize(
    "way",
    [
        lambda a: httpx.get(a + "/api/status", headers={"authorization": f"Bearer {TOKEN}"}),
        lambda a: httpx.get(f"{a}/api/status?token={TOKEN}"),
        lambda a: httpx.get(a + "/api/status", cookies={"dynmeans_token": TOKEN}),
    ],
    ids=["header", "address", "cookie"],
)
def test_a_token_opens_the_server(with_token, way):
    assert way(with_token).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN[:-1]},
        {"cookie": "dynmeans_token="},
        {"cookie": "dynmeans_token=\x01; ;;=="},
        {"host": "localhost"},
    ],
)
def test_a_wrong_token_opens_nothing(with_token, headers):
    for path in ("/", "/api/status", "/metrics", "/health", "/api/stream"):
        refusal = httpx.get(with_token + path, headers=headers)
        assert refusal.status_code == 401
        assert "Authorization: Bearer TOKEN" in refusal.text


def test_a_page_of_another_site_gets_and_changes_nothing(address):
    name = {"cluster_id": 0, "name": "mine"}
    foreign = {"host": "evil.example", "origin": "http://evil.example"}
    assert httpx.get(address + "/api/status", headers=foreign).status_code == 403
    post = httpx.post(address + "/api/names", json=name, headers={"origin": "http://evil.example"})
    assert post.status_code == 403
    form = {"content-type": "text/plain"}
    text = json.dumps(name).encode()
    assert httpx.post(address + "/api/names", content=text, headers=form).status_code == 415
    assert httpx.get(address + "/api/names").json() == {}


HOSTILE_TEXT = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'; DROP TABLE edits; --",
    "\x00\x1b[31m", "\u202eright to left", "a" * 201, "=cmd|'/C calc'!A0", "{{ data }}", "\\u003c",
    "\ud800", "&lt;b&gt;", "../../etc/passwd", "%s%n", "${jndi:ldap://x}", "\r\nset-cookie: a=b",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE_TEXT, ids=range(len(HOSTILE_TEXT)))
def test_hostile_names_stay_text(shared, text):
    address = shared
    body = json.dumps({"cluster_id": 0, "name": text}).encode()
    done = httpx.post(
        address + "/api/names", content=body, headers={"content-type": "application/json"}
    )
    assert done.status_code in (200, 422)
    page = httpx.get(address + "/").text
    assert "<img src=x" not in page
    assert page.count("</script>") == 4  # the engine has two
    assert "a=b" not in str(done.headers)
    assert httpx.get(address + "/api/status").status_code == 200


PATHS = [
    "/../run.sqlite", "/%2e%2e/run.sqlite", "/..%2frun.sqlite", "/run.sqlite", "/labels/",
    "//etc/passwd", "/%00", "/api/../../etc/passwd", "/api/labels/part-000000000000.parquet",
    "/static/../../x", "/\\..\\x", "/api/status/", "/API/status", "/api/%73tatus/..",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out(shared, path):
    host, port = shared.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
        answer = b""
        while part := raw.recv(65536):
            answer += part
    assert answer.split()[1] in (b"404", b"400", b"307")
    assert b"SQLite format" not in answer
    assert b"root:" not in answer


REQUESTS = [
    ("/api/predict", {"points": "x"}), ("/api/predict", {"points": [[1]]}),
    ("/api/predict", {"points": [[1e308, 1]]}), ("/api/predict", {"points": [["a", 1]]}),
    ("/api/predict", {"points": [[0, 0]] * 10_001}), ("/api/predict", []), ("/api/predict", {}),
    ("/api/names", {"cluster_id": 10**30, "name": "a"}),
    ("/api/names", {"cluster_id": True, "name": "a"}),
    ("/api/names", {"cluster_id": 99, "name": "a"}), ("/api/names", {"cluster_id": 0, "name": 5}),
    ("/api/edits", {"kind": "merge", "cluster_id": 0, "other_id": 0}),
    ("/api/edits", {"kind": "drop"}),
    ("/api/edits", {"kind": "undo", "edit_id": 77}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_wrong_request_is_told_and_changes_nothing(shared, path, body):
    before = httpx.get(shared + "/api/edits").json()
    done = httpx.post(shared + path, json=body)
    assert done.status_code == 422
    assert done.json()["error"]
    assert httpx.get(shared + "/api/edits").json() == before


WRONG_FIELDS = [
    ("/api/edits", {"kind": "undo", "number": 1}, "there is no field 'number'"),
    ("/api/edits", {"kind": "undo", "edit_ids": 1}, "there is no field 'edit_ids'"),
    ("/api/edits", {"kind": "pin", "cluster_id": 0, "who": "ann"}, "there is no field 'who'"),
    ("/api/edits", {"kind": "pin", "cluster_id": 0, "\ud800\n": 1}, "there is no field"),
    ("/api/edits", {"kind": "merge", "cluster_id": 0}, "other_id is missing"),
    ("/api/edits", {"kind": "level", "level": "0", "cluster_id": 0}, "there is no field"),
    ("/api/edits", {"kind": ["undo"]}, "kind must be merge, pin, undo or level"),
    ("/api/edits", {"cluster_id": 0}, "kind must be merge, pin, undo or level"),
    ("/api/names", {"cluster_id": 0}, "name is missing"),
    ("/api/names", {"cluster_id": 0, "name": "a", "user": "ann"}, "there is no field 'user'"),
    ("/api/predict", {"points": [[0, 0]], "weights": [1]}, "there is no field 'weights'"),
    ("/api/predict", {"rows": [[0, 0]]}, "points is missing"),
]


@pytest.mark.parametrize(("path", "body", "message"), WRONG_FIELDS)
def test_an_unknown_or_missing_field_is_refused_in_one_line(address, path, body, message):
    assert httpx.post(address + "/api/names", json={"cluster_id": 0, "name": "a"}).is_success
    before = httpx.get(address + "/api/edits").json()
    answer = httpx.post(address + path, content=json.dumps(body).encode(), headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(message)
    assert len(answer.json()["error"].splitlines()) == 1
    assert httpx.get(address + "/api/edits").json() == before


@pytest.mark.parametrize(
    "query",
    [
        *("limit=x", "limit=1e9", "after=--1", "step=%EF%BC%99", "limit=" + "9" * 40, "kind=x"),
        *("limit=0", "limit=10001", "after=-2", "step=-1"),
    ],
)
def test_wrong_numbers_are_refused(shared, query):
    path = "/api/labels" if "step" in query else "/api/events"
    assert httpx.get(f"{shared}{path}?{query}").status_code == 422


def test_a_limit_beyond_the_rule_names_the_rule(shared):
    answer = httpx.get(f"{shared}/api/clusters?limit=50000")
    assert answer.json()["error"] == "limit must be from 1 to 10,000, got 50,000"


@pytest.mark.parametrize("path", ["clusters", "events", "labels"])
def test_a_table_that_was_cut_says_how_many_rows_there_are(shared, path):
    whole, cut = (httpx.get(f"{shared}/api/{path}?{q}") for q in ("limit=10000", "limit=1"))
    assert len(cut.json()) == 1 < len(whole.json())
    assert cut.headers["x-total-count"] == str(len(whole.json())) == whole.headers["x-total-count"]


def test_requests_have_bounds(address):
    large = {"content-type": "application/json"}
    body = b'{"points": [' + b" " * (1 << 20) + b"]}"
    assert httpx.post(address + "/api/predict", content=body, headers=large).status_code == 413
    deep = b"[" * 100_000
    assert httpx.post(address + "/api/predict", content=deep, headers=large).status_code == 400

    def endless():
        for _ in range(40):
            yield b" " * (1 << 16)

    with pytest.raises(httpx.HTTPError), httpx.Client(timeout=5) as client:
        client.post(address + "/api/predict", content=endless(), headers=large).raise_for_status()
    assert httpx.get(address + "/health").status_code == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--token", "short"], "at least 16 characters"),
        (["--token", "a b c d e f g h i j"], "letters, digits"),
    ],
)
def test_a_weak_token_is_refused(folder, options, message, capsys):
    assert main(["serve", str(folder), *options]) == 1
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_in_one_line_before_any_address(folder, capsys):
    with served(folder) as address:
        port = address.rsplit(":", 1)[1]
        assert main(["serve", str(folder), "--port", port]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"--port must be free, got {port}" in shown.err


def test_no_token_is_refused_where_others_can_ask(folder):
    with pytest.raises(ValueError, match="token must be given if host is not this machine"):
        serve(folder, "0.0.0.0", 0, None)


def test_fifty_readers_see_a_window_within_a_second(address, folder):
    seen, ready = [], threading.Barrier(51)

    def read():
        with httpx.stream("GET", address + "/api/stream?after=2", timeout=60) as response:
            lines = response.iter_lines()
            next(lines)
            ready.wait(60)
            for line in lines:
                if line.startswith("id: 3"):
                    seen.append(time.monotonic())
                    return

    threads = [threading.Thread(target=read) for _ in range(50)]
    for thread in threads:
        thread.start()
    ready.wait(60)
    with Run.open(folder) as run:
        run.process(windows(1, first=3))
    begin = time.monotonic()
    for thread in threads:
        thread.join()
    assert len(seen) == 50
    assert max(seen) - begin < 10  # benchmarks/streams/live_readers.py measures it
