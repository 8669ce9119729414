"""The flows as a run folder and a page that plays them through the week."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dynmeans.follow.model_config import ModelConfig
from dynmeans.inputs.batch_times import read_times
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.records.penalties import Penalties
from dynmeans.records.step_record import StepRecord
from dynmeans.report.build import report_data
from dynmeans.report.from_run import run_report
from dynmeans.report.render_page import write_report
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.run import Run
from paper.aircraft.config import N_INIT
from paper.aircraft.data import AircraftData
from paper.aircraft.settings import Setting
from paper.flights.trajectories import Trajectories
from paper.flows.flows import even_places
from paper.flows.outlines import usa_outline

_TITLE = "Flows of aircraft"
_EAST, _NORTH = "longitude", "latitude"
_PLACES = (
    *(_EAST, _NORTH),
    *("take-off longitude", "take-off latitude"),
    *("landing longitude", "landing latitude"),
)
# There and back run along one line: at a third of the way they are apart.
_NOTE = (
    "A flight is drawn where it was after a third of its way, and a cluster where its flights of "
    "the window were in the mean. Clusters were found in the features of the experiment, not in "
    "these places; their names are the airports nearest to the ends of their flights."
)


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
        tuple(f"{feature} feature {number}" for number in range(1, n_features + 1)),
        ModelConfig(penalties, n_init=N_INIT, search="paper", random_state=seed),
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


def flight_places(trajectories: Trajectories) -> FloatArray:
    """Longitude and latitude of each flight: after a third of the way, at take-off, at landing."""
    thirds = even_places(trajectories, n_places=4)
    return np.concatenate([thirds[:, at, ::-1] for at in (1, 0, 3)], axis=1)


def write_page(
    folder: Path, path: Path, places: Sequence[npt.ArrayLike], names: Mapping[int, str]
) -> Path:
    """Write one page that plays the run over the map.

    Parameters
    ----------
    folder : Path
        The run.
    path : Path
        The page.
    places : sequence of array-like of shape (n_flights, 6)
        `flight_places` of each window that holds flights.
    names : mapping of int to str
        What the clusters are called.
    """
    points = [np.asarray(batch, dtype=np.float64) for batch in places]
    with Run.open(folder) as run:
        report = run_report(run, title=_TITLE)
        history = History()
        for record, batch in zip(run.history(), points, strict=True):
            history.add(_on_map(record, batch))
        times = read_times([sample.name for sample in run.samples()])
    data = report_data(history, points=points, feature_names=_PLACES, times=times, title=_TITLE)
    data = replace(
        data,
        parameters=tuple(pair for pair in report.parameters if pair[0] != "features"),
        scores=report.scores,
        notes=(_NOTE, *data.notes),
        cluster_names=names,
    )
    lines = [line for kind in usa_outline().values() for line in kind]
    return write_report(
        data.with_initial_axes(_EAST, _NORTH).with_backdrop(_EAST, _NORTH, lines), path
    )


def _on_map(record: StepRecord, places: FloatArray) -> StepRecord:
    """Put the center of each cluster where its flights of this window are in the mean."""
    members = [record.labels == k for k in record.ids]
    centers = [places[rows].mean(axis=0) for rows in members]
    return replace(record, centers=np.array(centers).reshape(-1, places.shape[1]))


def _batches(data: AircraftData, span: str, feature: str, hours: float) -> Iterator[Window]:
    """Windows that hold flights; time passes over the others."""
    begin, last = data.begin + data.spans[span][0], -1
    has_truth = (data.scored >= 0).any()
    for number, rows in enumerate(data.windows(span, hours)):
        if not len(rows):
            continue
        start = datetime.fromtimestamp(begin + 3600 * hours * number, UTC)
        yield Window(
            data.features[feature][rows],
            elapsed=float(number - last) if last >= 0 else 1.0,
            row_ids=rows.astype(np.int64),
            times=(1e6 * data.takeoffs[rows]).astype("datetime64[us]"),
            truth=data.scored[rows] if has_truth else None,
            name=start.replace(tzinfo=None).isoformat(sep=" ", timespec="minutes"),
        )
        last = number


def _by_step(run: Run) -> Iterator[tuple[int, IntArray]]:
    for table in run.label_tables():
        steps = table["step"].to_numpy()
        found = table["cluster_id"].to_numpy()
        for step in np.unique(steps):
            yield int(step), found[steps == step]
