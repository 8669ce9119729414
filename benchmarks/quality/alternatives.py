"""Time and tracking scores of what one might use instead, on the same moving streams.

Run as ``python -m benchmarks.quality.alternatives`` (``make bench``). Every method but the one with
the paper's penalties has its parameters chosen from a small grid, by HOTA, on a stream of another
seed. Labels without lasting identities may be matched from batch to batch: the grid holds both.
Choices for other packages do not depend on our code: they are taken from the results file, and
``--fresh`` searches again. Writes benchmarks/results/quality/alternatives.json.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from typing import Any, Protocol

import numpy as np
from river import cluster
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import Birch, KMeans, MiniBatchKMeans
from threadpoolctl import threadpool_limits

from benchmarks.machine import RESULTS, machine, write_results
from dynmeans import DPMeans, DynamicMeans
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import tracking_report
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.stream import LabeledStream

SCORES = ("accuracy_per_step", "accuracy_global", "idf1", "hota", "id_switches")
TUNING_SEED = 1000
PER_CLUSTER = 15
DYNMEANS = ("DynamicMeans", "DPMeans")
LONG_S = 10.0  # a method that needs longer for one stream is scored on this one only


@dataclass(frozen=True)
class Setting:
    """One kind of stream."""

    name: str
    n_clusters: int
    spread: float = 0.05
    motion: float = 0.05
    vanish: float = 0.0

    def stream(self, n_steps: int, seed: int) -> LabeledStream:
        """Make it."""
        return moving_gaussians(
            n_steps,
            self.n_clusters,
            rng=np.random.default_rng(seed),
            points_per_cluster=PER_CLUSTER,
            spread=self.spread,
            motion=self.motion,
            vanish=self.vanish,
        )


SETTINGS = [
    Setting("paper, 5 clusters", 5),
    Setting("paper, 20 clusters", 20),
    Setting("slower, with returns, 5 clusters", 5, spread=0.03, motion=0.02, vanish=0.05),
    Setting("slower, with returns, 20 clusters", 20, spread=0.03, motion=0.02, vanish=0.05),
]


class Method(Protocol):
    """Labels one batch after the other; told how many clusters are in each."""

    def label(self, points: FloatArray, n_clusters: int) -> IntArray:
        """Take in one batch and return its labels."""


class Matched:
    """Gives the labels of another method identities that last.

    The means of the found clusters are matched with those of the batch before, so that the sum
    of squared distances is least; pairs farther apart than `farthest` are not the same cluster.
    """

    def __init__(self, method: Method, farthest: float = np.inf) -> None:
        self.method, self.farthest, self.next_id = method, farthest, 0
        self.centers, self.ids = np.empty((0, 2)), np.empty(0, dtype=np.int64)

    def label(self, points: FloatArray, n_clusters: int) -> IntArray:
        """Rename the labels of the method."""
        found, labels = np.unique(self.method.label(points, n_clusters), return_inverse=True)
        centers = np.array([points[labels == k].mean(axis=0) for k in range(len(found))])
        distances = cdist(centers, self.centers)
        rows, columns = linear_sum_assignment(distances**2)
        is_near = distances[rows, columns] <= self.farthest
        ids = np.full(len(found), -1)
        ids[rows[is_near]] = self.ids[columns[is_near]]
        is_new = ids < 0
        ids[is_new] = self.next_id + np.arange(is_new.sum())
        self.next_id += int(is_new.sum())
        self.centers, self.ids = centers, ids
        return ids[labels]


class PartialFit:
    """An estimator that learns from one batch after the other."""

    def __init__(self, model: Any, has_labels: bool = False) -> None:
        self.model, self.has_labels = model, has_labels

    def label(self, points: FloatArray, n_clusters: int) -> IntArray:
        """Learn, then predict."""
        self.model.partial_fit(points)
        return self.model.labels_ if self.has_labels else self.model.predict(points)


class OneByOne:
    """A clusterer of river: learns each point of the batch, then predicts each."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def label(self, points: FloatArray, n_clusters: int) -> IntArray:
        """Learn, then predict."""
        rows = [dict(enumerate(row)) for row in points.tolist()]
        for row in rows:
            self.model.learn_one(row)
        return np.array([self.model.predict_one(row) for row in rows], dtype=np.int64)


class EachBatch:
    """A clustering of each batch by itself."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make = make

    def label(self, points: FloatArray, n_clusters: int) -> IntArray:
        """Fit anew."""
        return self.make(n_clusters).fit(points).labels_


Choice = dict[str, Any]
Maker = Callable[[Setting, Choice], Method]


def grid(**values: Iterable[Any]) -> list[Choice]:
    """Every combination of the values."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def maybe_matched(method: Method, choice: Choice, setting: Setting) -> Method:
    """Match where the choice says so; its `farthest` counts spreads, None is no matching."""
    if choice["farthest"] is None:
        return method
    return Matched(method, choice["farthest"] * setting.spread)


