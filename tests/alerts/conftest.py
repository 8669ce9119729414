"""Fixtures of tests of alerts: who is told."""

import json
import sys
import threading
from http.server import HTTPServer

import pytest
from run_cases import Hook


@pytest.fixture
def told(tmp_path):
    """A command that writes down what it is told, and a function that reads it."""
    log = tmp_path / "told.jsonl"
    script = tmp_path / "tell.py"
    script.write_text(f"import sys; open({str(log)!r}, 'a').write(sys.stdin.read())")

    def read():
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    read.log = log
    read.command = json.dumps([sys.executable, "-S", str(script)])
    return read


@pytest.fixture
def hook():
    server = HTTPServer(("127.0.0.1", 0), Hook)
    Hook.answers, Hook.received = [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    server.server_close()
    thread.join()
