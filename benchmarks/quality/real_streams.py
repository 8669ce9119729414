"""How well identities are kept on real streams, with labels used for scoring only.

Run as ``python -m benchmarks.quality.real_streams``, with any number of ``.npz`` files (X, y,
sizes: rows, true labels with -1 for none, rows of each batch) in place of the streams at hand: gas
sensors, Reuters topics, flights by days and by two hours, ships. A table of global accuracy and
IDF1 is printed and written to benchmarks/results/quality/real_streams.json. ``--seeds`` and
``--orders`` repeat the label-free row with other visiting orders and other orders of rows;
``--river`` adds DenStream and DBSTREAM, which take minutes.
"""

import argparse
import importlib
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans, MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from benchmarks.machine import machine, write_results
from benchmarks.quality.ships import SHIPS, read_ships
from dynmeans import DynamicMeans, Families, Followed
from dynmeans.metrics import accuracy_global, idf1
from dynmeans.records.arrays import FloatArray, IntArray
from paper.aircraft.config import SCALED, WHOLE, AircraftConfig
from paper.aircraft.data import prepare_data

SHARED = Path(__file__).parents[3] / "shared" / "data"
Stream = tuple[list[FloatArray], list[IntArray]]
Row = dict[str, Any]
LAMBDAS = tuple(2.8 * 2.0 ** (-k / 2) for k in range(-2, 10))  # of the variance within batches
GAPS_AND_REACHES = ((6.8, 1.2), (28.0, 1.01), (np.inf, 1.01))
_CHOSEN: dict[str, Any] = {}  # parameters of ours that are not the default
EPS = (0.6, 0.8, 1.0, 1.3, 1.7)  # of the median distance to the fifth neighbor


def read_npz(path: Path) -> Stream:
    """Return the batches and true labels of a file."""
    with np.load(path) as file:
        ends = np.cumsum(file["sizes"])[:-1]
        points = file["X"].astype(np.float64)
        return np.split(points, ends), np.split(file["y"].astype(np.int64), ends)


def read_flights(hours: float) -> Stream:
    """Return flights of December by windows, with the features of the aircraft experiment."""
    folder = SHARED / "sfo_swim"
    config = AircraftConfig(
        messages=str(folder / "points_2019-12.parquet"),
        flights=str(folder / "flights_2019-12.parquet"),
        scored="od_ok",
        features=(SCALED,),
    )
    data = prepare_data(config)
    true = np.where(data.scored >= 0, data.scored, data.tuning)
    windows = data.windows(WHOLE, hours)
    return [data.features[SCALED][rows] for rows in windows], [true[rows] for rows in windows]


def streams_at_hand() -> dict[str, Callable[[], Stream]]:
    """Return the readers of what is there."""
    found: dict[str, Callable[[], Stream]] = {}
    for path in sorted((SHARED / "real_streams").glob("*.npz")):
        found[path.stem] = lambda path=path: read_npz(path)  # type: ignore[misc]
    if (SHARED / "sfo_swim").exists():
        found["flights, days"] = lambda: read_flights(24.0)
        found["flights, 2 h"] = lambda: read_flights(2.0)
    for name, path in SHIPS.items():
        if Path(path).exists():
            found[name] = lambda name=name: read_ships(name)  # type: ignore[misc]
    return found


def scores(true: Sequence[IntArray], found: Sequence[IntArray]) -> Row:
    """Global accuracy, IDF1, and how many identities there were."""
    return {
        "accuracy": accuracy_global(true, found),
        "idf1": idf1(true, found),
        "n_identities": len(np.unique(np.concatenate(found))),
    }


def usual_number(true: Sequence[IntArray]) -> float:
    """True clusters of a batch, on average: the hint."""
    numbers = [len(np.unique(y[y >= 0])) for y in true if (y >= 0).any()]
    return float(np.mean(numbers))


def ours(
    batches: list[FloatArray], true: list[IntArray], seed: int = 0, space: str = "raw"
) -> dict[str, Row]:
    """Label-free, with the hint, and the best level that labels can find in either tree."""
    rows, trees = {}, []
    for name, hint in (("label-free", None), ("with the hint", usual_number(true))):
        started = time.perf_counter()
        more = {"space": space, "random_state": seed, **_CHOSEN}
        model = DynamicMeans("auto", families=True, n_clusters=hint, **more)
        labels, _ = model.fit_sequence(batches)
        families = model.families_
        seconds = time.perf_counter() - started
        if hint is None:
            rows["label-free, without families"] = scores(true, labels)
        rows[name] = {**scores(true, families.of(labels)), "seconds": seconds}
        trees.append((families, labels))
    rows["best level"] = max(
        (_best_level(*tree, true) for tree in trees), key=lambda row: row["accuracy"]
    )
    return rows


