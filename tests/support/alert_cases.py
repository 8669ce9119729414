"""What tests of alerts share: a run, a file of rules, and a webhook."""

import json
from http.server import BaseHTTPRequestHandler

from run_cases import RECIPE

from dynmeans.runs.configuration import RunConfig

CONFIG = RunConfig(("x", "y"), RECIPE)
NEAR, FAR = [0.0, 0.0], [9.0, 9.0]


def rules_file(tmp_path, text):
    path = tmp_path / "rules.toml"
    path.write_text(text)
    return path


class Hook(BaseHTTPRequestHandler):
    answers, received = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Hook.received.append(json.loads(body))
        self.send_response(Hook.answers.pop(0) if Hook.answers else 200)
        self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()

    def log_message(self, *arguments):
        pass
