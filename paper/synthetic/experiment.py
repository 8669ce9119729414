"""The synthetic experiment of the paper (Sec. 6.1): search, comparison, figures."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from paper.results_file import Results, ResultsFile, read_results
from paper.run_tasks import OnProgress, run_tasks
from paper.synthetic.claims import summary_markdown
from paper.synthetic.config import METHODS, SyntheticConfig
from paper.synthetic.figures import draw_figures
from paper.synthetic.search import best_settings, n_settings, settings_of_rung
from paper.synthetic.tasks import (
    DEVIATION,
    KEY,
    PAPER,
    Task,
    comparison_tasks,
    grid,
    paper_settings,
    search_tasks,
    seconds_of,
)
from paper.synthetic.trial import SCHEMA, run_trial

EXPERIMENT = "synthetic"

Stage = Callable[[pd.DataFrame], Iterable[Task]]


def run_synthetic(
    config: SyntheticConfig,
    path: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    methods: Collection[str] = METHODS,
    on_progress: OnProgress | None = None,
) -> Results:
    """Run what is missing of the experiment, and return all its results.

    Every method clusters the streams of the comparison at the paper's settings and at the best one
    that a search on other streams found.

    Parameters
    ----------
    config : SyntheticConfig
        What to run.
    path : path-like
        The results file; a run that was interrupted continues.
    n_jobs : int
        Processes; -1 is one for each core.
    methods : collection of str
        Whose trials to run; by default all. The others may be run elsewhere, and merged.
    on_progress : callable, optional
        Called with the work done and all work that was missing, in seconds or so.
    """
    trial, effort = partial(run_trial, config), partial(seconds_of, config)
    with ResultsFile(
        path, experiment=EXPERIMENT, configuration=asdict(config), schema=SCHEMA, key=KEY
    ) as results:
        start = work_done(config, results.frame())
        left = max(expected_work(config) - start, 0.0)
        for stage in stages(config):
            frame = results.frame()
            before = work_done(config, frame) - start
            run_tasks(
                *(trial, (t for t in stage(frame) if t["method"] in methods), results),
                effort=effort,
                n_jobs=n_jobs,
                on_progress=_part(on_progress, before, left),
            )
    return read_results(path, EXPERIMENT)


def stages(config: SyntheticConfig) -> Iterator[Stage]:
    """Yield functions of the results so far that list the next trials.

    The first streams of the comparison at the paper's settings come between the rungs of the
    search, which decides on the settings of the rest: a run that is stopped has some of all.
    """
    paper = [paper_settings(PAPER), paper_settings(DEVIATION)]
    last = len(config.search_streams) - 1
    for rung, n_streams in enumerate(config.search_streams):
        if rung < last:
            yield partial(lambda n, _: comparison_tasks(config, paper, first=n), n_streams)
        yield partial(_rung, config, rung)
    yield lambda frame: comparison_tasks(config, [*paper, best_settings(config, frame)])


def _rung(config: SyntheticConfig, rung: int, frame: pd.DataFrame) -> Iterator[Task]:
    return search_tasks(config, rung, settings_of_rung(config, frame, rung))


def work_done(config: SyntheticConfig, frame: pd.DataFrame) -> float:
    """Return about how many seconds of work the results hold."""
    kinds = frame.groupby(["method", "n_clusters", "effort"]).size().reset_index(name="n")
    return float(sum(seconds_of(config, kind) * kind["n"] for kind in kinds.to_dict("records")))


def expected_work(config: SyntheticConfig) -> float:
    """Return about how many seconds of work there are in all, whatever the search finds."""
    unknown = {method: dict.fromkeys(setting, -1.0) for method, setting in paper_settings().items()}
    settings = [paper_settings(PAPER), paper_settings(DEVIATION), unknown]
    keys: dict[tuple[Any, ...], Task] = {}
    for rung in range(len(config.search_streams)):
        tried = {m: grid(config, m)[: n_settings(config, m, rung)] for m in METHODS}
        keys |= {tuple(task.values()): task for task in search_tasks(config, rung, tried)}
    keys |= {tuple(task.values()): task for task in comparison_tasks(config, settings)}
    return sum(seconds_of(config, task) for task in keys.values())


def write_figures(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    times: pd.DataFrame | None = None,
) -> tuple[list[Path], str]:
    """Draw the figures and write the tables of a results file, finished or not.

    `times` are those of all methods in turns, for the panel of times.

    Returns
    -------
    files : list of Path
        What was written.
    summary : str
        The tables, in Markdown.
    """
    results = read_results(path, EXPERIMENT)
    stem = Path(folder) / Path(path).stem
    files = draw_figures(results, stem, times)
    summary = summary_markdown(results)
    page = stem.with_suffix(".md")
    page.write_text(summary)
    return [*files, page], summary


def _part(on_progress: OnProgress | None, before: float, total: float) -> OnProgress | None:
    """Tell progress of one part as progress of the whole."""
    if on_progress is None:
        return None
    return lambda done, _: on_progress(before + done, total)
