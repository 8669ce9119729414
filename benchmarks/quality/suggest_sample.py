"""What a choice on a sample is worth, beside one on all points of the same dense streams.

Run as ``python -m benchmarks.quality.suggest_sample [--seeds 1]``. The streams are those of
benchmarks/quality/selection.py with so many times their points that a batch holds some 6,000, so
that a search over all of them takes long. Prints processor seconds and global tracking accuracy of
both.
"""

import argparse
import time
from unittest import mock

import numpy as np

from benchmarks.quality.suggest import N_CHOSEN_ON, run_labels
from benchmarks.quality.suggest_streams import FAMILIES, FIRST_TEST_SEED, make_stream
from dynmeans.metrics import accuracy_global
from dynmeans.parameters import selection

POINTS_OF_A_BATCH = 6_000


def measure(family: str, seed: int) -> list[float]:
    """Return seconds and accuracy of the choice on all points, then of that on a sample."""
    n_usual = len(make_stream(family, seed, 1).batches[0])
    stream = make_stream(family, seed, N_CHOSEN_ON, max(1, POINTS_OF_A_BATCH // n_usual))
    found = []
    for most in (np.inf, selection.N_WHOLE):
        with mock.patch.object(selection, "N_WHOLE", most):
            begin = time.process_time()
            chosen = selection.suggest(stream.batches).penalties
            found.append(time.process_time() - begin)
        found.append(accuracy_global(stream.labels, run_labels(stream.batches, chosen)))
    return found


def main() -> None:
    """Measure and print one line for each family, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="streams of each family")
    seeds = range(FIRST_TEST_SEED, FIRST_TEST_SEED + parser.parse_args().seeds)
    print(f"{'family':<18}{'all: s':>8}{'accuracy':>10}{'sample: s':>11}{'accuracy':>10}")
    rows = []
    for family in FAMILIES:
        rows += [measure(family, seed) for seed in seeds]
        _print_line(family, np.mean(rows[-len(seeds) :], axis=0))
    _print_line("all", np.mean(rows, axis=0))


def _print_line(name: str, row: np.ndarray) -> None:
    print(f"{name:<18}{row[0]:>8.1f}{row[1]:>10.3f}{row[2]:>11.1f}{row[3]:>10.3f}", flush=True)


if __name__ == "__main__":
    main()
