"""A million texts in windows of 5,000, each with a word never seen before: memory and time.

Run as ``python -m benchmarks.scale.text_memory [N_ROWS]``. Writes
benchmarks/results/scale/text_memory.json. Needs Linux, which says what a process holds.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.machine import machine, write_results
from benchmarks.quality.text_streams import Kind, make_texts
from dynmeans.runs.run import Run

N_ROWS, WINDOW = 1_000_000, 5_000
_CHILD = """
import dynmeans, resource, sys
dynmeans.cluster(sys.argv[1], text="text", count=int(sys.argv[3]), out=sys.argv[2])
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def write_texts(path: Path, n_rows: int) -> None:
    """Write the texts of a stream again and again, each time with a new word at its end."""
    texts = make_texts(Kind(200, 8, 0.5, 0.25, n_texts=20_000, n_windows=4), 0)["text"].tolist()
    with pq.ParquetWriter(path, pa.schema([("text", pa.string())])) as writer:
        for first in range(0, n_rows, len(texts)):
            n = min(len(texts), n_rows - first)
            rows = [f"{text} n{first + i}w" for i, text in enumerate(texts[:n])]
            writer.write_table(pa.table({"text": rows}))


def resident(pid: int) -> float:
    """Return the megabytes of memory that a process holds in files of its own or in none."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["RssAnon"].split()[0]) / 1024


def main() -> None:
    """Cluster in a process of its own, and look at its memory every second."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else N_ROWS
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        rows, out = Path(folder) / "rows.parquet", Path(folder) / "run"
        write_texts(rows, n_rows)
        command = [sys.executable, "-W", "ignore", "-c", _CHILD, str(rows), str(out), str(WINDOW)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            while child.poll() is None:
                time.sleep(1.0)
                try:
                    with Run.open(out) as run:
                        seen.append([run.status().n_rows, round(resident(child.pid))])
                except (FileNotFoundError, KeyError):
                    continue  # not begun, or just ended
            assert child.stdout is not None
            seconds, peak = map(float, child.stdout.read().split())
        with Run.open(out) as run:
            n_clusters = run.status().n_clusters_total
            n_words = int(run.store.query("SELECT count(*) FROM words")[0][0])
    parts = [[mb for n, mb in seen if k * n_rows <= 5 * n < (k + 1) * n_rows] for k in range(1, 5)]
    found = {
        "n_rows": n_rows,
        "cpu_seconds": seconds,
        "peak_mb": peak,
        "n_clusters": n_clusters,
        "n_words": n_words,
        "mean_mb_of_fifths": [round(sum(part) / len(part)) if part else None for part in parts],
    }
    print(found)
    write_results("scale/text_memory", {"machine": machine(), **found})


if __name__ == "__main__":
    main()
