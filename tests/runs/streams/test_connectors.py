"""Connectors are ours, and those of other packages, which come by entry points."""

import json
import os
import subprocess
import sys
from pathlib import Path

from dynmeans.runs.streams.addresses import _module, is_address

PACKAGE = Path(__file__).parents[3] / "examples" / "connector"
DYNMEANS = {"redis", "rediss", "kafka", "mqtt", "mqtts", "postgresql", "postgres"}


def test_every_connector_of_ours_can_be_opened():
    for name in DYNMEANS:
        assert is_address(f"{name}://host/path")
        assert callable(_module(f"{name}://host/path").open_stream)
    assert not is_address("nobody://host/path")


def test_the_connector_of_an_installed_package_serves_rows_and_results(tmp_path):
    site, rows, labels = tmp_path / "site", tmp_path / "rows.jsonl", tmp_path / "labels.jsonl"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    alone = ["--no-build-isolation", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([*pip, *alone, str(PACKAGE)], check=True, cwd=tmp_path)
    written = [json.dumps({"t": i, "x": 9.0 * (i % 2), "n": i}) for i in range(40)]
    command = [sys.executable, "-m", "dynmeans.cli", "cluster", f"lines://{rows}", "-t", "t"]
    command += ["--every", "10", "-f", "x", "--new-penalty", "1", "--idle-timeout", "300ms", "--id"]
    command += ["n", "-o", str(tmp_path / "run"), "--labels-to", f"lines://{labels}", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    for end in (25, 40):  # the second call resumes, and takes no row twice
        rows.write_text("".join(f"{line}\n" for line in written[:end]))
        more = ["--keep-last-open"] if end == 25 else []
        done = subprocess.run(
            [*command, *more], env=environment, capture_output=True, text=True, check=True
        )
    assert json.loads(done.stdout)["n_rows"] == 40
    found = [json.loads(line) for line in labels.read_text().splitlines()]
    assert [row["row_id"] for row in found] == [str(i) for i in range(40)]
    assert {row["cluster_id"] for row in found} == {0, 1}
