"""foreach_batch: every micro-batch of a Spark stream becomes one window of a run, once."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dynmeans.follow.defaults import make_model_config, with_defaults
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.inputs.batch_times import check_time_step
from dynmeans.inputs.fields import one_of
from dynmeans.inputs.old_names import suggest_arguments
from dynmeans.records.arrays import FloatArray
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.run import Run
from dynmeans.runs.store.schema import DATABASE

ON_MISSING = ("error", "drop")
# Where Spark keeps the identity of a stream, which survives restarts from its checkpoint.
_QUERY_ID = "sql.streaming.queryId"

MicroBatch = Callable[[Any, int], None]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns of the stream play which part."""

    features: tuple[str, ...]
    time: str | None
    id: str | None
    weight: str | None

    def column_names(self) -> list[str]:
        extra = [name for name in (self.time, self.id, self.weight) if name is not None]
        return list(dict.fromkeys([*self.features, *extra]))


@with_defaults("foreach_batch")
@suggest_arguments(PARAMETERS)
def foreach_batch(
    run_folder: str | os.PathLike[str],
    *,
    features: Sequence[str],
    time: str | None = None,
    time_step: float | timedelta | None = None,
    id: str | None = None,
    weight: str | None = None,
    model_config: ModelConfig | None = None,
    n_threads: int | None = None,
    on_missing: str = "error",
    **parameters: Any,
) -> MicroBatch:
    """Return a function for ``writeStream.foreachBatch`` that clusters into a run folder.

    Labels, state and the number of the micro-batch become durable in one transaction. A micro-batch
    that Spark hands over again, after the driver died or a commit of its own got lost, changes
    nothing: every row is labeled once.

    Parameters
    ----------
    run_folder : path
        The run, on a disk of the driver; made with the first micro-batch, resumed after that.
        A stream and its checkpoint belong to one run folder.
    features : list of str
        Columns of the points.
    time : str, optional
        Column of times, timestamps or numbers, stored with the labels.
    time_step : float or timedelta, optional
        Length of one step of time, counted from the latest row of one micro-batch to the latest of
        the next. By default each micro-batch comes one step after the one before.
    id : str, optional
        Column of row names, integers or text, stored with the labels.
    weight : str, optional
        Column of weights.
    model_config : ModelConfig, optional
        What the stream is followed by; "auto" chooses on the first micro-batch.
    n_threads : int, optional
        As of `DynamicMeans`; the result never depends on it.
    on_missing : {"error", "drop"}
        What to do with rows that lack a feature, a weight or a time.
    **parameters
        The parameters of a `ModelConfig`, instead of one. {defaults}

    See Also
    --------
    assign_udf : Label rows without learning from them.

    Examples
    --------
    ::

        from dynmeans.spark import foreach_batch

        take_in = foreach_batch("run", features=["x", "y"], time="seen", new_penalty=4.0)
        stream.writeStream.foreachBatch(take_in).option("checkpointLocation", "check").start()
    """
    one_of("on_missing", on_missing, ON_MISSING)
    names = (features,) if isinstance(features, str) else tuple(features)
    columns = _Columns(names, time, id, weight)
    step_length = check_time_step(time_step, time, argument="time", ticks_per_microsecond=1)
    source = {
        "input": "spark",
        "time": time,
        "time_step": step_length,
        "id": id,
        "weight": weight,
        "on_missing": on_missing,
    }
    asked, folder = make_model_config("foreach_batch", model_config, **parameters), Path(run_folder)
    asked.reject_fields("a stream of Spark", ("families", "min_cluster_size", "min_batches"))
    config = RunConfig(columns.features, asked, source)

    def take_in(frame: Any, epoch_id: int) -> None:
        # The epochs of another stream would be taken for those of this one.
        of_query = replace(config, source={**source, "query": _query_id(frame)})
        is_there = (folder / DATABASE).exists()
        with Run.open(folder, of_query) if is_there else Run.create(folder, of_query) as run:

            def windows() -> Iterator[Window]:  # asked for only if the epoch is new
                table = _collect(frame, columns)
                window = _to_window(table, columns, on_missing, step_length, run.position)
                if table.num_rows:
                    yield window

            run.process(windows(), idempotency_key=f"spark-{epoch_id}", n_threads=n_threads)

    return take_in


