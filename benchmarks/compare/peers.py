"""Clusterers that one might use instead, as their users would run them, beside dynmeans.

Run as ``python -m benchmarks.compare.peers`` with any .npz files of X, y and sizes, or on the given
real streams and generated ones. Each method runs with its defaults, and the others with the best of
a few settings, chosen by the labels of the same stream. All name a row when its batch came, except
"dynmeans, hindsight". The first 4,000 rows of a stream are used: river's clusterers take rows one
by one, in Python. Writes benchmarks/results/compare/peers.json.
"""

import argparse
import importlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.neighbors import NearestNeighbors

from benchmarks.compare.drifting_suite import FIRST_SEED
from benchmarks.compare.ours import Labels, name_in_hindsight, name_online
from benchmarks.compare.rows import Row, Rows
from benchmarks.quality.drifting_streams import SUITE, make_drifting
from benchmarks.quality.real_peers import match_to_last
from benchmarks.quality.real_streams import SHARED, read_npz
from dynmeans.metrics import accuracy_global
from dynmeans.records.arrays import FloatArray, IntArray

N_ROWS, N_SEEDS = 4_000, 4
Choice = dict[str, Any]
# What a clusterer without any cluster may raise.
_FAILURES = (ArithmeticError, AttributeError, IndexError, KeyError, ValueError)


@dataclass(frozen=True)
class Stream:
    """The first rows of a stream, and what may be given beside them."""

    batches: list[FloatArray]
    true: list[IntArray]

    @property
    def n_clusters(self) -> int:
        """True clusters of the whole stream."""
        labels = np.concatenate(self.true)
        return len(np.unique(labels[labels >= 0]))

    @property
    def n_usual(self) -> int:
        """True clusters of a batch, on average."""
        numbers = [len(np.unique(y[y >= 0])) for y in self.true]
        return max(1, round(float(np.mean(numbers))))

    @property
    def eps(self) -> float:
        """Median distance of a row to the fifth neighbor in its batch that is not the same row."""
        found = [
            NearestNeighbors(n_neighbors=6).fit(b).kneighbors(b)[0][:, -1]
            for b in self.batches
            if len(b) > 6
        ]
        distances = np.concatenate(found)
        return float(np.median(distances[distances > 0]))


def first_rows(batches: list[FloatArray], true: list[IntArray]) -> Stream:
    """Return the whole batches among the first rows."""
    n = max(1, int(np.searchsorted(np.cumsum([len(b) for b in batches]), N_ROWS, side="right")))
    return Stream(batches[:n], true[:n])


def run_online(stream: Stream, seed: int, choice: Choice) -> Labels:
    """Run dynmeans batch by batch."""
    return name_online(stream.batches, seed)


def run_hindsight(stream: Stream, seed: int, choice: Choice) -> Labels:
    """Run dynmeans on the whole stream."""
    return name_in_hindsight(stream.batches, seed)


def run_hdbscan(stream: Stream, seed: int, choice: Choice) -> Labels:
    """Fit each batch anew and match its clusters to those of the last one."""
    model = HDBSCAN(copy=True, **choice)
    found = [
        model.fit_predict(batch)
        if len(batch) >= model.min_cluster_size
        else np.zeros(len(batch), dtype=np.int64)
        for batch in stream.batches
    ]
    return match_to_last(stream.batches, [np.maximum(labels, -1) for labels in found])


def run_kmeans(stream: Stream, seed: int, choice: Choice) -> Labels:
    """Fit each batch anew and match its clusters to those of the last one."""
    n_clusters = max(1, round(choice.get("times_k", 1) * stream.n_usual))
    found = [
        KMeans(min(n_clusters, len(batch)), n_init=choice.get("n_init", "auto"), random_state=seed)
        .fit_predict(batch)
        .astype(np.int64)
        for batch in stream.batches
    ]
    return match_to_last(stream.batches, found)


def run_mini_batch(stream: Stream, seed: int, choice: Choice) -> Labels:
    """Learn each batch, then predict it; the first ones wait for as many rows as clusters."""
    given = dict(choice)
    n_clusters = max(1, round(given.pop("times_k", 1) * stream.n_clusters))
    model = MiniBatchKMeans(n_clusters, random_state=seed, **given)
    labels, waiting = [], []
    for batch in stream.batches:
        waiting.append(batch)
        if not hasattr(model, "cluster_centers_") and sum(map(len, waiting)) < n_clusters:
            labels.append(np.zeros(len(batch), dtype=np.int64))
            continue
        model.partial_fit(np.concatenate(waiting))
        waiting = []
        labels.append(model.predict(batch).astype(np.int64))
    return labels


def run_river(name: str, stream: Stream, choice: Choice) -> Labels:
    """Learn the rows of a batch one by one, then predict each."""
    given = dict(choice)
    distance = {"DBSTREAM": "clustering_threshold", "DenStream": "epsilon"}[name]
    if "times_eps" in given:
        given[distance] = given.pop("times_eps") * stream.eps
    model = getattr(importlib.import_module("river.cluster"), name)(**given)
    labels = []
    for batch in stream.batches:
        rows = [dict(enumerate(row)) for row in batch.tolist()]
        for row in rows:
            model.learn_one(row)
        labels.append(np.array([model.predict_one(row) for row in rows], dtype=np.int64))
    return labels


