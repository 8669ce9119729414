"""cluster: from a frame to identities that last, in one call."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from dynmeans.cluster_function.cluster_result import ClusterResult
from dynmeans.cluster_function.input_tables import (
    VECTOR,
    read_input_table,
    sparse_vectors,
    with_vector_column,
)
from dynmeans.cluster_function.notebook import notebook_progress
from dynmeans.cluster_function.scratch import ScratchFolder
from dynmeans.follow.defaults import defaults_of, depends_on_rows, with_defaults
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_number
from dynmeans.inputs.old_names import suggest_name
from dynmeans.records.penalties import AUTO, Penalties
from dynmeans.records.suggestion import SuggestionWarning, emit_warnings
from dynmeans.runs.cluster_job import ClusterJob, JobCallbacks
from dynmeans.runs.configuration import N_KEPT
from dynmeans.runs.input import Input
from dynmeans.runs.levels import check_level
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.spaces.sparse_rows import is_sparse, refuse_sparse_texts

_OF_LIVE = ("keep_last_open", "allowed_lateness", "on_late", "max_ahead", "deduplicate")
_OF_WINDOWS = tuple(one.name for one in fields(WindowOptions) if one.name not in _OF_LIVE)
_OF_READING = tuple(one.name for one in fields(ReadingOptions))
_OWN = ("frame", "run_folder", "overwrite", "n_threads", "name_by", "sample_size", "level", "noise")
_UNITS = {"h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}


class DroppedRowsWarning(UserWarning):
    """Some rows have no label, because they lack a value."""


class StopWordWarning(UserWarning):
    """Large topics are named by words that occur in any context, such as stop words."""


@with_defaults("cluster")
def cluster(
    frame: Any,
    *,
    features: Sequence[str] | str | Any = (),
    text: str | None = None,
    time: str | None = None,
    every: str | timedelta | float | None = None,
    id: str | None = None,
    penalties: Penalties | float | str = AUTO,
    run_folder: str | Path | None = None,
    overwrite: bool = False,
    n_threads: int | None = None,
    name_by: str | None = None,
    sample_size: int = N_KEPT,
    level: str | None = None,
    noise: float | None = None,
    **options: Any,
) -> ClusterResult:
    """Cluster the rows of a data frame window by window and track the clusters over time.

    Parameters
    ----------
    frame : pandas or polars frame, Arrow table or dataset, DuckDB relation, or path
        The rows; a path as `dynmeans cluster` takes it: CSV, Parquet, Arrow, a pattern, a folder.
    features : list of str, or array of shape (n_rows, n_features)
        Numeric columns to cluster by; patterns such as ``x_*``, fields such as ``sensor.temp`` and
        columns of lists or arrays work too. Or a separate array, such as embeddings, or a sparse
        matrix, such as those of scikit-learn's vectorizers, which needs a cosine space.
    text : str, optional
        Instead of `features`, a column of text: rows are clustered by their words, which are
        learned window by window, and clusters are named by words that most of their rows share.
    time : str, optional
        Column of times, or a level of a pandas index; rows are read in order of time.
    every : str, timedelta or float, optional
        Length of a window: ``10min``, ``1d``, ``1mo``; a plain number for times that are numbers.
        Or give `rows_per_window` (rows of a window) or `window_column` (a column that names
        windows).
    id : str, optional
        Column that names the rows: index of the labels where the frame has no index.
    penalties : Penalties, float or "auto"
        All penalties as one value, or only lambda: the squared distance beyond which a point
        starts a new cluster. By default they are chosen on the first windows.
    run_folder : path, optional
        Folder of the run, for large inputs: RAM use does not grow, and the same call resumes a
        stopped run. By default a temporary folder, which is removed with the result.
    overwrite : bool
        Whether an existing run is replaced.
    n_threads : int, optional
        Threads of a step; the result never depends on it.
    name_by : str, optional
        Column whose values or words name the clusters; `text` by default. Names
        assigned with `name_cluster` take precedence.
    sample_size : int
        Rows of each window that the run keeps, for the report, for `describe` and for families.
    level : {"fine", "default", "coarse"}, optional
        Which clusters are shown: subclusters as found, subclusters joined where they touch, or
        also where they lie near each other. By default "default"; if `new_penalty` is given, which
        sets the scale, "fine". All three are found: see `levels`.
    noise : float, optional
        Most rows that may be noise, with the label -1, as a share: of outliers beyond it, the
        nearest go to the nearest cluster. By default a tenth; if outliers held more, none is noise.
    **options
        Every other field of `runs.ModelConfig`, as of `DynamicMeans`: ``n_clusters``, ``space``,
        ``motion``, ``families``, ``n_init``, ``random_state`` and the rest; of
        `runs.WindowOptions`: ``rows_per_window``, ``window_column``, ``timezone``, ``time_unit``,
        ``time_format``, ``weight``, ``truth`` and ``on_missing``; of `runs.ReadingOptions`:
        ``sql``, ``decimal`` and ``encoding``. Rows that lack a value are left out and counted, with
        a warning; ``on_missing="error"`` refuses them. Vectors are an array, a column of lists or
        text; wide ones have more than 32 features. {defaults}

    Returns
    -------
    ClusterResult
        `labels` on the frame's own index, `clusters`, `events`, `history`, `summary()`, `plot()`,
        `report("file.html")`, and `show()` for notebooks.

    See Also
    --------
    DynamicMeans : The estimator, for batches as arrays.
    ClusterResult : The result in detail.
    fit_groups : One stream for each key of a table.
    suggest_penalties : Choose the penalties only.

    Notes
    -----
    The rows of each window are clustered by Dynamic Means [1]_.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

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
    [[0, 20, 'active'], [1, 20, 'active']]
    """
    _check_text(text)
    given = {"text": text, "time": time, "every": _length(every), "id": id, **options}
    given["penalties"] = penalties
    given = defaults_of("cluster") | given
    _check_names(options)
    scratch = ScratchFolder()
    array = None if isinstance(features, str | list | tuple) else features
    wanted = (VECTOR,) if array is not None else features
    named = (wanted,) if isinstance(wanted, str) else tuple(map(str, wanted))
    windows = WindowOptions(features=named, **_select_options(given, _OF_WINDOWS))
    reading = ReadingOptions(**_select_options(given, _OF_READING))
    others = (getattr(windows, name) for name in ("time", "window_column", "weight", "id", "truth"))
    origin = read_input_table(
        frame, [*named, *filter(None, (*others, text, name_by))], scratch.path
    )
    if array is not None:
        if is_sparse(array):
            array = sparse_vectors(array, options.get("space", "cosine"))
        origin = with_vector_column(origin, array)
    if reading.sql is not None:
        origin = replace(origin, index=None)  # its rows are others than the frame's
    job = ClusterJob(
        Input(origin.table, reading),
        windows,
        ModelConfig(**_select_options(given, PARAMETERS)),
        scratch.path / "run" if run_folder is None else Path(run_folder),
        unset_fields=[name for name in depends_on_rows("cluster") if name not in options],
        name_by=name_by or text,
        sample_size=sample_size,
        level=None if level is None else check_level(level),
        noise=None if noise is None else check_number("noise", noise, at_least=0),
    )
    shown = JobCallbacks(progress=notebook_progress)
    done = job.start(overwrite=overwrite, n_threads=n_threads, shown=shown)
    found = ClusterResult(job, origin, done, scratch)
    if text := found.dropped_rows_message():
        warnings.warn(text, DroppedRowsWarning, stacklevel=2)
    if done.stop_words is not None:
        warnings.warn(str(done.stop_words), StopWordWarning, stacklevel=2)
    if done.missed_number is not None:
        warnings.warn(str(done.missed_number), SuggestionWarning, stacklevel=2)
    if done.suggestion is not None:
        emit_warnings(done.suggestion.warnings)
    return found


def _select_options(
    options: Mapping[str, Any], names: Sequence[str] | Mapping[str, Any]
) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in names}


def _check_names(options: Mapping[str, Any]) -> None:
    known = [*_OWN, *_OF_WINDOWS, *PARAMETERS, *_OF_READING]
    for name in options:
        if name not in known:
            raise TypeError(f"cluster() has no argument {name!r}. {suggest_name(name, known)}")


def _check_text(text: Any) -> None:
    rule = "must name a column of texts"
    refuse_sparse_texts("text", rule, text)
    if not (text is None or isinstance(text, str)):
        hint = "Add the texts to the frame as a column and give its name."
        raise InputError("text", f"{rule}, got {{}}", type(text).__name__, hint=hint)


def _length(every: Any) -> str | None:
    if isinstance(every, timedelta):
        micros = every // timedelta(microseconds=1)
        unit = next(name for name, size in _UNITS.items() if micros % size == 0)
        return f"{micros // _UNITS[unit]}{unit}"
    return None if every is None else str(every)
