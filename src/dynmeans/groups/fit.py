"""fit_groups: independent Dynamic Means for each key of a frame, in one call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.engine import groups as native_groups
from dynmeans.engine.execution import Execution
from dynmeans.engine.guard import ClusterLimitError
from dynmeans.follow.curved_motion import check_motion
from dynmeans.follow.defaults import make_model_config
from dynmeans.follow.init_memory import memory_from_clusters
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.groups.frame_columns import Columns, choose_columns, key_type, to_arrow
from dynmeans.groups.grouped_rows import (
    GroupedRows,
    clocks_after,
    group_rows,
    steps_before_batches,
)
from dynmeans.groups.key_seeds import draw_key_seed, key_seed, seeds_of_keys
from dynmeans.inputs.batch_times import check_time_step
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.old_names import suggest_arguments
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.group_states import GroupStates, Key, merge_states
from dynmeans.records.penalties import AUTO, Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.named import find_space
from dynmeans.spaces.space import Space

# Of the penalties, what later calls must repeat; the other pair is derived.
_DIRECT = ("new_penalty", "revival_penalty", "drift", "revival", "motion", "moving_features")


@dataclass(frozen=True, slots=True, eq=False)
class GroupResult:
    """The result of `fit_groups`: labels and states of every key.

    Attributes
    ----------
    labels : IntArray of shape (n_rows,)
        Cluster ID of each row of the frame; the IDs of each key begin at 0.
    states : GroupStates
        The clusters of each key; pass it as `state` to a later call to continue.
    batch_table : pyarrow.Table
        One row for each batch of each key: its size, clusters, passes and cost.
    model_config : ModelConfig
        The parameters of every key.

    See Also
    --------
    fit_groups : Returns it.
    dynmeans.groups.GroupStates : The states of all keys.
    """

    labels: IntArray
    states: GroupStates
    batch_table: pa.Table
    model_config: ModelConfig

    def memory(self, key: Key) -> Memory:
        """Return the memory of one key; `DynamicMeans.from_memory` continues with it."""
        settings = self.states.settings
        model_config = replace(self.model_config, random_state=key_seed(settings["seed"], key))
        names = settings["features"]
        return memory_from_clusters(model_config, self.states.clusters(key), feature_names=names)


@suggest_arguments(PARAMETERS)
def fit_groups(
    frame: Any,
    *,
    by: str | Sequence[str],
    features: Sequence[str] | None = None,
    batch_column: str | None = None,
    time_step: float | timedelta | None = None,
    weight: str | None = None,
    model_config: ModelConfig | None = None,
    state: GroupStates | None = None,
    n_threads: int | None = None,
    **parameters: Any,
) -> GroupResult:
    """Cluster the stream of every key separately: per sensor, per customer, per machine.

    Key by key and bit for bit this is what a loop over estimators gives,
    ``DynamicMeans(..., random_state=key_seed(seed, key))``, without the loop.

    Parameters
    ----------
    frame : pandas, polars or Arrow frame
        Rows of all keys, mixed as they come.
    by : str or list of str
        Column of the key: integers or text. Several columns make keys that are tuples.
    features : list of str, optional
        Columns of the points. Default: all columns without another role.
    batch_column : str, optional
        Column that separates the batches of a key, numbers or times: neighboring rows of equal
        value are one batch, and values must not decrease. Default: all rows of a key are one
        batch.
    time_step : float or timedelta, optional
        Length of one step in the unit of `batch_column`, so that gaps count. Default: each batch of
        a key comes one step after the one before. A larger value makes gaps shorter, in steps, so
        clusters are forgotten later.
    weight : str, optional
        Column of weights.
    model_config : ModelConfig, optional
        Parameters for every key; its penalties must be given, not "auto".
    n_threads : int, optional
        As of `DynamicMeans`; the result never depends on it.
    **parameters
        The parameters of a `ModelConfig`, instead of one.
    state : GroupStates, optional
        States of an earlier call to continue from. Keys that are not in the frame do not change;
        new keys start without clusters.

    See Also
    --------
    DynamicMeans : One stream.
    dynmeans.cluster : One stream from a table with a time column.
    groups.GroupResult : The result.

    Examples
    --------
    >>> import pandas as pd
    >>> from dynmeans import fit_groups
    >>> frame = pd.DataFrame(
    ...     {"pump": ["b", "a", "b", "a"], "hour": [0, 0, 0, 1], "x": [0.0, 5.0, 9.0, 5.2]}
    ... )
    >>> result = fit_groups(frame, by="pump", batch_column="hour", new_penalty=1.0, random_state=0)
    >>> result.labels.tolist(), result.states["b"].centers.ravel().tolist()
    ([0, 0, 1, 0], [0.0, 9.0])
    """
    chosen = _check_settings(make_model_config("fit_groups", model_config, **parameters), state)
    execution = Execution(n_threads=n_threads)
    columns = choose_columns(frame, by, features, batch_column, weight)
    space = find_space(chosen.space)
    penalties = _penalties(chosen, space, columns)
    table = to_arrow(frame, columns.column_names())
    rows = group_rows(table, columns, space)
    settings = {
        "by": columns.by if columns.has_key_tuples else columns.by[0],
        "features": columns.features,
        "batch_column": columns.batch_column,
        "time_step": check_time_step(
            time_step, columns.batch_column, argument="batch_column", ticks_per_microsecond=1000
        ),
        **{name: penalties.to_json()[name] for name in _DIRECT},
        "space": space.to_json(),
        "n_init": chosen.n_init,
        "search": penalties.usable_search(chosen.search),
        "seed": draw_key_seed(chosen.random_state)
        if state is None or chosen.random_state is not None
        else state.settings["seed"],
        "batch_kind": rows.batch_kind,
    }
    before, others = _of_keys(_common_value(state, settings, rows), rows.keys)
    elapsed = steps_before_batches(rows, before, settings["time_step"])
    (labels, n_clusters, n_iters, costs), remembered = native_groups.step_groups(
        rows.points,
        rows.weights,
        rows.batch_starts,
        rows.group_starts,
        elapsed,
        before,
        seeds_of_keys(settings["seed"], rows.keys),
        penalties,
        chosen.n_init,
        execution,
        penalties.usable_search(chosen.search),
    )
    after = replace(before, **remembered, **clocks_after(rows, before, elapsed))
    _check_limit(after, chosen.max_clusters)
    key_types = [key_type(table, name) for name in columns.by]
    batch_table = _batch_table(rows, columns, key_types, n_clusters, n_iters, costs)
    states = merge_states(others, after)
    return GroupResult(_in_frame_order(labels, rows.order), states, batch_table, chosen)


def _penalties(model_config: ModelConfig, space: Space, columns: Columns) -> Penalties:
    nobody = ClusterState.empty(space.n_coordinates(len(columns.features)))
    unseeded = replace(model_config, random_state=0)  # each key has a seed of its own
    if unseeded.is_open:
        known = replace(unseeded.penalties, new_penalty=space.usual_penalty)
        unseeded = replace(unseeded, penalties=known)
    penalties = memory_from_clusters(unseeded, nobody, feature_names=columns.features).penalties
    assert penalties is not None, "given"
    check_motion(space, penalties)
    if space.is_curved and penalties.motion == "constant_velocity":
        rule = f"'constant_velocity' is not available for groups in space {space.name!r}"
        raise InputError("motion", rule, hint="Use motion='random_walk'.")
    return penalties


def _check_settings(model_config: ModelConfig, state: object) -> ModelConfig:
    """Refuse, by name, what many small streams cannot be followed by."""
    where = "fit_groups"
    auto = "Choose penalties on the batches of one key: new_penalty=suggest_penalties(...)."
    if model_config.is_open and find_space(model_config.space).usual_penalty is None:
        raise InputError("penalties", f"must be given in {where}", got=AUTO, hint=auto)
    confirming = ("families", "min_cluster_size", "min_batches")
    model_config.reject_fields(where, ("method", "n_clusters", *confirming))
    if not find_space(model_config.space).is_fitted:
        hint = "Give a space that is fitted, the same for all keys: find_space(...).fit(rows)."
        raise InputError("space", f"is not learned in {where}", got=model_config.space, hint=hint)
    if state is not None and not isinstance(state, GroupStates):
        raise TypeError(
            f"state must be a GroupStates, got {type(state).__name__}. "
            "Read one from a file with GroupStates.load(path)."
        )
    return model_config


def _common_value(
    state: GroupStates | None, settings: dict[str, Any], rows: GroupedRows
) -> GroupStates:
    """Return the states to continue from, or raise an error if this call disagrees."""
    if state is None or not len(state):
        return GroupStates.empty(rows.points.shape[1], rows.batch_values.dtype, settings)
    for name, value in settings.items():
        known = state.settings.get(name)
        if known != value:
            raise ValueError(f"state was made with {name}={known!r}, but this call has {value!r}.")
    return state


def _of_keys(state: GroupStates, keys: list[Key]) -> tuple[GroupStates, GroupStates]:
    """Return the states of these keys, empty where new, and the states of all others."""
    places = {key: i for i, key in enumerate(state.key_list)}
    found = np.array([places.get(key, -1) for key in keys], dtype=np.int64)
    is_known = found >= 0
    others = state.take(np.setdiff1d(np.arange(len(state)), found))
    if len(state) and keys and type(state.key_list[0]) is not type(keys[0]):
        raise ValueError(f"state has keys like {state.key_list[0]!r}, got {keys[0]!r}.")
    known = state.take(found[is_known])
    sizes = np.zeros(len(keys), dtype=np.int64)
    sizes[is_known] = np.diff(known.starts)
    filled = {
        name: _spread(getattr(known, name), is_known)
        for name in ("next_ids", "n_steps", "times", "last_batches")
    }
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return replace(known, key_list=keys, starts=starts, **filled), others


def _spread(values: Any, is_known: Any) -> Any:
    """Put the values where they are known, zero elsewhere."""
    spread = np.zeros(len(is_known), dtype=values.dtype)
    spread[is_known] = values
    return spread


def _batch_table(
    rows: GroupedRows,
    columns: Columns,
    key_types: list[pa.DataType],
    n_clusters: IntArray,
    n_iters: IntArray,
    costs: FloatArray,
) -> pa.Table:
    """One row for each batch of each key."""
    groups = np.repeat(np.arange(len(rows.keys)), np.diff(rows.group_starts))
    keys: list[Any] = rows.keys
    parts = list(zip(*keys, strict=True)) if columns.has_key_tuples and keys else [keys]
    table: dict[str, Any] = {
        name: pa.array(part, type=kind).take(pa.array(groups))
        for name, part, kind in zip(columns.by, parts, key_types, strict=True)
    }
    if columns.batch_column is not None:
        values = pa.array(rows.batch_values)
        table[columns.batch_column] = (
            values.cast("timestamp[ns]") if rows.batch_kind == "time" else values
        )
    counts = {"n_points": np.diff(rows.batch_starts), "n_clusters": n_clusters, "n_iter": n_iters}
    return pa.table(table | counts | {"cost": costs})


def _check_limit(states: GroupStates, limit: int | None) -> None:
    sizes = np.diff(states.starts)
    if limit is not None and np.any(sizes > limit):
        group = int(np.flatnonzero(sizes > limit)[0])
        raise ClusterLimitError(
            f"max_clusters: key {states.key_list[group]!r} would leave {sizes[group]:,} "
            f"clusters remembered, more than {limit:,}."
        )


def _in_frame_order(labels: IntArray, order: IntArray | None) -> IntArray:
    """Put the labels back where their rows are in the frame."""
    if order is None:
        return labels
    placed = np.empty_like(labels)
    placed[order] = labels
    return placed
