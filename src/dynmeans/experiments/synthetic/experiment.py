"""The synthetic experiment of the paper (Sec. 6.1): search, comparison, figures."""

import os
from dataclasses import asdict
from functools import partial
from pathlib import Path

from dynmeans.experiments.results_file import Results, ResultsFile, read_results
from dynmeans.experiments.run_tasks import OnProgress, run_tasks
from dynmeans.experiments.synthetic.claims import summary_markdown
from dynmeans.experiments.synthetic.config import SyntheticConfig
from dynmeans.experiments.synthetic.figures import TRACKING, draw_figures
from dynmeans.experiments.synthetic.tasks import (
    KEY,
    best_settings,
    comparison_tasks,
    paper_settings,
    search_tasks,
    seconds_of,
)
from dynmeans.experiments.synthetic.trial import SCHEMA, run_trial

EXPERIMENT = "synthetic"


def run_synthetic(
    config: SyntheticConfig,
    path: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> Results:
    """Run what is missing of the experiment, and return all its results.

    First every setting of the grids is tried on some streams; then every method clusters other
    streams at the paper's setting and at the best one found.

    Parameters
    ----------
    config : SyntheticConfig
        What to run.
    path : path-like
        The results file; a run that was interrupted continues.
    n_jobs : int
        Processes; -1 is one for each core.
    on_progress : callable, optional
        Called with the work done and all work that was missing, in seconds or so.
    """
    trial, effort = partial(run_trial, config), partial(seconds_of, config)
    with ResultsFile(
        path, experiment=EXPERIMENT, configuration=asdict(config), schema=SCHEMA, key=KEY
    ) as results:
        search = list(search_tasks(config))
        search_work = sum(map(effort, results.missing(search)))
        comparison_work = _expected_work(config, results, is_searched=search_work == 0)
        total = search_work + comparison_work
        run = partial(run_tasks, trial, results=results, effort=effort, n_jobs=n_jobs)
        run(search, on_progress=_part(on_progress, 0.0, total))
        comparison = comparison_tasks(config, best_settings(results.frame()))
        run(comparison, on_progress=_part(on_progress, search_work, total))
    return read_results(path, EXPERIMENT)


def write_figures(
    path: str | os.PathLike[str], folder: str | os.PathLike[str], *, score: str = TRACKING
) -> tuple[list[Path], str]:
    """Draw the figures and write the tables of a results file, finished or not.

    Returns
    -------
    files : list of Path
        What was written.
    summary : str
        The tables, in Markdown.
    """
    results = read_results(path, EXPERIMENT)
    stem = Path(folder) / Path(path).stem
    files = draw_figures(results, stem, score=score)
    summary = summary_markdown(results)
    page = stem.with_suffix(".md")
    page.write_text(summary)
    return [*files, page], summary


def _expected_work(config: SyntheticConfig, results: ResultsFile, *, is_searched: bool) -> float:
    """Seconds of the comparison that are missing; before the search is done, an estimate."""
    unknown = {m: dict.fromkeys(s, -1.0) for m, s in paper_settings().items()}
    found = best_settings(results.frame()) if is_searched else unknown
    return sum(seconds_of(config, t) for t in results.missing(comparison_tasks(config, found)))


def _part(on_progress: OnProgress | None, before: float, total: float) -> OnProgress | None:
    """Tell progress of one part as progress of the whole."""
    if on_progress is None:
        return None
    return lambda done, _: on_progress(before + done, total)
