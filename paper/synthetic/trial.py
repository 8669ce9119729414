"""One trial of the synthetic experiment: a stream, a method, a row of scores and time."""

import gc
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import pyarrow as pa

from dynmeans.estimators.ddp_mixture import DDPMixture
from dynmeans.estimators.dynamic_means import DynamicMeans
from dynmeans.records.arrays import IntArray
from dynmeans.records.stream import LabeledStream
from paper.handicap import ClosestToTruth
from paper.synthetic.config import THIN, TOL, SyntheticConfig
from paper.synthetic.streams import (
    PRIOR_MEAN,
    PRIOR_VARIANCE,
    method_seed,
    score_labels,
    stream_of,
)
from paper.synthetic.tasks import HANDICAP, HONEST, KEY, KEY_FIELDS, SEARCH

SCHEMA = pa.schema(
    [
        *KEY_FIELDS,
        ("accuracy_frozen", pa.float64()),
        ("accuracy_global", pa.float64()),
        ("accuracy_per_step", pa.float64()),
        ("n_found", pa.int64()),  # identities given in all
        ("n_true", pa.int64()),
        ("cpu_s", pa.float64()),  # processor time of clustering the whole stream, one thread
    ]
)
_MIN_STICKS = 20


def run_trial(config: SyntheticConfig, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of one trial: a pure function, but for the time."""
    _warm_up(task["method"])
    place = (int(task["part"] == SEARCH), task["n_clusters"], task["trial"])
    stream, seed = stream_of(config, *place), method_seed(config, *place)
    follow = _follow if task["method"] == "dynamic_means" else _sample
    labels, seconds = follow(config, task, stream, seed)
    scores = score_labels(stream, labels)
    # More digits of a time are noise, and most of the bytes of the file.
    kept = float(f"{seconds:.3g}")
    return {**{name: task[name] for name in KEY}, **scores, "cpu_s": kept}


@cache
def _warm_up(method: str) -> None:
    """Load what the first call loads, so that no trial is charged for it."""
    is_ours = method == "dynamic_means"
    model = DynamicMeans(1.0, search="paper") if is_ours else DDPMixture(method)
    model.fit_sequence([[[0.0], [9.0]], [[9.2]]])


def _follow(
    config: SyntheticConfig, task: Mapping[str, Any], stream: LabeledStream, seed: int
) -> tuple[list[IntArray], float]:
    """Run Dynamic Means."""
    model = DynamicMeans(
        task["new_penalty"],
        max_gap=task["max_gap"],
        reach=task["reach"],
        n_init=task["effort"],
        revival=task["revival"],
        search="paper",
        n_threads=1,
        random_state=seed,
    )
    return _timed(model, stream)


def _sample(
    config: SyntheticConfig, task: Mapping[str, Any], stream: LabeledStream, seed: int
) -> tuple[list[IntArray], float]:
    """Run one of the methods for the mixture, told the true noise and where clusters are born."""
    closest = ClosestToTruth(stream.labels, is_tracking=task["choice"] == HANDICAP)
    model = DDPMixture(
        task["method"],
        concentration=task["concentration"],
        survival=task["survival"],
        noise_variance=config.noise_variance,
        motion_variance=task["motion_variance"],
        prior_mean=PRIOR_MEAN,
        prior_variance=PRIOR_VARIANCE,
        carried_sample="best" if task["choice"] == HONEST else closest,
        random_state=seed,
        **_effort(task),
    )
    labels, seconds = _timed(model, stream)
    return labels, seconds - closest.seconds


def _timed(model: DynamicMeans | DDPMixture, stream: LabeledStream) -> tuple[list[IntArray], float]:
    """Cluster the stream; return the labels and the processor time it took."""
    # A collection goes through all objects of the process: a tenth of a second once in a while,
    # ten times what the whole stream takes.
    gc.disable()
    try:
        started = time.thread_time()
        labels, _ = model.fit_sequence(stream.batches)
        return labels, time.thread_time() - started
    finally:
        gc.enable()


def _effort(task: Mapping[str, Any]) -> dict[str, Any]:
    if task["method"] == "gibbs":
        # As published: one sample recorded for every five sweeps, from the first on.
        return {"n_samples": task["effort"] // THIN, "burn_in": 0, "thin": THIN}
    if task["method"] == "particle":
        return {"n_particles": task["effort"]}
    sticks = max(_MIN_STICKS, 2 * task["n_clusters"])
    return {"tol": TOL, "max_iter": task["effort"], "truncation": sticks}
