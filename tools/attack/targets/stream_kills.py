"""Streams whose producer, broker and run are killed: the run is the unbroken one at the end."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attack.targets import Case, Skipped

_TESTS = Path(__file__).parents[3] / "tests" / "support"
_PROGRAMS = {
    "redis": ("/usr/bin/redis-server",),
    "mqtt": ("/usr/sbin/mosquitto",),
    "postgresql": tuple(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb"))),
}


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """The part of the name after the dash is the kind of place."""
    kind = name.partition("-")[2]
    known = _PROGRAMS.get(kind)
    if known is not None and not any(Path(path).exists() or shutil.which(path) for path in known):
        raise Skipped(f"{kind} is not installed: make system-deps")
    yield lambda rng: sum(
        attack_stream(kind, rng.randint(10, 30), rng.randrange(10**6))["kills"].values()
    )


def attack_stream(kind: str, n_kills: int, seed: int) -> dict[str, Any]:
    """Attack one stream; return the counts of its driver."""
    memory = Path("/dev/shm")  # processes are killed, not machines
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        os.chmod(folder, 0o755)  # PostgreSQL runs as another user
        command = [sys.executable, str(_TESTS / "stream_kill_driver.py"), kind, folder]
        paths = [str(_TESTS), *sys.path]
        done = subprocess.run(
            [*command, str(n_kills), str(seed)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )
        if done.returncode != 0:
            raise AssertionError(f"{kind}: {done.stderr.strip()[-500:]}")
        counts: dict[str, Any] = json.loads(done.stdout)
        return counts