def _best_level(families: Families, labels: list[IntArray], true: list[IntArray]) -> Row:
    levels = families.levels
    tried = levels[np.unique(np.linspace(0, len(levels) - 1, 80).astype(int))]
    found = [families.at(level).of(labels) for level in tried]
    return max((scores(true, part) for part in found), key=lambda row: row["accuracy"])


def best_with_labels(batches: list[FloatArray], true: list[IntArray]) -> Row:
    """The best of 36 settings with one lambda, chosen by the labels that score it."""
    variance = _variance(batches)
    rows = []
    for share in LAMBDAS:
        for max_gap, reach in GAPS_AND_REACHES:
            model = DynamicMeans(share * variance, max_gap=max_gap, reach=reach, random_state=0)
            rows.append(scores(true, model.fit_sequence(batches)[0]))
    return max(rows, key=lambda row: row["accuracy"])


def peers(batches: list[FloatArray], true: list[IntArray], is_river: bool) -> dict[str, Row]:
    """Clusterers of single batches, matched to the last one and with a memory; and of streams."""
    n_clusters = max(1, round(usual_number(true)))
    eps = _fifth_neighbor(batches)
    makers: dict[str, list[Any]] = {
        "DBSCAN, best of 5 eps": [DBSCAN(eps=m * eps, min_samples=5) for m in EPS],
        "HDBSCAN": [HDBSCAN(min_cluster_size=5, copy=True)],
        "KMeans told K": [KMeans(n_clusters, n_init=3, random_state=0)],
    }
    rows = {}
    for name, clusterers in makers.items():
        last, memory = [], []
        for clusterer in clusterers:
            found = [_clustered(clusterer, batch) for batch in batches]
            last.append(scores(true, match_to_last(batches, found)))
            memory.append(scores(true, _followed(batches, found)))
        rows[f"{name}, last batch"] = max(last, key=lambda row: row["accuracy"])
        rows[f"{name}, memory"] = max(memory, key=lambda row: row["accuracy"])
    rows["MiniBatchKMeans told K"] = scores(true, _mini_batches(batches, n_clusters))
    if is_river:
        for name in ("DenStream", "DBSTREAM"):
            rows[name] = scores(true, _river(name, batches, eps))
    return rows


def _clustered(clusterer: Any, batch: FloatArray) -> IntArray:
    least = getattr(clusterer, "n_clusters", getattr(clusterer, "min_cluster_size", 1))
    if len(batch) < max(least, 2):
        return np.zeros(len(batch), dtype=np.int64)
    return np.asarray(clusterer.fit_predict(batch), dtype=np.int64)


def match_to_last(batches: list[FloatArray], found: list[IntArray]) -> list[IntArray]:
    """Match the clusters of each batch one to one to those of the last, by their means."""
    ids, centers, n_born, labels = np.empty(0, dtype=np.int64), np.empty((0, 0)), 0, []
    for batch, names in zip(batches, found, strict=True):
        used = np.unique(names[names >= 0])
        if not len(used):
            labels.append(names)
            continue
        means = np.array([batch[names == name].mean(axis=0) for name in used])
        mine = np.full(len(used), -1)
        if len(ids):
            rows, columns = linear_sum_assignment(cdist(means, centers, "sqeuclidean"))
            mine[rows] = ids[columns]
        is_new = mine < 0
        mine[is_new] = n_born + np.arange(np.count_nonzero(is_new))
        n_born += int(np.count_nonzero(is_new))
        labels.append(
            np.where(names >= 0, mine[np.searchsorted(used, np.maximum(names, used[0]))], -1)
        )
        ids, centers = mine, means
    return labels


class _Given:
    """A clusterer that gives what was found before."""

    def __init__(self, labels: IntArray) -> None:
        self.labels = labels

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        return {"labels": self.labels}

    def fit_predict(self, _: FloatArray) -> IntArray:
        return self.labels


def _followed(batches: list[FloatArray], found: list[IntArray]) -> list[IntArray]:
    model = Followed(_Given(found[0]), max_gap=np.inf)
    labels = []
    for batch, names in zip(batches, found, strict=True):
        model.clusterer = _Given(names)
        empty = np.empty(0, dtype=np.int64)
        labels.append(model.partial_fit(batch).labels_ if len(batch) else empty)
    return labels


