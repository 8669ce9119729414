"""The flows as a run folder and a page that plays them through the week."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from dynmeans.experiments.aircraft_config import N_INIT
from dynmeans.experiments.aircraft_data import AircraftData
from dynmeans.experiments.aircraft_settings import Setting
from dynmeans.records.arrays import IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.report.from_run import run_report
from dynmeans.report.page import write_report
from dynmeans.runs.batch import Batch
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.run import Run

_TITLE = "Flows of aircraft"


def run_flows(
    data: AircraftData,
    part: tuple[str, str, float],
    setting: Setting,
    seed: int,
    folder: Path,
) -> list[IntArray]:
    """Cluster one span through a run folder; return the clusters of the flights of each window.

    The folder is made anew. `dynmeans status`, `labels`, `events` and `plot` read it.
    """
    span, feature, hours = part
    penalties = Penalties(**setting)
    n_features = data.features[feature].shape[1]
    config = RunConfig(
        tuple(f"feature {number}" for number in range(1, n_features + 1)),
        penalties,
        n_init=N_INIT,
        random_state=seed,
        source={"truth": "flow"} if (data.scored >= 0).any() else {},
    )
    windows = data.windows(span, hours)
    labels = [np.empty(0, dtype=np.int64) for _ in windows]
    filled = [number for number, rows in enumerate(windows) if len(rows)]
    with Run.create(folder, config, overwrite=True) as run:
        run.process(_batches(data, span, feature, hours))
        for number, (_, found) in zip(filled, _by_step(run), strict=True):
            labels[number] = found
    return labels


def write_page(folder: Path, path: Path) -> Path:
    """Write the report of the run: one page that plays it."""
    with Run.open(folder) as run:
        return write_report(run_report(run, title=_TITLE), path)


def _batches(data: AircraftData, span: str, feature: str, hours: float) -> Iterator[Batch]:
    """Windows that hold flights; time passes over the others."""
    begin, last = data.begin + data.spans[span][0], -1
    has_truth = (data.scored >= 0).any()
    for number, rows in enumerate(data.windows(span, hours)):
        if not len(rows):
            continue
        start = datetime.fromtimestamp(begin + 3600 * hours * number, UTC)
        yield Batch(
            data.features[feature][rows],
            elapsed=float(number - last) if last >= 0 else 1.0,
            row_ids=rows.astype(np.int64),
            times=(1e6 * data.takeoffs[rows]).astype("datetime64[us]"),
            truth=data.scored[rows] if has_truth else None,
            label=start.replace(tzinfo=None).isoformat(sep=" ", timespec="minutes"),
        )
        last = number


def _by_step(run: Run) -> Iterator[tuple[int, IntArray]]:
    for table in run.label_tables():
        steps = table["step"].to_numpy()
        found = table["cluster_id"].to_numpy()
        for step in np.unique(steps):
            yield int(step), found[steps == step]
