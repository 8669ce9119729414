"""Rows of Gibbs sampling for the synthetic experiment, made on a GPU.

    python benchmarks/gibbs_gpu/run.py tasks.json rows.jsonl

`tasks.json` is what `rows.py tasks` wrote: the configurations, the settings of the paper, and
seeds. The search and the comparison of both noises run side by side; `rows.py merge` takes the
rows in. Needs CuPy, NumPy and SciPy.
"""

import json
import math
import sys
import threading
import time
from pathlib import Path

import numpy as np
from chains import Device, Workers

from dynmeans.experiments.synthetic.config import SyntheticConfig

SETTING = ("concentration", "survival", "motion_variance")


class Run:
    """One noise: its search, its comparison, and where the rows go."""

    def __init__(self, given, device, write):
        self.config = SyntheticConfig.from_dict(given["config"])
        self.given, self.device, self.write = given, device, write

    def everything(self):
        """Compare at the paper's settings while the search goes on; then at what it found."""
        paper = threading.Thread(target=self.rows_of, args=(self.given["comparison"],))
        paper.start()
        best = self.search()
        self.rows_of([{**t, **best} for t in self.given["found"]])
        paper.join()

    def rows_of(self, tasks):
        """Run tasks, write their rows, return them."""
        rows = []
        for part in self.device.rows(self.config, tasks):
            self.write(self.config.noise, part)
            rows += part
        return rows

    def search(self):
        """Successive halving and racing, as `dynmeans.experiments.synthetic.search` does it."""
        settings = self.given["settings"]
        n_all = len(settings)
        for rung, n_streams in enumerate(self.config.search_streams):
            effort = self.config.search_sweeps[rung]
            seeded = self.given["search"][:n_streams]
            tasks = [{**t, **s, "effort": effort} for t in seeded for s in settings]
            scores = {tuple(s.values()): np.zeros(n_streams) for s in settings}
            for row in self.rows_of(tasks):
                place = tuple(row[name] for name in SETTING)
                scores[place][row["trial"]] = row[self.config.score]
            ranked = sorted(settings, key=lambda s: -scores[tuple(s.values())].mean())
            best = scores[tuple(ranked[0].values())]
            behind = [best - scores[tuple(s.values())] for s in ranked]
            if n_streams >= 8:
                limit = [2.0 * d.std(ddof=1) / math.sqrt(n_streams) for d in behind]
                pairs = zip(ranked, behind, limit, strict=True)
                ranked = [s for s, d, most in pairs if d.mean() <= most]
            last = min(rung + 1, len(self.config.search_kept) - 1)
            settings = ranked[: max(1, math.ceil(self.config.search_kept[last] * n_all))]
            print(self.config.noise, "rung", rung, settings[0], best.mean(), flush=True)
        return settings[0]


def main():
    """Run both noises side by side."""
    started = time.monotonic()
    workers = Workers(160)
    import cupy as cp  # after the processes were forked

    device, lock = Device(cp, workers), threading.Lock()
    with Path(sys.argv[2]).open("w") as out:

        def write(noise, rows):
            if not rows:
                return
            with lock:
                out.writelines(json.dumps(row) + "\n" for row in rows)
                out.flush()
                kind = [rows[0][k] for k in ("part", "n_clusters", "effort", "choice")]
                seconds = time.monotonic() - started
                print(f"{seconds:.0f} s: {noise}, {len(rows)} rows of {kind}", flush=True)

        runs = [Run(given, device, write) for given in json.loads(Path(sys.argv[1]).read_text())]
        threads = [threading.Thread(target=run.everything) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()
