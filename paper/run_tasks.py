"""Run what is missing of an experiment over processes, and keep every result as it comes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from paper.results_file import ResultsFile, Row

Trial = Callable[[Row], dict[str, Any]]
OnProgress = Callable[[float, float], None]


def run_tasks(
    trial: Trial,
    tasks: Iterable[Row],
    results: ResultsFile,
    *,
    effort: Callable[[Row], float] | None = None,
    n_jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> None:
    """Append `trial(task)` to the results for each task that has no row yet.

    Parameters
    ----------
    trial : callable
        Makes a row of a task, the columns of its key included; a pure function that can be
        sent to another process. It may use one thread.
    tasks : iterable of mappings
        What to do, in this order.
    results : ResultsFile
        Open for appending.
    effort : callable, optional
        About how many seconds a task takes: small tasks are sent many at a time, and progress
        counts seconds. By default every task counts 1.
    n_jobs : int
        Processes, as in joblib; -1 is one for each core. 1 runs in this process.
    on_progress : callable, optional
        Called with effort done and all effort of the missing tasks.
    """
    missing = results.missing(tasks)
    efforts = [1.0 if effort is None else effort(task) for task in missing]
    chunks = _chunks(missing, efforts)
    done, total = 0.0, sum(efforts)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for spent, rows in parallel(delayed(_run)(trial, chunk, cost) for chunk, cost in chunks):
        results.append(rows)
        done += spent
        if on_progress is not None:
            on_progress(done, total)


def _chunks(tasks: Sequence[Row], efforts: Sequence[float]) -> list[tuple[list[Row], float]]:
    """Cut the tasks into runs of at least one effort each."""
    chunks: list[tuple[list[Row], float]] = []
    chunk: list[Row] = []
    cost = 0.0
    for task, effort in zip(tasks, efforts, strict=True):
        chunk, cost = [*chunk, task], cost + effort
        if cost >= 1.0:
            chunks.append((chunk, cost))
            chunk, cost = [], 0.0
    return [*chunks, (chunk, cost)] if chunk else chunks


def _run(trial: Trial, tasks: list[Row], cost: float) -> tuple[float, list[dict[str, Any]]]:
    with threadpool_limits(1):
        return cost, [trial(task) for task in tasks]
