"""The steps before the aircraft experiment, measured on real messages.

    python -m paper.studies.gp_features [--data ../shared/data] [--out FILE]

Agreement of the filter with the careful one that came with the data; time of the features beside
scikit-learn's; messages with ground speed and track. Times are processor time of one thread;
`wall_s_on_two` is what passes on two cores of a quiet machine.
"""

import argparse
import json
import time
from pathlib import Path

import duckdb
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from benchmarks.machine import machine
from paper.flights.adsb import read_trajectories
from paper.flights.trajectories import Area, Trajectories
from paper.flights.trajectory_filter import TrajectoryBounds
from paper.flows.gp_features import (
    LENGTH_SCALE,
    NOISE_RATIO,
    Lattice,
    gp_features,
    thin_points,
)
from paper.flows.gp_hyperparameters import shared_hyperparameters
from paper.results_file import RESULTS

MAX_POINTS = (40, 64, None)
N_SCIKIT = 200
SWITZERLAND = Area(45.0, 48.5, 5.0, 11.5)


def main() -> None:
    """Measure everything and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=RESULTS / "gp_features.json")
    options = parser.parse_args()
    sfo = options.data / "sfo_swim"
    started = time.process_time()
    trajectories, report = read_trajectories(sfo / "points_2019-12.parquet")
    results = {
        "machine": machine(),
        "read_cpu_s": time.process_time() - started,
        "report": report.lines(),
        "filter": filter_agreement(trajectories, sfo / "flights_2019-12.parquet"),
        "features": [feature_times(trajectories, max_points) for max_points in MAX_POINTS],
        "scikit_learn": beside_scikit_learn(trajectories),
        "hyperparameters": hyperparameters(trajectories),
        "switzerland": switzerland(options.data / "traffic_switzerland" / "points.parquet"),
    }
    text = json.dumps(results, indent=1)
    print(text)
    options.out.write_text(text + "\n")


def filter_agreement(trajectories: Trajectories, flights: Path) -> dict[str, float]:
    """Share of what the data's own filter keeps that ours keeps, and of what it drops."""
    rows = duckdb.sql(f"SELECT CAST(flight AS VARCHAR), clean FROM '{flights}'").fetchall()
    kept = set(trajectories.ids)
    clean = [name in kept for name, is_clean in rows if is_clean]
    other = [name not in kept for name, is_clean in rows if not is_clean]
    return {
        "n_clean": len(clean),
        "kept_of_clean": float(np.mean(clean)),
        "n_dropped": len(other),
        "dropped_of_dropped": float(np.mean(other)),
    }


def feature_times(trajectories: Trajectories, max_points: int | None) -> dict[str, float | None]:
    """Processor time of the features of all flights, and what passes on two cores."""
    started = time.process_time()
    gp_features(trajectories, max_points=max_points, n_jobs=1)
    seconds = time.process_time() - started
    started = time.perf_counter()
    gp_features(trajectories, max_points=max_points, n_jobs=2)
    passed = time.perf_counter() - started
    return {
        "max_points": max_points,
        "n_flights": len(trajectories),
        "cpu_s": seconds,
        "us_per_flight": 1e6 * seconds / len(trajectories),
        "wall_s_on_two": passed,
    }


def beside_scikit_learn(trajectories: Trajectories, max_points: int = 40) -> dict[str, float]:
    """Fixed kernel, the same points: the largest difference, and both times."""
    rng = np.random.default_rng(0)
    sample = trajectories.select(np.sort(rng.permutation(len(trajectories))[:N_SCIKIT]))
    sample = thin_points(sample, max_points)
    lattice = Lattice()
    places = [(a, b) for a in lattice.latitudes for b in lattice.longitudes]
    started = time.process_time()
    expected = []
    for begin, end in zip(sample.starts[:-1], sample.starts[1:], strict=True):
        inputs = np.column_stack([sample.latitudes[begin:end], sample.longitudes[begin:end]])
        outputs = np.column_stack([sample.north[begin:end], sample.east[begin:end]])
        model = GaussianProcessRegressor(
            RBF(LENGTH_SCALE, "fixed"), alpha=NOISE_RATIO, optimizer=None
        )
        expected.append(model.fit(inputs, outputs).predict(places).T.ravel())
    theirs = time.process_time() - started
    started = time.process_time()
    ours = gp_features(sample, lattice, max_points=None, n_jobs=1)
    seconds = time.process_time() - started
    return {
        "max_points": max_points,
        "largest_difference_knots": float(np.abs(ours - expected).max()),
        "theirs_us_per_flight": 1e6 * theirs / N_SCIKIT,
        "ours_us_per_flight": 1e6 * seconds / N_SCIKIT,
    }


def hyperparameters(trajectories: Trajectories) -> dict[str, float]:
    """One set for all flights, by marginal likelihood."""
    started = time.process_time()
    found = shared_hyperparameters(trajectories, rng=np.random.default_rng(0))
    return {
        "length_scale": float(found.length_scale),
        "noise_ratio": float(found.noise_ratio),
        "cpu_s": time.process_time() - started,
    }


def switzerland(path: Path) -> dict[str, object]:
    """A day of ADS-B with ground speed and track; aircraft enter and leave the area."""
    bounds = TrajectoryBounds(area=SWITZERLAND)
    trajectories, report = read_trajectories(path, bounds=bounds)
    features = gp_features(trajectories, Lattice(SWITZERLAND), length_scale=0.5)
    return {
        "report": report.lines(),
        "n_features": features.shape[1],
        "is_finite": bool(np.isfinite(features).all()),
    }


if __name__ == "__main__":
    main()
