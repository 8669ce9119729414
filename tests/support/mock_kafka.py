"""The mock cluster of Kafka's client library, in a process of its own; its broker can go down.

Usage: mock_kafka.py; prints the port, then obeys the lines "down" and "up" and answers each.
"""

import ctypes
import signal
import subprocess
import sys
from pathlib import Path

import confluent_kafka

_BROKER = 1


class MockKafka:
    """One broker. While it is down its connections are cut and its log is kept."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def address(self, topic: str) -> str:
        return f"kafka://127.0.0.1:{self.port}/{topic}"

    def down(self) -> None:
        self._tell("down")

    def up(self) -> None:
        self._tell("up")

    def _tell(self, word: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == f"{word}\n"

    def stop(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()


def _library() -> ctypes.CDLL:
    """The copy of librdkafka that the client brings along: Python has no names for the mock."""
    folder = Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs"
    found = ctypes.CDLL(str(next(folder.glob("librdkafka*.so*"))))
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(found, name).restype = ctypes.c_void_p
    found.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return found


def main() -> None:
    """Serve until standard input ends."""
    library, error = _library(), ctypes.create_string_buffer(512)
    conf = ctypes.c_void_p(library.rd_kafka_conf_new())
    library.rd_kafka_conf_set(conf, b"log_level", b"0", error, 512)
    client = ctypes.c_void_p(library.rd_kafka_new(0, conf, error, 512))
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, 1))
    sys.stdout.write(library.rd_kafka_mock_cluster_bootstraps(cluster).decode().split(":")[1])
    sys.stdout.write("\n")
    sys.stdout.flush()
    for line in sys.stdin:
        getattr(library, f"rd_kafka_mock_broker_set_{line.strip()}")(cluster, _BROKER)
        sys.stdout.write(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
