"""The streams of the synthetic experiment, and the scores of labels on them."""

from functools import lru_cache

import numpy as np

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics.accuracy import score_history, score_steps
from dynmeans.metrics.label_streams import read_label_streams
from dynmeans.metrics.matching import match_frozen, match_over_history, match_per_step
from dynmeans.records.arrays import IntArray
from dynmeans.records.stream import LabeledStream
from paper.synthetic.config import SyntheticConfig

# Where clusters are born: mean and variance of the unit square along each axis.
PRIOR_MEAN, PRIOR_VARIANCE = 0.5, 1 / 12


def method_seed(config: SyntheticConfig, is_search: int, n_clusters: int, trial: int) -> int:
    """Return the seed of every method on this stream."""
    spawn_key = (is_search, n_clusters, trial)
    sequence = np.random.SeedSequence(config.seed, spawn_key=spawn_key).spawn(2)[1]
    return int(sequence.generate_state(1)[0])


def score_labels(stream: LabeledStream, labels: list[IntArray]) -> dict[str, float]:
    """Return the accuracies of labels of a whole stream, and how many identities there are."""
    streams = read_label_streams(stream.labels, labels)
    return {
        "accuracy_frozen": score_steps(streams, match_frozen(streams)),
        "accuracy_global": score_history(streams, match_over_history(streams)),
        "accuracy_per_step": score_steps(streams, match_per_step(streams)),
        "n_found": len(np.unique(np.concatenate(labels))),
        "n_true": len(np.unique(np.concatenate(stream.labels))),
    }


def stream_of(
    config: SyntheticConfig, is_search: int, n_clusters: int, trial: int
) -> LabeledStream:
    """Return a stream of the search (1) or the comparison (0), the same for all methods."""
    return _stream(
        (is_search, n_clusters, trial),
        *(config.seed, config.n_steps, config.noise),
        *(config.points_per_cluster, config.spread, config.motion, config.death),
    )


@lru_cache(maxsize=8)
def _stream(
    spawn_key: tuple[int, int, int],
    seed: int,
    n_steps: int,
    noise: str,
    points_per_cluster: int,
    spread: float,
    motion: float,
    death: float,
) -> LabeledStream:
    """Make a stream, or take the one that another setting was tried on just now."""
    sequence = np.random.SeedSequence(seed, spawn_key=spawn_key).spawn(2)[0]
    return moving_gaussians(
        n_steps,
        spawn_key[1],
        rng=np.random.default_rng(sequence),
        points_per_cluster=points_per_cluster,
        spread=spread,
        motion=motion,
        death=death,
        noise=noise,
    )
