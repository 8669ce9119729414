"""predict: labels of rows that do not change a memory."""

from dataclasses import replace
from typing import Any

import numpy as np

from dynmeans.algorithm.forecast import Forecast, forecast
from dynmeans.engine.batch import AnyBatch
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.follow.curved_motion import on_course
from dynmeans.follow.finder import finder_of
from dynmeans.follow.follow import leave_out_noise, make_plan
from dynmeans.follow.init_memory import map_batch
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig


def predict(
    model_config: ModelConfig,
    memory: Memory,
    rows: AnyBatch,
    elapsed: float = 0.0,
    execution: Execution = DEFAULT,
) -> tuple[Any, Any]:
    """Return the identity and the cost of each row, where the rows lie.

    As of the last batch, or as a batch would see it that comes `elapsed` steps later; -1 where a
    new cluster would be cheaper, and for noise, which costs nothing. Of clusters that another
    method found, the nearest: they may have any shape.
    """
    plan = make_plan(model_config, memory, execution)
    rows, known = leave_out_noise(rows, memory.space_or_raw)
    points = map_batch(rows, memory.space_or_raw)
    ready = on_course(plan.space, memory.clusters, plan.penalties, elapsed)
    found = finder_of(memory.method).predict(points, ready, plan, elapsed)
    if known is None:
        return found
    labels, costs = np.full(len(known), -1), np.zeros(len(known))
    labels[known], costs[known] = found
    return labels, costs


def distances_to_centers(memory: Memory, rows: AnyBatch) -> Any:
    """Return the distance of each row to each remembered center, in the unit of the space."""
    return map_batch(rows, memory.space_or_raw).distances(memory.clusters)


def forecast_clusters(model_config: ModelConfig, memory: Memory, elapsed: float) -> Forecast:
    """Predict the position of every remembered cluster, in the units of the rows."""
    penalties, space = make_plan(model_config, memory).penalties, memory.space_or_raw
    clusters = on_course(space, memory.clusters, penalties, elapsed)
    found = forecast(clusters, elapsed, penalties)
    return replace(found, centers=space.to_rows(found.centers))
