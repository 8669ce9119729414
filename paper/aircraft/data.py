"""The data of the aircraft experiment: trajectories, features, labels, batches."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from paper.aircraft.config import DAY, PLAIN, WEEK, WHOLE, AircraftConfig
from paper.flights.adsb import read_trajectories
from paper.flights.air_traffic import air_traffic
from paper.flights.message_units import DETECT
from paper.flights.trajectories import Area, FilterReport, Trajectories
from paper.flights.trajectory_filter import TrajectoryBounds
from paper.flows.flow_features import ComponentScaling, total_variance
from paper.flows.gp_features import Lattice, gp_features
from paper.flows.gp_hyperparameters import (
    own_hyperparameters,
    shared_hyperparameters,
)

OnProgress = Callable[[float, float], None]

PAPERS_LABELS = 600
_TWO_WEEKS = 14 * DAY
_FIT_SHARE = 0.25  # of a stream shorter than two weeks, for the components
_UNLABELED = -1


@dataclass(frozen=True, slots=True, eq=False)
class AircraftData:
    """Flights in order of take-off.

    Attributes
    ----------
    trajectories : Trajectories
    takeoffs : FloatArray of shape (n_flights,)
        Times of take-off, in seconds.
    features : dict of str to FloatArray of shape (n_flights, n_features)
    variances : dict of str to float
        Total variance of each feature, over the flights that came first.
    flows : list of str
        Names of the true flows.
    scored, tuning : IntArray of shape (n_flights,)
        True flow of the flights that are scored, and of those kept for tuning; -1 for others.
    confidences : FloatArray of shape (n_flights,)
    begin : float
        Where the first window begins; on a full hour.
    report : FilterReport
        Of messages and trajectories.
    notes : dict of str to str
        What was chosen on the way.
    """

    trajectories: Trajectories
    takeoffs: FloatArray
    features: dict[str, FloatArray]
    variances: dict[str, float]
    flows: list[str]
    scored: IntArray
    tuning: IntArray
    confidences: FloatArray
    begin: float
    report: FilterReport
    notes: dict[str, str]

    @property
    def spans(self) -> dict[str, tuple[float, float]]:
        """Begin and end, in seconds after `begin`, of the parts that are clustered."""
        end = float(self.takeoffs[-1]) - self.begin + 1
        if end < _TWO_WEEKS:
            return {WHOLE: (0.0, end)}
        return {WEEK: (7 * DAY, 14 * DAY), WHOLE: (0.0, end)}

    def windows(self, span: str, hours: float) -> list[IntArray]:
        """Rows of the flights that take off in each window, empty windows included."""
        begin, end = self.spans[span]
        since = self.takeoffs - self.begin - begin
        rows = np.flatnonzero((since >= 0) & (since < end - begin))
        which = (since[rows] // (3600 * hours)).astype(np.int64)
        n_windows = int(-(-(end - begin) // (3600 * hours)))
        edges = np.searchsorted(which, np.arange(1, n_windows))
        return np.split(rows, edges)


def prepare_data(
    config: AircraftConfig,
    *,
    cache: Path | None = None,
    n_jobs: int = 2,
    on_progress: OnProgress | None = None,
) -> AircraftData:
    """Read or simulate the messages, and make features and labels of them."""
    area, units = Area(*config.area), config.units or {}
    with tempfile.TemporaryDirectory() as folder:
        messages, flights = config.messages, config.flights
        if messages is None:
            rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(0,)))
            files = air_traffic(config.n_flights, rng=rng).save(folder)
            messages, flights = str(files[0]), str(files[1])
        trajectories, report = read_trajectories(
            messages,
            columns=config.columns,
            bounds=TrajectoryBounds(area=area),
            time_unit=units.get("time", DETECT),
            speed_unit=units.get("speed", DETECT),
            heading_unit=units.get("heading", DETECT),
        )
        if not len(trajectories):
            losses = report.lines()[len(report.notes) :]
            raise ValueError(
                "no trajectory is left to cluster: " + "; ".join(line.strip() for line in losses)
            )
        labels = _read_labels(config, flights, trajectories)
    return _with_features(config, trajectories, labels, report, (cache, n_jobs, on_progress))


def _with_features(
    config: AircraftConfig,
    trajectories: Trajectories,
    labels: tuple[list[str], IntArray, FloatArray],
    report: FilterReport,
    how: tuple[Path | None, int, OnProgress | None],
) -> AircraftData:
    takeoffs = trajectories.takeoff_times
    begin = float(takeoffs[0] // 3600 * 3600)
    duration = float(takeoffs[-1]) - begin
    fit_seconds = 7 * DAY if duration >= _TWO_WEEKS else _FIT_SHARE * duration
    is_early = takeoffs < begin + fit_seconds
    notes = {"scaling": f"components and variances from the first {fit_seconds / DAY:.1f} days"}
    features, variances = {}, {}
    for feature in config.features:
        raw = _gp(config, trajectories, feature, notes, how)
        is_bad = ~np.isfinite(raw).all(axis=1)
        if is_bad.any():
            raise ValueError(
                f"{np.count_nonzero(is_bad)} trajectories have features that are not finite, the "
                f"first of them {trajectories.ids[int(np.argmax(is_bad))]!r}."
            )
        if feature == PLAIN:
            features[feature], variances[feature] = raw, total_variance(raw[is_early])
        else:
            scaling = ComponentScaling.fit(raw[is_early], config.n_components)
            features[feature] = scaling.transform(raw)
            variances[feature] = scaling.total_variance
    flows, codes, confidences = labels
    scored, tuning = _divide(config, codes)
    return AircraftData(
        trajectories,
        takeoffs,
        features,
        variances,
        flows,
        scored,
        tuning,
        confidences,
        begin,
        report,
        notes,
    )


def _gp(
    config: AircraftConfig,
    trajectories: Trajectories,
    feature: str,
    notes: dict[str, str],
    how: tuple[Path | None, int, OnProgress | None],
) -> FloatArray:
    length: FloatArray | float = config.length_scale
    ratio: FloatArray | float = config.scaled_noise_ratio
    if feature == PLAIN and config.is_gp_own:
        own = own_hyperparameters(trajectories, max_points=config.max_points)
        length, ratio = np.asarray(own.length_scale), np.asarray(own.noise_ratio)
    elif feature == PLAIN and config.plain_noise_ratio is not None:
        ratio = config.plain_noise_ratio
    elif feature == PLAIN:
        rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(1,)))
        found = shared_hyperparameters(trajectories, rng=rng, max_points=config.max_points)
        length, ratio = float(found.length_scale), float(found.noise_ratio)
    middle = "of each trajectory, in the median: " if np.ndim(length) else ""
    notes[feature] = (
        f"{middle}length scale {np.median(length):.3g} degrees, noise ratio {np.median(ratio):.3g}"
    )
    cache, n_jobs, on_progress = how
    return gp_features(
        trajectories,
        Lattice(Area(*config.area)),
        length_scale=length,
        noise_ratio=ratio,
        max_points=config.max_points,
        n_jobs=n_jobs,
        cache=cache,
        on_progress=on_progress,
    )


def _read_labels(
    config: AircraftConfig, flights: str | None, trajectories: Trajectories
) -> tuple[list[str], IntArray, FloatArray]:
    """Names of the flows; the flow of each trajectory, -1 for none; and the weight of it."""
    n = len(trajectories)
    if flights is None:
        return [], np.full(n, _UNLABELED), np.ones(n)
    found = _label_table(config, flights)
    names, counts = np.unique(trajectories.ids, return_counts=True)
    # A label is of one flight: an id that flew more often does not say which.
    flew_once = set(names[counts == 1].tolist())
    given = [found.get(name) if name in flew_once else None for name in trajectories.ids]
    flows = sorted({label for label, _ in filter(None, given)})
    place = {flow: i for i, flow in enumerate(flows)}
    codes = np.array([_UNLABELED if g is None else place[g[0]] for g in given], dtype=np.int64)
    weights = np.array([0.0 if g is None else g[1] for g in given], dtype=np.float64)
    if not flows:
        raise ValueError(f"{flights} has no label for any trajectory that was kept.")
    return flows, codes, weights


def _label_table(config: AircraftConfig, flights: str) -> dict[str, tuple[str, float]]:
    confidence = config.confidence
    if config.messages is None:
        confidence = "confidence"
    reader = "read_parquet" if flights.lower().endswith(".parquet") else "read_csv"
    quoted = flights.replace("'", "''")
    wanted = [config.flight_id, config.label, config.scored, confidence]
    with duckdb.connect() as connection:
        table = connection.sql(f"SELECT * FROM {reader}('{quoted}')")
        missing = [name for name in wanted if name is not None and name not in table.columns]
        if missing:
            raise ValueError(
                f"{flights} has no column {missing[0]!r}; it has {', '.join(table.columns)}."
            )
        weight = "1::DOUBLE" if confidence is None else f'CAST("{confidence}" AS DOUBLE)'
        where = f'"{config.label}" IS NOT NULL'
        if config.scored is not None:
            where += f' AND CAST("{config.scored}" AS BOOLEAN)'
        rows = connection.sql(
            f'SELECT CAST("{config.flight_id}" AS VARCHAR), CAST("{config.label}" AS VARCHAR), '
            f"{weight} FROM {reader}('{quoted}') WHERE {where}"
        ).fetchall()
    for name, _, value in rows:
        if value is None or not 0 <= value <= 1:
            raise ValueError(f"confidence must lie between 0 and 1, got {value} of {name}.")
    return {name: (label, value) for name, label, value in rows}


def _divide(config: AircraftConfig, codes: IntArray) -> tuple[IntArray, IntArray]:
    """Keep a share of the labels for tuning; score the others, or as many as are asked for."""
    rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(2,)))
    labeled = rng.permutation(np.flatnonzero(codes != _UNLABELED))
    n_scored = config.n_labeled
    if n_scored is None and config.messages is None:
        n_scored = PAPERS_LABELS
    if n_scored is None:
        n_tuning = round(config.tuning_share * len(labeled))
        n_scored = len(labeled) - n_tuning
    else:
        n_scored = min(n_scored, round((1 - config.tuning_share) * len(labeled)))
        n_tuning = round(n_scored * config.tuning_share / (1 - config.tuning_share))
    scored, tuning = np.full_like(codes, _UNLABELED), np.full_like(codes, _UNLABELED)
    chosen, kept = labeled[:n_scored], labeled[n_scored : n_scored + n_tuning]
    scored[chosen], tuning[kept] = codes[chosen], codes[kept]
    return scored, tuning