def _paper(setting: Setting, choice: Choice) -> Method:
    return PartialFit(DynamicMeans(0.04, max_gap=6.8, reach=1.01, random_state=0), has_labels=True)


def _dynamic_means(setting: Setting, choice: Choice) -> Method:
    model = DynamicMeans((choice["radius"] * setting.spread) ** 2, random_state=0)
    return PartialFit(model, has_labels=True)


def _dp_means(setting: Setting, choice: Choice) -> Method:
    new_penalty = (choice["radius"] * setting.spread) ** 2
    method = EachBatch(lambda n: DPMeans(new_penalty, random_state=0))
    return maybe_matched(method, choice, setting)


def _k_means(setting: Setting, choice: Choice) -> Method:
    method = EachBatch(lambda n: KMeans(n, n_init=choice["n_init"], random_state=0))
    return maybe_matched(method, choice, setting)


def _mini_batch(setting: Setting, choice: Choice) -> Method:
    model = MiniBatchKMeans(
        setting.n_clusters,
        n_init=3,
        random_state=0,
        reassignment_ratio=choice["reassignment_ratio"],
    )
    return maybe_matched(PartialFit(model), choice, setting)


def _birch(setting: Setting, choice: Choice) -> Method:
    n_clusters = setting.n_clusters if choice["is_number_given"] else None
    model = Birch(threshold=choice["radius"] * setting.spread, n_clusters=n_clusters)
    return maybe_matched(PartialFit(model), choice, setting)


def _dbstream(setting: Setting, choice: Choice) -> Method:
    model = cluster.DBSTREAM(
        clustering_threshold=choice["radius"] * setting.spread,
        fading_factor=choice["fading"],
        cleanup_interval=PER_CLUSTER * setting.n_clusters,
        minimum_weight=choice["weight"],
    )
    return maybe_matched(OneByOne(model), choice, setting)


def _denstream(setting: Setting, choice: Choice) -> Method:
    n_points = PER_CLUSTER * setting.n_clusters
    model = cluster.DenStream(
        decaying_factor=choice["decay"],
        beta=0.5,
        mu=choice["weight"],
        epsilon=choice["radius"] * setting.spread,
        n_samples_init=n_points,
        stream_speed=n_points,
    )
    return maybe_matched(OneByOne(model), choice, setting)


def _clustream(setting: Setting, choice: Choice) -> Method:
    n_points = PER_CLUSTER * setting.n_clusters
    model = cluster.CluStream(
        n_macro_clusters=setting.n_clusters,
        max_micro_clusters=choice["micro"] * setting.n_clusters,
        time_window=choice["batches"] * n_points,
        time_gap=n_points,
        seed=0,
        # Of its k-means: centers begin within the data, not around 0 with deviation 1.
        halflife=choice["halflife"],
        mu=0.5,
        sigma=0.3,
    )
    return maybe_matched(OneByOne(model), choice, setting)


FARTHEST = (None, 4.0)
METHODS: dict[str, tuple[Maker, list[Choice]]] = {
    "DynamicMeans, paper's penalties": (_paper, [{}]),
    "DynamicMeans, defaults": (_dynamic_means, grid(radius=(3, 4, 5, 6, 7))),
    "DPMeans + matching": (_dp_means, grid(radius=(3, 4, 5, 6, 7), farthest=(4.0, np.inf))),
    "KMeans, K given + matching": (_k_means, grid(n_init=(1, 10, 30), farthest=(4.0, np.inf))),
    "MiniBatchKMeans, K given": (
        _mini_batch,
        grid(reassignment_ratio=(0.0, 0.01, 0.1), farthest=FARTHEST),
    ),
    "Birch": (
        _birch,
        grid(radius=(1, 2, 3, 4, 5, 6), is_number_given=(False, True), farthest=FARTHEST),
    ),
    "DBSTREAM": (
        _dbstream,
        grid(
            radius=(1, 2, 3, 4), fading=(0.01, 0.05, 0.1), weight=(1.0, 3.0, 6.0), farthest=FARTHEST
        ),
    ),
    "DenStream": (
        _denstream,
        grid(radius=(1.5, 2), decay=(0.1, 0.25, 1.0), weight=(3.0, 6.0, 12.0), farthest=FARTHEST),
    ),
    "CluStream, K given": (
        _clustream,
        grid(micro=(2, 5, 10), batches=(1, 3), halflife=(0.5, 0.8), farthest=FARTHEST),
    ),
}


