"""What a growing number of machines sends in one run: the protocol itself, in one process.

Run: python benchmarks/message_counts.py [--largest 1000]
Writes benchmarks/results/message_counts.json. docs/scaling-out.md compares it with the formula.

Every machine holds one block of 16384 rows. The requests and replies are those of a real run, made
and answered here without a network; only their numbers and bytes are looked at.
"""

import argparse
import json
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans import Penalties
from dynmeans.algorithm.sums import BLOCK
from dynmeans.backends.compiled import compiled
from dynmeans.backends.distributed.block_sums import add_blocks
from dynmeans.backends.distributed.crew import Round, count_bytes
from dynmeans.backends.distributed.messages import Moves, PieceInfo, Request
from dynmeans.backends.distributed.spread_cluster import SpreadOrder, SpreadRun
from dynmeans.backends.distributed.spread_pass import Remembered
from dynmeans.backends.distributed.worker import sum_up

N_FEATURES, N_CLUSTERS, SPREAD = 2, 100, 0.02
PENALTIES = Penalties(0.05, max_gap=6.8, reach=1.01)
RESULTS = Path(__file__).parent / "results" / "message_counts.json"


class OneProcess:
    """A crew whose machines are played by this process, one after the other."""

    def __init__(self, points: Any, n_machines: int) -> None:
        self._parts = [points[at : at + BLOCK] for at in range(0, len(points), BLOCK)]
        self.n_groups = min(n_machines, len(self._parts))
        self._groups = np.array_split(np.arange(len(self._parts)), self.n_groups)
        self.rounds: list[Round] = []

    def ask(self, task: Any, request: Request) -> list[Any]:
        """Carry out a task for every machine."""
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        return self._note(task, request, message, [])

    def sum_up(self, request: Request, columns: Any, n_rows: int) -> tuple[Any, Any]:
        """End the pass; the sums of the blocks are counted as sent between machines."""
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        replies = self._note(sum_up, request, message, [columns])
        return add_blocks(replies), Moves.merged([reply.moves for reply in replies]).n_joined

    def _note(self, task: Any, request: Request, message: bytes, extra: list[Any]) -> list[Any]:
        replies = []
        for numbers in self._groups:
            parts = [self._parts[number] for number in numbers]
            infos = [
                PieceInfo(int(number), int(number) * BLOCK, (0, len(self._parts[number])))
                for number in numbers
            ]
            nothing = [None] * len(parts)
            replies.append(task(message, infos, parts, nothing, nothing, *extra))
        between = sum(reply.sums.nbytes for reply in replies) if task is sum_up else 0
        proposals = [getattr(reply, "proposals", None) for reply in replies]
        self.rounds.append(
            Round(
                run=request.run,
                n_pass=request.n_pass,
                kind=task.__name__,
                seconds=0.0,
                bytes_out=len(message) * self.n_groups,
                bytes_in=sum(map(count_bytes, replies)) - between,
                bytes_between=between,
                n_tasks=self.n_groups,
                n_proposals=sum(len(p.keys) for p in proposals if p is not None),
            )
        )
        return replies


def remember_nothing(n_features: int) -> Remembered:
    """The memory of a first batch."""
    return Remembered(np.empty((0, n_features)), np.empty(0), np.empty(0), np.empty(0))


def make_points(n_rows: int) -> np.ndarray:
    """Clusters on a grid, with some spread."""
    rng = np.random.default_rng(0)
    side = int(np.sqrt(N_CLUSTERS))
    return rng.integers(side, size=(n_rows, N_FEATURES)) + SPREAD * rng.normal(
        size=(n_rows, N_FEATURES)
    )


def expected_out(n_machines: int, n_rounds: int, n_slots: int) -> float:
    """Two tables of clusters (the pass before and this one) to each machine in each round."""
    table = n_slots * (8 * N_FEATURES + 8 + 8 + 1)
    return n_machines * n_rounds * 2 * table


def measure(n_machines: int) -> dict[str, Any]:
    """One run with one block of rows on each machine."""
    n_rows = n_machines * BLOCK
    crew: Any = OneProcess(make_points(n_rows), n_machines)
    seed = int(compiled.order_seeds(5, 1)[0])
    order = SpreadOrder(f"{n_machines}/0", seed, 2**64)
    found = SpreadRun(
        crew, n_rows, remember_nothing(N_FEATURES), PENALTIES.new_penalty, order, ()
    ).cluster()
    by_pass: dict[int, list[Round]] = defaultdict(list)
    for entry in crew.rounds:
        by_pass[entry.n_pass].append(entry)
    n_slots = len(found.counts)
    return {
        "n_machines": n_machines,
        "n_rows": n_rows,
        "n_clusters": n_slots,
        "n_passes": found.n_passes,
        "n_rounds": len(crew.rounds),
        "rounds_of_first_pass": len(by_pass[1]),
        "n_messages": 2 * n_machines * len(crew.rounds),
        "n_proposals": sum(entry.n_proposals for entry in crew.rounds),
        "bytes_out": sum(entry.bytes_out for entry in crew.rounds),
        "bytes_out_expected": expected_out(n_machines, len(crew.rounds), n_slots),
        "bytes_in": sum(entry.bytes_in for entry in crew.rounds),
        "bytes_between": sum(entry.bytes_between for entry in crew.rounds),
        "bytes_between_expected": 8 * n_machines * n_slots * (1 + N_FEATURES),
    }


def main() -> None:
    """Measure growing numbers of machines, print a table, write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1000)
    options = parser.parse_args()
    results = []
    print("machines      rows  rounds  proposed  kB out a machine  kB in a machine  kB between")
    for n_machines in [n for n in (1, 3, 10, 30, 100, 300, 1000) if n <= options.largest]:
        found = measure(n_machines)
        results.append(found)
        print(
            f"{n_machines:8d} {found['n_rows']:9d} {found['n_rounds']:7d} "
            f"{found['n_proposals']:9d} {found['bytes_out'] / n_machines / 1e3:17.1f} "
            f"{found['bytes_in'] / n_machines / 1e3:16.1f} "
            f"{found['bytes_between'] / n_machines / 1e3:11.1f}",
            flush=True,
        )
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
