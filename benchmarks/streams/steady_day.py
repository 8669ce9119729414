"""Memory of ``dynmeans cluster`` over a day of windows at ten times the speed: it must stay flat.

Run as ``python -m benchmarks.streams.steady_day [N_WINDOWS]``. A day of one-minute windows is
1,440; at ten times the speed, with rules that are looked at and labels that are put away, 14,400.
Rows come over standard input as fast as they are taken. Prints the resident memory after a tenth of
the windows and at the end; ends with an error if it grew by 5 %.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.machine import machine, write_results

N_WINDOWS, N_ROWS = 14_400, 60
LIMIT = 0.05


def memory(pid: int) -> float:
    """Return the resident memory of a process in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def window(number: int, rng: np.random.Generator) -> bytes:
    """Twenty clusters; now and then one goes and another comes."""
    which = (rng.integers(0, 20, N_ROWS) + number // 50) % 40
    x, y = 5.0 * which + rng.normal(0, 0.1, N_ROWS), rng.normal(0, 0.1, N_ROWS)
    times = 60.0 * number + np.sort(rng.uniform(0, 60, N_ROWS))
    rows = zip(times.tolist(), x.tolist(), y.tolist(), strict=True)
    lines = [json.dumps({"t": t, "x": a, "y": b}) for t, a, b in rows]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Feed the command, and look at its memory."""
    n_windows = int(sys.argv[1]) if sys.argv[1:] else N_WINDOWS
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.toml"
        rules.write_text(
            '[[rule]]\nname = "g"\nwhen = "grows"\npercent = 1e6\ncommand = ["true"]\n'
        )
        command = [
            sys.executable, "-m", "dynmeans.cli", "cluster", "-", "-f", "x,y", "-t", "t", "--every",
            "60", "--new-penalty", "1", "-o", f"{folder}/run", "--alerts", str(rules),
        "--label-retention",
            "60s", "--quiet",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        assert process.stdin is not None
        begin, seen = time.monotonic(), []
        for number in range(n_windows):
            process.stdin.write(window(number, rng))
            if (number + 1) % max(1, n_windows // 50) == 0:
                process.stdin.flush()
                seen.append((number + 1, memory(process.pid)))
        process.stdin.close()
        assert process.wait() == 0
    seconds = time.monotonic() - begin
    early = seen[len(seen) // 10][1]
    growth = seen[-1][1] / early - 1
    print(
        f"{n_windows:,} windows in {seconds:.0f} s: {early:.1f} MB after a tenth, "
        f"{seen[-1][1]:.1f} MB at the end: {100 * growth:+.1f} %"
    )
    write_results(
        "streams/steady_day", {"machine": machine(), "megabytes": dict(seen), "growth": growth}
    )
    if growth >= LIMIT:
        raise SystemExit(f"memory grew by more than {100 * LIMIT:g} %")


if __name__ == "__main__":
    main()
