"""Parquet on a web server and in S3, read from servers that the test starts on loopback."""

import json
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import pandas as pd
import pytest

import dynmeans
from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.sources.source import Source

SECRET = "s3cr3t"
_LISTED = (
    "<Contents><Key>{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
    '<ETag>"x"</ETag><Size>{}</Size><StorageClass>STANDARD</StorageClass></Contents>'
)


class _Handler(SimpleHTTPRequestHandler):
    """Files by ranges; a query with ``list-type`` lists a bucket, as S3 does."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._answer(has_body=False)

    def do_GET(self):
        self._answer(has_body=True)

    def _answer(self, has_body):
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        if "list-type" in query:
            self._list(unquote(parts.path).strip("/"), query.get("prefix", [""])[0])
            return
        path = self.translate_path(parts.path)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            self._send(404, b"", has_body=has_body)
            return
        first, last = 0, len(data) - 1
        if wanted := self.headers.get("Range"):
            begin, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = int(begin), min(int(end or last), last)
        more = {"Content-Range": f"bytes {first}-{last}/{len(data)}"} if wanted else {}
        body = data[first : last + 1]
        self._send(206 if wanted else 200, body, has_body=has_body, **more)

    def _list(self, bucket, prefix):
        root = self.server.root
        files = sorted(p for p in (root / bucket).rglob("*.parquet"))
        keys = [(str(p.relative_to(root / bucket)), p.stat().st_size) for p in files]
        found = "".join(_LISTED.format(*one) for one in keys if one[0].startswith(prefix))
        body = (
            f"<ListBucketResult><Name>{bucket}</Name><Prefix>{prefix}</Prefix>"
            f"<IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
        )
        self._send(200, body.encode())

    def _send(self, status, body, has_body=True, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if has_body:
            self.wfile.write(body)


def _rows(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n) + 9.0 * (np.arange(n) % 2)
    return pd.DataFrame({"t": np.arange(n) // 20, "x": x, "y": rng.normal(size=n)})


@pytest.fixture
def server(tmp_path):
    root = tmp_path / "served"
    (root / "bucket" / "days").mkdir(parents=True)
    _rows(60).to_parquet(root / "rows.parquet", index=False)
    _rows(60).iloc[:20].to_parquet(root / "bucket" / "days" / "1.parquet", index=False)
    _rows(60).iloc[20:].to_parquet(root / "bucket" / "days" / "2.parquet", index=False)
    handler = partial(_Handler, directory=str(root))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        served.root = root
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"127.0.0.1:{served.server_address[1]}"
        served.shutdown()
        thread.join()


@pytest.fixture
def s3(server, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return f"?scheme=http&endpoint_override={server}&region=us-east-1"


def _found(rows):
    with Source(rows) as source:
        return source.rows("t, x, y", where="x > 9")


def test_a_file_on_a_web_server_is_read_as_the_file_itself(server, tmp_path):
    pytest.importorskip("aiohttp")
    address = f"http://{server}/rows.parquet"
    assert _found(address) == _found(str(tmp_path / "served" / "rows.parquet"))


def test_a_file_and_a_folder_in_s3_are_read_in_order_of_name(s3, tmp_path):
    folder = tmp_path / "served" / "bucket" / "days"
    assert _found(f"s3://bucket/days/2.parquet{s3}") == _found(str(folder / "2.parquet"))
    assert _found(f"s3://bucket/days/{s3}") == _found(str(folder))


def test_a_run_on_an_address_is_that_on_the_file_and_stores_no_signature(server, tmp_path, capsys):
    pytest.importorskip("aiohttp")
    address = f"http://{server}/rows.parquet?signature={SECRET}"
    given = {"features": ["x", "y"], "window_column": "t", "new_penalty": 4.0}
    words = [
        "cluster",
        address,
        "-f",
        "x,y",
        "--window-column",
        "t",
        "--new-penalty",
        "4",
        "--json",
    ]
    assert main([*words, "-o", str(tmp_path / "run")]) == 0
    expected = dynmeans.cluster(tmp_path / "served" / "rows.parquet", **given)
    with Run.open(tmp_path / "run") as run:
        assert run.labels()["cluster_id"].tolist() == expected.labels.tolist()
        assert run.config.source["input"] == f"http://{server}/rows.parquet"
        assert SECRET not in json.dumps(run.config.to_fields())
    assert SECRET not in "".join(capsys.readouterr())
    assert SECRET.encode() not in (tmp_path / "run" / "run.sqlite").read_bytes()


@pytest.mark.parametrize("name", ["none.parquet", "rows.csv"])
def test_what_is_not_there_or_not_parquet_is_one_line_without_the_signature(name, server, capsys):
    pytest.importorskip("aiohttp")
    words = [
        "cluster",
        f"http://{server}/{name}?signature={SECRET}",
        "-f",
        "x",
        "--window-column",
        "t",
    ]
    assert main([*words, "-o", "nowhere"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert name in line
    assert SECRET not in line


def test_a_server_that_is_gone_is_told_without_the_signature(tmp_path):
    pytest.importorskip("aiohttp")
    with pytest.raises(OSError, match=r"'http://127.0.0.1:9/rows.parquet' cannot be read") as told:
        Source(f"http://127.0.0.1:9/rows.parquet?signature={SECRET}")
    assert SECRET not in str(told.value)


def test_a_query_over_an_address_reaches_no_other_file(server, tmp_path):
    pytest.importorskip("aiohttp")
    other = tmp_path / "served" / "bucket" / "days" / "1.parquet"
    reading = ReadingOptions(sql=f"SELECT * FROM read_parquet('{other}')")
    with pytest.raises((ValueError, OSError), match="no other file"):
        Source(f"http://{server}/rows.parquet", reading=reading)


@pytest.mark.parametrize("missing", ["fsspec.implementations.http", "aiohttp"])
def test_without_the_extra_an_address_is_refused_with_the_way_to_install_it(
    missing, tmp_path, capsys, monkeypatch
):
    for name in [name for name in sys.modules if name.startswith(("fsspec", "aiohttp"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    words = [
        "cluster",
        "https://host/rows.parquet?signature=hunter2",
        "-f",
        "x",
        "--rows-per-window",
        "9",
    ]
    assert main([*words, "-o", str(tmp_path / "run")]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "pip install 'dynmeans[remote]'" in told
    assert "hunter2" not in told