def _mini_batches(batches: list[FloatArray], n_clusters: int) -> list[IntArray]:
    model = MiniBatchKMeans(n_clusters, random_state=0)
    labels, waiting = [], []
    for batch in batches:
        waiting.append(batch)
        if not hasattr(model, "cluster_centers_") and sum(map(len, waiting)) < n_clusters:
            labels.append(np.zeros(len(batch), dtype=np.int64))
            continue
        model.partial_fit(np.concatenate(waiting))
        waiting = []
        labels.append(model.predict(batch).astype(np.int64) if len(batch) else np.empty(0, int))
    return labels


def _river(name: str, batches: list[FloatArray], eps: float) -> list[IntArray]:
    cluster = importlib.import_module("river.cluster")
    model: Any = (
        cluster.DenStream(decaying_factor=0.01, beta=0.75, mu=2, epsilon=eps, n_samples_init=100)
        if name == "DenStream"
        else cluster.DBSTREAM(clustering_threshold=eps, cleanup_interval=100)
    )
    labels = []
    for batch in batches:
        rows = [dict(enumerate(row)) for row in batch.tolist()]
        for row in rows:
            model.learn_one(row)
        labels.append(np.array([model.predict_one(row) for row in rows], dtype=np.int64))
    return labels


def _variance(batches: list[FloatArray]) -> float:
    squares = sum(float(((b - b.mean(axis=0)) ** 2).sum()) for b in batches if len(b))
    return squares / sum(map(len, batches))


def _fifth_neighbor(batches: list[FloatArray]) -> float:
    distances = [
        NearestNeighbors(n_neighbors=6).fit(b).kneighbors(b)[0][:, -1]
        for b in batches
        if len(b) > 6
    ]
    return float(np.median(np.concatenate(distances)))


def spread_of_accuracy(
    batches: list[FloatArray], true: list[IntArray], n_seeds: int, n_orders: int
) -> Row:
    """Accuracy with other visiting orders, label-free and hinted, and with other orders of rows."""

    def accuracy(
        rows: list[FloatArray], labels: list[IntArray], seed: int, hint: float | None = None
    ) -> float:
        model = DynamicMeans("auto", families=True, random_state=seed, n_clusters=hint, **_CHOSEN)
        found, _ = model.fit_sequence(rows)
        return accuracy_global(labels, model.families_.of(found))

    rng = np.random.default_rng(0)
    seeds = [accuracy(batches, true, seed) for seed in range(n_seeds)]
    hinted = [accuracy(batches, true, seed, usual_number(true)) for seed in range(n_seeds)]
    orders = []
    for _ in range(n_orders):
        mixed = [rng.permutation(len(batch)) for batch in batches]
        rows = [batch[order] for batch, order in zip(batches, mixed, strict=True)]
        labels = [y[order] for y, order in zip(true, mixed, strict=True)]
        orders.append(accuracy(rows, labels, 0))
    return {"seeds": seeds, "with the hint": hinted, "orders": orders}


def main() -> None:
    """Score, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help=".npz files; else what is at hand")
    parser.add_argument("--only", nargs="*", help="names of streams")
    parser.add_argument("--river", action="store_true", help="DenStream and DBSTREAM too")
    parser.add_argument("--ours", action="store_true", help="without peers and settings by labels")
    parser.add_argument("--search", help="deep or paper, in place of the default")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--orders", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    _CHOSEN.update({"search": options.search} if options.search else {})
    files = {path.stem: lambda path=path: read_npz(path) for path in options.files}
    readers = files or streams_at_hand()
    if not readers:
        parser.error("no stream at hand: give .npz files with X, y and sizes.")
    results = {}
    for name, read in readers.items():
        if options.only and name not in options.only:
            continue
        batches, true = read()
        rows = ours(batches, true)
        if not options.ours:
            rows["best with labels"] = best_with_labels(batches, true)
            rows |= peers(batches, true, options.river)
        results[name] = rows
        print(f"{name}: {len(batches)} batches, {usual_number(true):.1f} true clusters in each")
        for method, row in rows.items():
            print(
                f"  {method:<32}{row['accuracy']:.3f}  IDF1 {row['idf1']:.3f}"
                f"  {row['n_identities']} identities",
                flush=True,
            )
        if options.seeds or options.orders:
            spread = spread_of_accuracy(batches, true, options.seeds, options.orders)
            results[name]["spread"] = spread
            print("  spread", {k: [round(x, 3) for x in v] for k, v in spread.items()}, flush=True)
    write_results("quality/real_streams", {"machine": machine(), **_CHOSEN, "streams": results})


if __name__ == "__main__":
    main()
