"""Run a study that fills one results file, row by row, and resumes where it was stopped."""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from paper.results_file import RESULTS, ResultsFile, Row
from paper.run_tasks import run_tasks


def run_study(
    name: str,
    run: Callable[[Row], dict[str, Any]],
    tasks: Sequence[Row] | Callable[[pd.DataFrame], Sequence[Row]],
    *,
    schema: pa.Schema,
    key: Sequence[str],
    configuration: Mapping[str, Any],
) -> None:
    """Append what is missing to paper/results/NAME.parquet; ``--seconds`` stops after so long.

    Tasks that depend on results are a function of the rows so far, asked until nothing is missing.
    """
    parser = argparse.ArgumentParser(description=f"Fill paper/results/{name}.parquet.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--folder", type=Path, default=RESULTS)
    asked = parser.parse_args()
    until = time.monotonic() + asked.seconds
    with ResultsFile(
        asked.folder / f"{name}.parquet",
        experiment=name,
        configuration=configuration,
        schema=schema,
        key=key,
    ) as results:
        try:
            while missing := results.missing(tasks(results.frame()) if callable(tasks) else tasks):
                run_tasks(partial(_in_time, run, until), missing, results)
        except TimeoutError:
            print(f"{name}: {len(results)} rows, some are missing")


def _in_time(run: Callable[[Row], dict[str, Any]], until: float, task: Row) -> dict[str, Any]:
    if time.monotonic() > until:
        raise TimeoutError
    return run(task)
