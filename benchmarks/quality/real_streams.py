"""How well identities are kept on real streams, with labels used for scoring only.

Run as ``python -m benchmarks.quality.real_streams``, with any number of ``.npz`` files (X, y,
sizes: rows, true labels with -1 for none, rows of each batch) in place of the streams at hand. Each
stream is clustered by `dynmeans.cluster` with nothing given but a seed, at each level, with the
hint and with each search, and by others. Every row is written to
benchmarks/results/quality/real_streams.json; one that is there already is not measured again unless
its name has a word of ``--again`` in it and the code has changed since.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import normalized_mutual_info_score

import dynmeans
from benchmarks.machine import RESULTS, commit, is_unchanged_since, machine, write_results
from benchmarks.quality.real_peers import Found, peers
from benchmarks.quality.ships import SHIPS, read_ships
from dynmeans.families.levels import LEVELS
from dynmeans.metrics import accuracy_global, idf1
from dynmeans.records.arrays import FloatArray, IntArray
from paper.aircraft.config import SCALED, WHOLE, AircraftConfig
from paper.aircraft.data import prepare_data

SHARED = Path(__file__).parents[3] / "shared" / "data"
NAME = "quality/real_streams"
Stream = tuple[list[FloatArray], list[IntArray]]
Row = dict[str, Any]


def read_npz(path: Path) -> Stream:
    """Return the batches and true labels of a file."""
    with np.load(path) as file:
        ends = np.cumsum(file["sizes"])[:-1]
        points = file["X"].astype(np.float64)
        return np.split(points, ends), np.split(file["y"].astype(np.int64), ends)


def read_flights(hours: float) -> Stream:
    """Return flights of December by windows, with the features of the aircraft experiment."""
    folder = SHARED / "sfo_swim"
    config = AircraftConfig(
        messages=str(folder / "points_2019-12.parquet"),
        flights=str(folder / "flights_2019-12.parquet"),
        scored="od_ok",
        features=(SCALED,),
    )
    data = prepare_data(config)
    true = np.where(data.scored >= 0, data.scored, data.tuning)
    windows = data.windows(WHOLE, hours)
    return [data.features[SCALED][rows] for rows in windows], [true[rows] for rows in windows]


def streams_at_hand() -> dict[str, Callable[[], Stream]]:
    """Return the readers of what is there."""
    found: dict[str, Callable[[], Stream]] = {}
    for path in sorted((SHARED / "real_streams").glob("*.npz")):
        found[path.stem] = lambda path=path: read_npz(path)  # type: ignore[misc]
    if (SHARED / "sfo_swim").exists():
        found["flights, days"] = lambda: read_flights(24.0)
        found["flights, 2 h"] = lambda: read_flights(2.0)
    for name, path in SHIPS.items():
        if Path(path).exists():
            found[name] = lambda name=name: read_ships(name)  # type: ignore[misc]
    return found


def scores(true: Sequence[IntArray], found: Sequence[IntArray]) -> Row:
    """Global accuracy, IDF1, mutual information, and how many identities there were."""
    all_true, all_found = np.concatenate(true), np.concatenate(found)
    is_scored = all_true >= 0
    return {
        "accuracy": accuracy_global(true, found),
        "idf1": idf1(true, found),
        "nmi": float(normalized_mutual_info_score(all_true[is_scored], all_found[is_scored])),
        "n_identities": len(np.unique(all_found[all_found >= 0])),
    }


def usual_number(true: Sequence[IntArray]) -> float:
    """True clusters of a batch, on average: the hint."""
    numbers = [len(np.unique(y[y >= 0])) for y in true if (y >= 0).any()]
    return float(np.mean(numbers))


def ours(
    batches: list[FloatArray], levels: Sequence[str | None] = (None,), **given: Any
) -> list[list[IntArray]]:
    """Return the clusters of the default call at each of some levels; None: the one shown."""
    sizes = [len(batch) for batch in batches]
    frame = pd.DataFrame(np.concatenate(batches)).add_prefix("x")
    features = list(frame)
    frame["window"] = np.repeat(np.arange(len(batches)), sizes)
    result = dynmeans.cluster(frame, features=features, window_column="window", **given)
    found = []
    for level in levels:
        if level is not None:
            result.choose_level(level)
        labels = result.labels.to_numpy().astype(np.int64)
        found.append(np.split(labels, np.cumsum(sizes)[:-1]))
    return found


def rows_of(batches: list[FloatArray], true: list[IntArray], n_seeds: int) -> dict[str, Found]:
    """Return what to call for each row of a stream."""
    number = usual_number(true)
    rows: dict[str, Found] = {}

    def add(name: str, n_seeds: int, **given: Any) -> None:
        for seed in range(n_seeds):
            call = partial(ours, batches, random_state=seed, **given)
            rows[f"{name}, seed {seed}"] = call

    add("label-free, split", n_seeds)
    add("best of three levels by labels, split", 1, levels=LEVELS)
    add("with the hint, split", n_seeds, n_clusters=number)
    add("with half the hint, split", 1, n_clusters=0.5 * number)
    add("with a range, split", 1, n_clusters=(0.5 * number, 2.0 * number))
    for search in ("paper", "deep"):
        add(f"label-free, {search}", n_seeds, search=search)
    return rows | peers(batches, max(1, round(number)))


def main() -> None:
    """Score what is not there yet, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help=".npz files; else what is at hand")
    parser.add_argument("--only", nargs="*", help="names of streams")
    parser.add_argument("--rows", help="only rows whose name has this in it")
    parser.add_argument("--again", nargs="+", default=[], help="words in names of rows")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    readers = {path.stem: lambda path=path: read_npz(path) for path in options.files}
    readers = readers or streams_at_hand()
    if not readers:
        parser.error("no stream at hand: give .npz files with X, y and sizes.")
    for name, read in readers.items():
        if not options.only or name in options.only:
            measure(name, *read(), options)


def measure(name: str, batches: list[FloatArray], true: list[IntArray], options: Any) -> None:
    """Measure and write the rows of a stream that are not there."""
    for row, found in rows_of(batches, true, options.seeds).items():
        before = _written()["streams"].get(name, {}).get("rows", {}).get(row)
        is_again = any(word in row for word in options.again)
        is_kept = before and (not is_again or is_unchanged_since(before.get("commit")))
        if is_kept or (options.rows or "") not in row:
            continue
        started = time.perf_counter()
        tried = found()
        seconds = time.perf_counter() - started
        best = max((scores(true, labels) for labels in tried), key=lambda one: one["accuracy"])
        print(f"{name}, {row}: {best['accuracy']:.3f}, {seconds:.1f} s", flush=True)
        results = _written()  # another run may have written since
        stream = results["streams"].setdefault(name, {"rows": {}})
        stream |= {"n_batches": len(batches), "n_true": usual_number(true)}
        stream["rows"][row] = {**best, "seconds": seconds, "commit": commit()}
        write_results(NAME, results)


def _written() -> dict[str, Any]:
    path = RESULTS / f"{NAME}.json"
    if path.exists():
        results: dict[str, Any] = json.loads(path.read_text())
        return results
    return {"machine": machine(), "streams": {}}


if __name__ == "__main__":
    main()