Run = Callable[[Stream, int, Choice], Labels]


def grid(**values: tuple[Any, ...]) -> list[Choice]:
    """Return every combination of the values."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


# Method: what runs it, the settings that are tried, and whether a seed changes it.
METHODS: dict[str, tuple[Run, list[Choice], bool]] = {
    "dynmeans, online": (run_online, [{}], True),
    "dynmeans, hindsight": (run_hindsight, [{}], True),
    "DBSTREAM": (
        lambda stream, seed, choice: run_river("DBSTREAM", stream, choice),
        [{}, *grid(times_eps=(1.0, 2.0, 4.0), fading_factor=(0.01, 0.001))],
        False,
    ),
    "DenStream": (
        lambda stream, seed, choice: run_river("DenStream", stream, choice),
        [{}, *grid(times_eps=(1.0, 2.0, 4.0), decaying_factor=(0.25, 0.01), n_samples_init=(200,))],
        False,
    ),
    "HDBSCAN": (
        run_hdbscan,
        [
            {},
            *grid(min_cluster_size=(5, 10, 20, 40), cluster_selection_method=("eom", "leaf")),
        ],
        False,
    ),
    "KMeans, K given": (run_kmeans, [{}, *grid(times_k=(0.5, 1, 2), n_init=(10,))], True),
    "MiniBatchKMeans, K given": (
        run_mini_batch,
        [{}, *grid(times_k=(0.5, 1, 2), reassignment_ratio=(0.0, 0.01))],
        True,
    ),
}


def score(stream: Stream, found: Labels) -> Row:
    """Return global accuracy and adjusted mutual information."""
    true, labels = np.concatenate(stream.true), np.concatenate(found)
    is_scored = true >= 0
    return {
        "accuracy": float(accuracy_global(stream.true, found)),
        "ami": float(adjusted_mutual_info_score(true[is_scored], labels[is_scored])),
        "n_found": len(np.unique(labels[labels >= 0])),
    }


Tried = tuple[Row, float] | None  # scores and seconds of a setting; None if it failed


class Trials:
    """The settings that were tried on a stream; the defaults are tried once for both rows."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._known: dict[tuple[str, int, str], Tried] = {}

    def best(self, method: str, seed: int, choices: list[Choice]) -> Row:
        """Return the scores of the best of these settings, its time, and which it is."""
        best: Row = {}
        for choice in choices:
            tried = self._try(method, seed, choice)
            if tried is not None and (not best or tried[0]["accuracy"] > best["accuracy"]):
                shown = {name: str(value) for name, value in choice.items()}
                best = {**tried[0], "seconds": tried[1], "chosen": shown}
        failed = {"accuracy": 0.0, "ami": 0.0, "n_found": 0, "seconds": 0.0, "chosen": None}
        n_rows = sum(map(len, self.stream.true))
        return {**(best or failed), "n_tried": len(choices), "n_rows": n_rows}

    def _try(self, method: str, seed: int, choice: Choice) -> Tried:
        key = method, seed, repr(choice)
        if key not in self._known:
            started = time.perf_counter()
            try:
                found = METHODS[method][0](self.stream, seed, choice)
            except _FAILURES:
                self._known[key] = None
            else:
                seconds = time.perf_counter() - started
                self._known[key] = score(self.stream, found), seconds
        return self._known[key]


def streams(files: list[Path]) -> Iterator[tuple[str, int | None, Callable[[], Stream]]]:
    """Return name, seed (None: the data have none) and reader of each stream."""
    if not files:
        for kind in SUITE:
            for seed in range(FIRST_SEED, FIRST_SEED + N_SEEDS):
                read = lambda kind=kind, seed=seed: first_rows(*make_drifting(kind, seed))  # noqa: E731
                yield f"generated, {kind}", seed, read
    given = sorted((SHARED / "real_streams").glob("*.npz"))
    for path in files or given:
        name = path.stem if files else f"given, {path.stem}"
        yield name, None, lambda path=path: first_rows(*read_npz(path))


def measure(rows: Rows, files: list[Path]) -> None:
    """Measure the rows that are not there."""
    for data, own_seed, read in streams(files):
        trials = None
        for method, (_, choices, has_seed) in METHODS.items():
            seeds = [own_seed] if own_seed is not None else range(N_SEEDS if has_seed else 1)
            for how, tried in (("defaults", choices[:1]), ("best by labels", choices)):
                if len(tried) == 1 and how != "defaults":
                    continue
                for seed in seeds:
                    trials = trials or Trials(read())
                    rows.measure(
                        {"data": data, "seed": seed, "method": f"{method}, {how}"},
                        lambda t=trials, m=method, seed=seed, tried=tried: t.best(m, seed, tried),
                    )


def main() -> None:
    """Measure the rows that are not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help=".npz files; else what is at hand")
    parser.add_argument("--again", help="measure rows again whose method has this in its name")
    parser.add_argument("--only", default="", help="only rows that have this in data or method")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(Rows("peers", options.again, options.only), options.files)


if __name__ == "__main__":
    main()
