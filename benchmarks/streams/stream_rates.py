"""Two thousand rows a second from each kind of stream: is it kept up with, and at what price?

Run as ``python -m benchmarks.streams.stream_rates [KIND ...]``. Every place is a server of its own
on this machine; a producer sends rows of two features for some seconds, and ``dynmeans cluster``
reads them in windows of one second. Prints the processor time of the command as a share of one
core, its start included, and how long after the last row the last window was committed.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.machine import machine, write_results

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
import stream_places as places

from dynmeans import Run

ROWS_PER_SECOND, SECONDS, BLOCK = 2000, 15, 500
IDLE = 3.0
OPTIONS = [
    "-f", "x,y", "-t", "t", "--every", "1", "--allowed-lateness", "0.5", "--new-penalty", "1",
    "--idle-timeout", f"{IDLE:g}s", "--quiet",
]  # fmt: skip


def bodies(n: int) -> list[str]:
    """Rows whose times are those of the clock that sends them."""
    rows = places.rows_of(n)
    return places.bodies_of(row | {"t": i / ROWS_PER_SECOND} for i, row in enumerate(rows))


def produce(place: object, name: str, rows: list[str]) -> None:
    """Send blocks of rows at an even rate."""
    begin = time.monotonic()
    for first in range(0, len(rows), BLOCK):
        place.send(name, rows[first : first + BLOCK])
        time.sleep(max(0.0, begin + (first + BLOCK) / ROWS_PER_SECOND - time.monotonic()))


def measured(kind: str, folder: Path) -> dict[str, float]:
    """Send and read; return what it took."""
    place = places.PLACES[kind](folder / "server")
    try:
        address, rows = place.make("rows"), bodies(ROWS_PER_SECOND * SECONDS)
        producer = threading.Thread(target=produce, args=(place, "rows", rows))
        begin = time.monotonic()
        producer.start()
        command = [sys.executable, "-m", "dynmeans.cli", "cluster", address, *OPTIONS]
        reader = subprocess.Popen([*command, "-o", str(folder / "run")])
        producer.join()
        sent = time.monotonic()
        _, status, usage = os.wait4(reader.pid, 0)
        end = time.monotonic()
        assert status == 0, status
    finally:
        place.stop()
    with Run.open(folder / "run") as run:
        assert run.status().n_rows == len(rows), run.status()
    return {
        "rows_per_second": len(rows) / (sent - begin),
        "share_of_a_core": (usage.ru_utime + usage.ru_stime) / (end - begin),
        "seconds_after_last_row": end - sent - IDLE,
        "megabytes": usage.ru_maxrss / 1024,
    }


def main() -> None:
    """Measure each kind."""
    results = {}
    for kind in sys.argv[1:] or places.PLACES:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # PostgreSQL runs as another user
            found = results[kind] = measured(kind, Path(folder))
        print(
            f"{kind:11} sent {found['rows_per_second']:,.0f} rows/s, read with "
            f"{100 * found['share_of_a_core']:.0f} % of a core and {found['megabytes']:.0f} MB, "
            f"done {found['seconds_after_last_row']:.1f} s after the last row"
        )
    write_results("streams/stream_rates", {"machine": machine(), "kinds": results})


if __name__ == "__main__":
    main()