def score(method: Method, stream: LabeledStream) -> dict[str, float]:
    """Milliseconds per batch, and the tracking scores."""
    found, spent = [], []
    for points, ids in zip(stream.batches, stream.ids, strict=True):
        start = time.process_time()
        found.append(method.label(points, len(ids)) if len(points) else np.empty(0, dtype=np.int64))
        spent.append(time.process_time() - start)
    report = tracking_report(stream.labels, found)
    return {"ms_per_batch": float(np.mean(spent)) * 1e3, **{s: report[s] for s in SCORES}}


def tune(make: Maker, choices: list[Choice], setting: Setting, n_steps: int) -> Choice:
    """Return the choice of highest HOTA on the stream kept for this."""
    if len(choices) == 1:
        return choices[0]
    stream = setting.stream(n_steps, TUNING_SEED)
    hotas = []
    for choice in choices:
        try:
            hotas.append(score(make(setting, choice), stream)["hota"])
        except (ArithmeticError, KeyError, IndexError, ValueError) as error:
            # Some parameters leave a method without any cluster, which it cannot bear.
            print(f"    {choice}: {error!r}")
            hotas.append(-1.0)
    return choices[int(np.argmax(hotas))]


def score_on_seeds(
    make: Maker, choice: Choice, setting: Setting, n_steps: int, n_seeds: int
) -> list[dict[str, float]]:
    """Scores on one stream a seed; on the first alone if that takes long."""
    runs = []
    for seed in range(n_seeds):
        runs.append(score(make(setting, choice), setting.stream(n_steps, seed)))
        if runs[0]["ms_per_batch"] * n_steps > 1e3 * LONG_S:
            break
    return runs


def compare(
    setting: Setting, n_steps: int, n_tuning_steps: int, n_seeds: int, kept: dict[str, Choice]
) -> dict[str, Any]:
    """Run every method on the streams of one setting; means over the seeds."""
    print(f"\n{setting.name}: {setting}")
    print(f"{'':<33} ms/batch " + " ".join(f"{name:>17}" for name in SCORES))
    rows = {}
    for name, (make, choices) in METHODS.items():
        choice = next((choice for choice in choices if _plain(choice) == kept.get(name)), None)
        if choice is None:
            choice = tune(make, choices, setting, n_tuning_steps)
        runs = score_on_seeds(make, choice, setting, n_steps, n_seeds)
        means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        deviations = {key: float(np.std([run[key] for run in runs])) for key in runs[0]}
        rows[name] = {
            "chosen": _plain(choice),
            "n_streams": len(runs),
            "mean": means,
            "deviation": deviations,
        }
        scores = " ".join(f"{means[key]:17.3f}" for key in SCORES)
        print(f"{name:<33} {means['ms_per_batch']:8.3f} {scores}  {_plain(choice)}", flush=True)
    return {"setting": vars(setting), "methods": rows}


def _plain(choice: Choice) -> Choice:
    return {name: "any" if value == np.inf else value for name, value in choice.items()}


def choices_of_others() -> dict[str, dict[str, Choice]]:
    """Return what the results file has for other packages, by setting and method."""
    path = RESULTS / "quality" / "alternatives.json"
    settings = json.loads(path.read_text())["settings"] if path.exists() else []
    return {
        entry["setting"]["name"]: {
            name: found["chosen"]
            for name, found in entry["methods"].items()
            if not name.startswith(DYNMEANS)
        }
        for entry in settings
    }


def main() -> None:
    """Run all settings, print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short streams; writes nothing")
    parser.add_argument("--fresh", action="store_true", help="choose for all methods again")
    options = parser.parse_args()
    is_quick = options.quick
    kept = {} if options.fresh else choices_of_others()
    n_steps, n_tuning_steps, n_seeds = (10, 5, 1) if is_quick else (100, 25, 5)
    warnings.filterwarnings("ignore", category=UserWarning)
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    config = {"n_steps": n_steps, "n_tuning_steps": n_tuning_steps, "n_seeds": n_seeds}
    results = {"config": config | {"tuning_seed": TUNING_SEED}, "machine": machine()}
    results["machine"]["versions"]["river"] = version("river")
    with threadpool_limits(1):
        results["settings"] = [
            compare(s, n_steps, n_tuning_steps, n_seeds, kept.get(s.name, {})) for s in SETTINGS
        ]
    if not is_quick:
        write_results("quality/alternatives", results)


if __name__ == "__main__":
    main()
