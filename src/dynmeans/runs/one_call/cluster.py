"""cluster: from a frame to identities that last, in one call."""

import difflib
import inspect
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError
from dynmeans.parameters.suggest import N_BATCHES
from dynmeans.records.families import Families
from dynmeans.records.penalties import Penalties, given_penalties
from dynmeans.records.suggestion import warn_of_doubts
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.look.run_families import families_of_run
from dynmeans.runs.one_call.clustered_rows import ClusteredRows
from dynmeans.runs.one_call.scratch import ScratchFolder
from dynmeans.runs.one_call.tables import origin_of
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.run import Run

_OF_JOB = ("query", "database_table", "revival", "moving")
_OF_READING = tuple(field.name for field in fields(ReadingOptions))
_OF_WINDOWS = tuple(
    field.name
    for field in fields(WindowOptions)
    if field.name
    not in ("features", "time", "every", "id", "hold_last", "lateness", "on_late", "max_ahead")
)
_FURTHER = (*_OF_WINDOWS, *_OF_READING, *_OF_JOB)
_UNITS = {"h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
# Arguments that have another name here than in the functions that check them.
_OWN_NAMES = {"new_penalty": "penalties", "n_clusters": "about", "id": "key"}


class RowsLeftOutWarning(UserWarning):
    """Some rows have no label, because they lack a value."""


def cluster(
    frame: Any,
    *,
    features: Sequence[str] | str,
    time: str | None = None,
    every: str | timedelta | float | None = None,
    key: str | None = None,
    penalties: Penalties | float | None = None,
    about: float | None = None,
    families: bool = False,
    motion: str | None = None,
    scale: str | None = None,
    n_init: int = 3,
    random_state: int = 0,
    out: str | Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> ClusteredRows:
    """Find the clusters in the rows of a frame, window by window, and follow each for life.

    Parameters
    ----------
    frame : pandas or polars frame, Arrow table or dataset, DuckDB relation, or path
        The rows; a path as `dynmeans cluster` takes it: CSV, Parquet, Arrow, a pattern, a folder.
    features : list of str
        Numeric columns to cluster by; patterns such as ``x_*`` work too.
    time : str, optional
        Column of times, or a level of a pandas index; rows are read in order of time.
    every : str, timedelta or float, optional
        Length of a window: ``10min``, ``1d``, ``1mo``; a plain number for times that are numbers.
        Or give `count` (rows of a window) or `batch` (a column that names windows).
    key : str, optional
        Column that names the rows: index of the labels where the frame has no index.
    penalties : Penalties or float, optional
        All penalties as one value, or only lambda: the squared distance beyond which a point
        starts a new cluster. By default they are chosen on the first windows.
    about : float, optional
        About how many clusters a window holds, to help that choice.
    families : bool
        Whether to group clusters that belong together.
    motion : {"still", "steady"}, optional
        Where a cluster is expected: where it was, or where its velocity takes it. Chosen with the
        penalties by default.
    scale : {"standard"} or None
        Whether every feature is brought to mean 0 and spread 1, as learned on the first 30 windows:
        for features with different units. Penalties are then in scaled units, centers in those of
        the data.
    n_init : int
        Visiting orders tried on each window; the one with the lowest cost is kept.
    random_state : int
        Seed of the visiting orders.
    out : path, optional
        Folder of the run, for large inputs: memory stays flat, and the same call resumes what was
        stopped. By default a temporary folder, which is removed with the result.
    overwrite : bool
        Whether an existing run is replaced.
    **options
        ``count``, ``batch``, ``timezone``, ``time_unit``, ``time_format``, ``weight``, ``truth``
        and ``on_missing``, as of `runs.WindowOptions`; ``decimal``, ``encoding``, ``distinct`` and
        ``network``, as of `runs.ReadingOptions`; ``query`` and ``database_table``, as of
        `runs.Source`; ``revival`` and ``moving``, as of `DynamicMeans`. Rows that lack a value are
        left out and counted, with a warning; ``on_missing="error"`` refuses them.

    Returns
    -------
    ClusteredRows
        `labels` on the frame's own index, `clusters`, `events`, `history`, `summary()`, `plot()`,
        `report("file.html")`, and `show()` for notebooks.

    Examples
    --------
    >>> import dynmeans, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> when = pd.date_range("2026-03-01", periods=400, freq="min")
    >>> points = rng.normal(0, 0.3, (400, 2)) + np.where(np.arange(400) % 2, 0.0, 9.0)[:, None]
    >>> frame = pd.DataFrame(points, columns=["x", "y"]).assign(when=when)
    >>> found = dynmeans.cluster(frame, time="when", every="20min", features=["x", "y"])
    >>> found.labels.value_counts().to_dict(), found.labels.index.equals(frame.index)
    ({0: 200, 1: 200}, True)
    >>> found.clusters[["cluster_id", "n_windows", "status"]].values.tolist()
    [[0, 20, 'seen'], [1, 20, 'seen']]
    """
    _check_names(options)
    scratch = ScratchFolder()
    named = [features] if isinstance(features, str) else [str(name) for name in features]
    with _own_names():
        windows = WindowOptions(
            tuple(named),
            time=time,
            every=_length(every),
            id=key,
            **{"on_missing": "drop"} | _chosen(options, _OF_WINDOWS),
        )
        others = (getattr(windows, name) for name in ("time", "batch", "weight", "id", "truth"))
        origin = origin_of(frame, [*named, *filter(None, others)], scratch.path)
        if "query" in options:
            origin = replace(origin, index=None)  # its rows are others than the frame's
        given = None if penalties is None else given_penalties(penalties)
        job = ClusterJob(
            table=origin.table,
            out=scratch.path / "run" if out is None else Path(out),
            options=windows,
            penalties=_as_given(given),
            settings={
                "n_init": n_init,
                "random_state": random_state,
                "standardize": _n_standardized(scale),
            },
            suggest=given is None,
            n_clusters=about,
            motion=motion,
            reading=ReadingOptions(**_chosen(options, _OF_READING)),
            **_chosen(options, _OF_JOB),
        )
        done = job.start(overwrite=overwrite)
    found = ClusteredRows(job, origin, done, _families(job.out) if families else None, scratch)
    if text := found.left_out_text():
        warnings.warn(text, RowsLeftOutWarning, stacklevel=2)
    if done.suggestion is not None:
        warn_of_doubts(done.suggestion.doubts)
    return found


def _chosen(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in names}


def _check_names(options: dict[str, Any]) -> None:
    for name in options:
        if name not in _FURTHER:
            known = [*_named(), *sorted(_FURTHER)]
            near = difflib.get_close_matches(name, known, 1)
            way_out = (
                f"Did you mean {near[0]!r}?" if near else f"Its options are {', '.join(known)}."
            )
            raise TypeError(f"cluster() has no argument {name!r}. {way_out}")


def _named() -> list[str]:
    return [name for name in inspect.signature(cluster).parameters if name != "options"]


def _length(every: Any) -> str | None:
    if isinstance(every, timedelta):
        micros = every // timedelta(microseconds=1)
        unit = next(name for name, size in _UNITS.items() if micros % size == 0)
        return f"{micros // _UNITS[unit]}{unit}"
    return None if every is None else str(every)


def _n_standardized(scale: str | None) -> int:
    """Return the number of windows that features are standardized on."""
    if scale not in ("standard", None):
        raise InputError("scale", 'must be "standard" or None', got=scale)
    return 0 if scale is None else N_BATCHES


def _as_given(given: Penalties | float | None) -> Penalties | dict[str, float]:
    if given is None or isinstance(given, Penalties):
        return given or {}
    return {"new_penalty": given}


def _families(folder: Path) -> Families:
    with Run.open(folder) as run:
        return families_of_run(run)


@contextmanager
def _own_names() -> Iterator[None]:
    """Name the arguments of `cluster` where a message names those of the functions below it."""
    try:
        yield
    except (InputError, OSError) as error:
        text = error.args[0] if error.args else None
        if not isinstance(text, ArgumentText):
            raise
        raise type(error)(text.told(_told)) from error


def _told(name: str, given: str) -> str:
    if name == "suggest":
        return "penalties=None"
    name = _OWN_NAMES.get(name, name)
    return f"{name}={given}" if given else name
