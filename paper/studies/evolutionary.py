"""Evolutionary clustering on the streams of the synthetic experiment, beside Dynamic Means.

Run as ``python -m paper.studies.evolutionary``. The paper calls it related (Sec. 5). Two rules pull
the centers of k-means towards those they are matched with in the step before:

- evolutionary k-means (Chakrabarti, Kumar and Tomkins, KDD 2006): by a fixed change parameter cp
  and the sizes of both clusters; the best cp of three on these very streams, in its favor;
- the adaptive forgetting factor of AFFECT (Xu, Kliger and Hero, DMKD 2012): the shrinkage that
  minimizes the expected squared error, estimated from the variances within the clusters. AFFECT
  itself shrinks proximities of objects that are known in every step; these streams have no such
  objects, so the centers are shrunk.

The number of clusters is told for every step, or chosen by the silhouette. Clusters are matched
with those of the step before by the least sum of squared distances; what is left over is new.
`step_by_step` has what is not pulled at all. Writes paper/results/evolutionary.json, and measures
only what is not there: all methods on a few streams first.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from benchmarks.machine import machine, write_results
from dynmeans import DynamicMeans
from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.metrics import tracking_report
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.stream import LabeledStream
from paper.results_file import RESULTS
from paper.studies import step_by_step
from paper.studies.found import found_settings
from paper.studies.robustness import N_CLUSTERS, SCORES
from paper.synthetic.config import Setting, SyntheticConfig
from paper.synthetic.streams import stream_of
from paper.synthetic.tasks import FOUND, PAPER

# Means, sizes and variances of the means now, and smoothed centers and sizes before, of pairs.
Pull = Callable[[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]
Method = Callable[[LabeledStream, int], list[IntArray]]
EXPERIMENT = "evolutionary"
PATH = RESULTS / f"{EXPERIMENT}.json"
N_STREAMS, N_FEW = 20, 5
N_STARTS, MAX_PASSES = 3, 30
LARGEST_K = 8
CHANGES = (0.1, 0.3, 0.5)


def chakrabarti(cp: float) -> Pull:
    """c = (1 - g) cp c_before + g (1 - cp) mean, g = n / (n + n_before), scaled to sum to 1."""

    def pull(means, n, _, before, n_before):  # type: ignore[no-untyped-def]
        g = n / (n + n_before)
        past, now = (1 - g) * cp, g * (1 - cp)
        return (past[:, None] * before + now[:, None] * means) / (past + now)[:, None]

    return pull


def affect(means, n, variances, before, n_before):  # type: ignore[no-untyped-def]
    """c = a c_before + (1 - a) mean, a = sum var(mean) / sum(|c_before - mean|^2 + var(mean))."""
    a = variances.sum() / (((before - means) ** 2).sum() + variances.sum())
    return a * before + (1 - a) * means


class Evolving:
    """K-means of one step after the other, pulled towards the step before."""

    def __init__(self, pull: Pull, seed: int) -> None:
        self.pull, self.rng = pull, np.random.RandomState(seed)
        self.centers, self.sizes = np.empty((0, 2)), np.empty(0)
        self.ids, self.next_id = np.empty(0, dtype=np.int64), 0

    def step(self, points: FloatArray, n_clusters: int | None) -> IntArray:
        """Cluster a batch; the number of clusters is told, or chosen by the silhouette."""
        if n_clusters is not None:
            labels, centers = self.best_of_starts(points, n_clusters)
        else:
            tried = [self.best_of_starts(points, k) for k in range(2, LARGEST_K + 1)]
            labels, centers = max(tried, key=lambda found: _silhouette(points, found[0]))
        rows, cols = self.match(centers)
        ids = np.full(len(centers), -1)
        ids[rows] = self.ids[cols]
        is_new = ids < 0
        ids[is_new] = self.next_id + np.arange(is_new.sum())
        self.next_id += int(is_new.sum())
        self.ids, self.centers = ids, centers
        self.sizes = np.bincount(labels, minlength=len(centers)).astype(float)
        return ids[labels]

    def match(self, centers: FloatArray) -> tuple[IntArray, IntArray]:
        """Match centers with those of the step before."""
        rows, cols = linear_sum_assignment(cdist(centers, self.centers, "sqeuclidean"))
        return rows, cols

    def best_of_starts(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Start from the centers before and from k-means++; keep the least sum of squares."""
        starts = [kmeans_plusplus(points, k, random_state=self.rng)[0] for _ in range(N_STARTS - 1)]
        known = self.centers[:k]
        starts.append(np.vstack([known, starts[0][: k - len(known)]]))
        found = [self.iterate(points, start) for start in starts]
        return min(found, key=lambda f: ((points - f[1][f[0]]) ** 2).sum())

    def iterate(self, points: FloatArray, centers: FloatArray) -> tuple[IntArray, FloatArray]:
        """Lloyd's iterations, the centers pulled after each."""
        labels = np.full(len(points), -1)
        for _ in range(MAX_PASSES):
            last, labels = labels, cdist(points, centers, "sqeuclidean").argmin(axis=1)
            if (labels == last).all():
                break
            centers = self.pulled(points, labels, centers)
        return labels, centers

    def pulled(self, points: FloatArray, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the means of the clusters, each pulled towards its match in the step before."""
        n = np.bincount(labels, minlength=len(centers)).astype(float)
        means = centers.copy()
        squares = np.zeros(len(centers))
        for k in n.nonzero()[0]:
            members = points[labels == k]
            means[k] = members.mean(axis=0)
            squares[k] = ((members - means[k]) ** 2).sum()
        rows, cols = self.match(means)
        pairs = n[rows] > 0
        rows, cols = rows[pairs], cols[pairs]
        if len(rows):
            variances = squares[rows] / np.maximum(n[rows] - 1, 1) / n[rows]
            past = (self.centers[cols], self.sizes[cols])
            means[rows] = self.pull(means[rows], n[rows], variances, *past)
        return means


def _silhouette(points: FloatArray, labels: IntArray) -> float:
    n_labels = len(np.unique(labels))
    return float(silhouette_score(points, labels)) if 1 < n_labels < len(points) else -1.0


def methods() -> Iterator[tuple[str, str, Method]]:
    """Yield name, whether K is told, and a function of a stream and a seed."""
    rules = [(f"evolutionary k-means, cp = {cp}", chakrabarti(cp)) for cp in CHANGES]
    rules.append(("AFFECT's adaptive forgetting", affect))
    for name, pull in rules:
        for is_told in (True, False):

            def run(stream, seed, pull=pull, is_told=is_told):  # type: ignore[no-untyped-def]
                model = Evolving(pull, seed)
                ks = [len(ids) if is_told else None for ids in stream.ids]
                return [model.step(y, k) for y, k in zip(stream.batches, ks, strict=True)]

            yield name, "told" if is_told else "not told", run


def dynamic_means(setting: Setting) -> Method:
    """Return Dynamic Means at a setting, as a function of a stream and a seed."""
    return lambda stream, seed: DynamicMeans(
        **setting, n_init=3, search="paper", random_state=seed
    ).fit_sequence(stream.batches)[0]


def all_methods(noise: str) -> Iterator[tuple[str, str, Method]]:
    """Yield everything that is compared on the streams of one noise."""
    for origin, name in ((PAPER, "the paper's parameters"), (FOUND, "the parameters found")):
        setting = found_settings(noise, origin)["dynamic_means"]
        yield f"Dynamic Means, {name}", "not told", dynamic_means(setting)
    yield from methods()
    yield from step_by_step.methods(found_settings(noise)["dynamic_means"]["new_penalty"])


def measure(noise: str, run: Method, n_streams: int) -> dict[str, float]:
    """Return means and standard errors over the first streams of the comparison."""
    config, scores = SyntheticConfig(noise=noise), []
    for trial in range(n_streams):
        stream = stream_of(config, 0, N_CLUSTERS, trial)
        report = tracking_report(stream.labels, run(stream, trial))
        scores.append([float(report[score]) for score in SCORES])
    means, errors = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / np.sqrt(n_streams)
    return dict(zip(SCORES, means, strict=True)) | {
        f"{name}_error": error for name, error in zip(SCORES, errors, strict=True)
    }


def shares() -> tuple[int, float]:
    """Return how many rows there are, and the share of the streams of all methods."""
    rows = {_place(row): row for row in json.loads(PATH.read_text())["rows"]}
    wanted = [(noise, name, told) for noise in NOISES for name, told, _ in all_methods(noise)]
    done = sum(min(rows[place]["n_streams"], N_STREAMS) for place in wanted if place in rows)
    return len(rows), done / (N_STREAMS * len(wanted))


def main() -> None:
    """Measure and print what is missing: all methods on a few streams, then on all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=N_STREAMS)
    most = parser.parse_args().streams
    known = json.loads(PATH.read_text())["rows"] if PATH.exists() else []
    there = {_place(row): row for row in known}
    # Two threads on 75 points would wait for each other most of the time.
    threadpool_limits(1)
    for n_streams, noise in product(sorted({min(N_FEW, most), most}), NOISES):
        for name, told, run in all_methods(noise):
            place = (noise, name, told)
            if place in there and there[place]["n_streams"] >= n_streams:
                continue
            row = {"noise": noise, "method": name, "n_clusters": told, "n_streams": n_streams}
            there[place] = row | measure(noise, run, n_streams)
            print(there[place], flush=True)
            rows = sorted(there.values(), key=lambda row: NOISES.index(row["noise"]))
            write_results(EXPERIMENT, {"machine": machine(), "rows": rows}, RESULTS)


def _place(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["noise"], row["method"], row["n_clusters"]


if __name__ == "__main__":
    main()
