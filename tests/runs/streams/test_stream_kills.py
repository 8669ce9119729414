"""Producer, broker and run of each kind of stream are killed; the run is the unbroken one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import servers

DRIVER = Path(__file__).parents[2] / "support" / "stream_kill_driver.py"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["redis", "kafka", "mqtt", "postgresql"])
def test_a_stream_survives_kills_of_all_its_processes(kind, tmp_path):
    if kind != "kafka":
        servers.need(kind)
    paths = ":".join([str(DRIVER.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, str(DRIVER), kind, str(tmp_path), "12", "5"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin:/usr/sbin"},
    )
    assert done.returncode == 0, done.stderr
    kills = json.loads(done.stdout)["kills"]
    assert sum(kills.values()) >= 12
    assert kills["run"] > 0
