"""The rows of a run clustered once more, with other penalties, into a folder beside it."""

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from dynmeans.records.penalties import Penalties
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.input import Input
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.run import Run

# Fields of a recipe that penalties stand in for.
_CHOSEN = (
    *("new_penalty", "max_gap", "reach", "revival_penalty", "drift"),
    *("n_clusters", "motion", "moving", "revival"),
)


def job_again(run: Run, penalties: Penalties, search: str) -> ClusterJob:
    """Return what clusters the rows of a run anew; its folder is the next that is free."""
    source = run.config.source
    rows = source.get("input")
    if rows is None or Input(rows).is_live:
        raise ValueError(
            "The rows of this run cannot be read again: they came by a stream or from memory. "
            "Copy the settings as a command, and give it the rows."
        )
    reading = ReadingOptions.from_fields(source)
    windows = WindowOptions.from_fields(run.config.features, source)
    none: Any = dict.fromkeys(_CHOSEN)
    recipe = replace(run.config.recipe, **none, penalties=penalties, search=search)
    return ClusterJob(Input(rows, reading), windows, recipe, _free_folder(run.folder))


def _free_folder(folder: Path) -> Path:
    named = (folder.with_name(f"{folder.resolve().name}-{n}") for n in count(2))
    return next(path for path in named if not path.exists())