def _query_id(frame: Any) -> str | None:
    """Return the identity of the stream; Spark Connect does not have it."""
    try:
        found = frame.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
    except Exception:
        return None
    return None if found is None else str(found)


def _collect(frame: Any, columns: _Columns) -> pa.Table:
    """Bring the rows to the driver, in an order that does not depend on how Spark parted them."""
    missing = [name for name in columns.column_names() if name not in frame.columns]
    if missing:
        raise ValueError(
            f"the stream has no column {missing[0]!r}; it has {', '.join(frame.columns)}."
        )
    rows = frame.select(*columns.column_names())
    table = rows.toArrow() if hasattr(rows, "toArrow") else pa.Table.from_pandas(rows.toPandas())
    first = [name for name in (columns.time, columns.id) if name is not None]
    keys = list(dict.fromkeys([*first, *columns.features]))
    return table.sort_by([(name, "ascending") for name in keys])


def _to_window(
    table: pa.Table,
    columns: _Columns,
    on_missing: str,
    time_step: float | None,
    position: dict[str, Any] | None,
) -> Window:
    """Check the rows and name what is wrong, or make them one window."""
    n_rows = table.num_rows
    needed = [*columns.features, *filter(None, (columns.time, columns.weight))]
    is_whole = _without_gaps(table, needed, on_missing)
    table = table.filter(pa.array(is_whole))
    times, latest = _times(table, columns.time)
    known = None if position is None else position.get("latest")
    elapsed = 1.0
    if time_step is not None and latest is not None and known is not None:
        elapsed = (latest - known) / time_step
        if elapsed <= 0:
            raise ValueError(
                f"time must grow from one micro-batch to the next: the latest row was at {known}, "
                f"and now is at {latest}."
            )
    ids = None if columns.id is None else _plain(table[columns.id])
    return Window(
        _numbers(table, columns.features),
        elapsed=elapsed,
        row_ids=ids,
        times=times,
        weights=None if columns.weight is None else _numbers(table, (columns.weight,))[:, 0],
        n_dropped_rows=n_rows - table.num_rows,
        position={"latest": known if latest is None else latest},
    )


def _without_gaps(table: pa.Table, names: list[str], on_missing: str) -> npt.NDArray[np.bool_]:
    """Return which rows have every value they need."""
    is_whole = np.ones(table.num_rows, dtype=bool)
    for name in names:
        column = table[name]
        is_there = pc.is_valid(column)
        if pa.types.is_floating(column.type):
            is_there = pc.and_(is_there, pc.fill_null(pc.is_finite(column), False))
        good = np.asarray(is_there.to_numpy(), dtype=bool)
        if on_missing == "error" and not good.all():
            row = int(np.flatnonzero(~good)[0])
            shown = {other: table[other][row].as_py() for other in table.column_names}
            raise ValueError(
                f"column {name!r} must have a finite value in every row, got {shown}. "
                "Use on_missing='drop' to leave such rows out."
            )
        is_whole &= good
    return is_whole


def _numbers(table: pa.Table, names: Sequence[str]) -> FloatArray:
    points = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        kind = table[name].type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise TypeError(f"column {name!r} must hold numbers, got {kind}.")
        points[:, j] = table[name].to_numpy()
    return points


def _times(table: pa.Table, name: str | None) -> tuple[npt.NDArray[Any] | None, float | None]:
    """Return the times of the rows, and the latest as a number; microseconds for timestamps."""
    if name is None:
        return None, None
    column = table[name]
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        if pa.types.is_date(column.type):
            column = column.cast(pa.timestamp("us"))
        times = column.to_numpy().astype("datetime64[us]")
        numbers = times.astype(np.int64)
    else:
        times = numbers = _numbers(table, (name,))[:, 0]
    return times, numbers.max().item() if len(numbers) else None


def _plain(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Names of rows: integers as they are, the rest as text."""
    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy())
    return np.array(column.cast(pa.string()).to_pylist(), dtype=object)
