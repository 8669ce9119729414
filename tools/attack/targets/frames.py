"""`dynmeans.cluster` on frames with odd cells: the same labels in every library, or a refusal."""

import random
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import dynmeans
from attack.held import REFUSALS, refused
from attack.mutate import FLOATS, TEXTS
from attack.targets import Case
from dynmeans.cluster_function.input_tables import read_input_table
from dynmeans.runs.reading.durations import microseconds_of
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A folder for files."""
    if name == "mixed-zones":
        yield _mixed_zones
        return
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield lambda rng: _attack(rng, Path(folder))


def _attack(rng: random.Random, folder: Path) -> int:
    frame = _frame(rng)
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, OverflowError):  # words among numbers: pandas alone
        _labels(frame, rng, folder)
        return 1
    path = folder / "rows.parquet"
    pq.write_table(table, path)
    options = _options(rng)
    found = [_labels(form, options, folder) for form in (frame, table, str(path))]
    assert found[0] == found[1] == found[2], f"other labels in another library: {found}"
    shuffled = frame.sample(frac=1.0, random_state=rng.randrange(99))
    if "time" in options and frame["when"].is_unique:
        again = _labels(shuffled, options, folder)
        order = np.argsort(shuffled.index.to_numpy(), kind="stable")
        again = again if again is None else [again[i] for i in order]
        assert again == found[0], f"other labels for shuffled rows: {again}, {found[0]}"
    return 3


_ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
_BEGINS = (datetime(2024, 6, 1), datetime(2024, 10, 26, 22), datetime(2024, 3, 9, 22))


def _mixed_zones(rng: random.Random) -> int:
    """Moments of any zone and of none in one column mean what Python says they mean."""
    n, zone = rng.randint(1, 12), rng.choice(_ZONES)
    columns = {f"when{k}": _moments(rng, n) for k in range(20)}  # opening a source takes long
    frame = pd.DataFrame({k: pd.Series(values, dtype=object) for k, values in columns.items()})
    frame["x"] = 1.0
    with Source(read_input_table(frame, list(frame), Path("/nowhere")).table) as source:
        for name, values in columns.items():
            known = [value for value in values if value is not None and value is not pd.NaT]
            expected = sorted(microseconds_of(moment, ZoneInfo(zone)) for moment in known)
            options = WindowOptions(
                ("x",), time=name, rows_per_window=99, timezone=zone, on_missing="drop"
            )
            windows = list(Windows(source, options)) if known else []
            found = [t for w in windows for t in w.times.astype("datetime64[us]").astype(int)]
            assert found == expected, f"{values} in {zone}: {found}, not {expected}"
    return len(columns)


def _moments(rng: random.Random, n: int) -> list[Any]:
    begin, values = rng.choice(_BEGINS), list[Any]()
    for _ in range(n):
        moment: Any = begin + timedelta(seconds=rng.randint(0, 5 * 86400))
        other = rng.choice((None, None, UTC, ZoneInfo("Asia/Tokyo"), timezone(timedelta(hours=-3))))
        moment = moment.replace(tzinfo=other, microsecond=rng.choice((0, 0, 123456)))
        values.append(pd.Timestamp(moment) if rng.random() < 0.3 else moment)
    if rng.random() < 0.3:
        values[rng.randrange(n)] = rng.choice((None, pd.NaT))
    return values


def _labels(form: Any, options: Any, folder: Path) -> list[Any] | None:
    if isinstance(options, random.Random):
        options = _options(options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        is_refused, found = refused(
            lambda: dynmeans.cluster(form, features=["x", "y"], penalties=1.0, **options),
            *REFUSALS,
        )
    if is_refused:
        return None
    labels = pd.Series(found.labels.to_pandas() if isinstance(form, pa.Table) else found.labels)
    known = labels.notna().to_numpy()
    assert found.status.n_dropped_rows == (~known).sum(), "rows left out are counted"
    assert int(known.sum()) == found.status.n_rows, "every row that was taken in has a label"
    return [None if pd.isna(label) else int(label) for label in labels]


def _options(rng: random.Random) -> dict[str, Any]:
    cut = rng.choice(
        [{"time": "when", "every": "10min"}, {"window_column": "b"}, {"rows_per_window": 5}]
    )
    more = rng.choice([{}, {}, {"weight": "w"}, {"on_missing": "error"}, {"truth": "b"}])
    return {**cut, **more}


def _frame(rng: random.Random) -> pd.DataFrame:
    n = rng.randint(0, 40)
    numbers = np.random.default_rng(rng.randrange(2**32))
    frame = pd.DataFrame(
        {
            "when": pd.Timestamp("2026-03-29") + pd.to_timedelta(numbers.integers(0, 9e3, n), "s"),
            "x": numbers.normal(0, 3, n).round(rng.choice((0, 3))),
            "y": numbers.normal(0, 3, n),
            "b": numbers.integers(0, 12, n),
            "w": numbers.integers(1, 4, n).astype(float),
        }
    )
    kinds: dict[str, list[Any]] = {
        "when": [str, "int64", "datetime64[s]", "category"],
        "x": ["float32", "Int64", str, object, "category", "float16"],
        "b": [float, "uint64", str, "Int8", "category"],
        "w": ["int64", str, "float32"],
    }
    for name in rng.sample(sorted(kinds), rng.randint(0, 2)):
        kind = rng.choice(kinds[name])
        values = frame[name].round() if kind == "Int64" else frame[name]
        frame[name] = values.astype(kind)
    for _ in range(rng.choice((0, 0, 1, 3)) if n else 0):
        name, row = rng.choice(["when", "x", "y", "b", "w"]), rng.randrange(n)
        column = frame[name].astype(object)
        column[row] = rng.choice([None, None, float("nan"), rng.choice(FLOATS), rng.choice(TEXTS)])
        frame[name] = column.infer_objects()
    return frame
