"""The usual penalty of a space, with a coarser and a finer one: how many clusters each gives."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.follow.follow import follow
from dynmeans.follow.init_memory import begin
from dynmeans.follow.model_config import ModelConfig
from dynmeans.inputs.format_count import format_count
from dynmeans.parameters.selection import N_POINTS
from dynmeans.records.suggestion import Candidate, Suggestion
from dynmeans.spaces.named import find_space
from dynmeans.spaces.space import Space

_LEVELS = ("usual", "coarse", "fine")


def level_penalties(space: Space) -> dict[str, float]:
    """Return lambda at the usual cosine, at half of it and at twice.

    >>> {name: round(value, 2) for name, value in level_penalties(find_space("words")).items()}
    {'usual': 1.7, 'coarse': 1.85, 'fine': 1.4}
    """
    usual = space.usual_penalty
    assert usual is not None, "asked of spaces that have one"
    cosine = 1.0 - usual / 2.0
    return dict(zip(_LEVELS, (usual, 2.0 - cosine, 2.0 - 4.0 * cosine), strict=True))


def usual_choice(
    model_config: ModelConfig, batches: Sequence[Batch], gaps: Sequence[float]
) -> Suggestion:
    """Suggest the usual penalty of the space, and count the clusters on the first batches.

    As many batches are looked at as hold 4,000 points, and two at least.
    """
    ends = np.cumsum([batch.n_points for batch in batches])
    n = max(2, int(np.searchsorted(ends, N_POINTS)) + 1)
    batches, gaps = batches[:n], gaps[:n]
    space = find_space(model_config.space)
    penalties = level_penalties(space)
    tried = [_candidate(model_config, value, batches, gaps) for value in penalties.values()]
    counts = {name: one.n_clusters_total for name, one in zip(_LEVELS, tried, strict=True)}
    kind = "texts" if space.has_noise else "vectors"
    numbers = [format_count(counts[name], "cluster") for name in ("coarse", "fine")]
    reason = (
        f"This cosine suits most {kind}; half of it ({{new_penalty}} {penalties['coarse']:.3g}) "
        f"gives {numbers[0]}, twice ({{new_penalty}} {penalties['fine']:.3g}) {numbers[1]}."
    )
    return Suggestion(
        tried[0],
        tuple(tried),
        len(batches),
        int(ends[: len(batches)][-1]),
        batch_noun="window",
        format_distance=space.format_distance,
        reason=reason,
    )


def _candidate(
    model_config: ModelConfig, new_penalty: float, batches: Sequence[Batch], gaps: Sequence[float]
) -> Candidate:
    known = replace(
        model_config, penalties=replace(model_config.penalties, new_penalty=new_penalty)
    )
    steps = list(_steps(known, batches, gaps))
    memory = steps[-1][0]
    n_clusters = [len(step.clustering.ids) for _, step in steps]
    assert memory.plan is not None, "a batch was followed"
    n_clusters_total = int(memory.clusters.next_id)
    return Candidate(memory.plan.penalties, math.nan, float(np.mean(n_clusters)), n_clusters_total)


def _steps(
    model_config: ModelConfig, batches: Sequence[Batch], gaps: Sequence[float]
) -> Iterator[tuple[Any, Any]]:
    memory = begin(model_config, batches, list(gaps))
    for batch, gap in zip(batches, gaps, strict=True):
        memory, step = follow(model_config, memory, batch, gap)
        yield memory, step
