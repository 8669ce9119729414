"""Windows of numbers and moments: the same for a file and a live source, each with its name."""

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from run_cases import PENALTIES

import dynmeans
from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.durations import NumberLength
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows


def both(tmp_path, rows, options):
    """The windows that a file and a live source make of the same rows."""
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    with Source(str(path), text_column=options.text_column) as source:
        from_file = [_told(window) for window in Windows(source, options)]
    return from_file, [_told(window) for window in LiveWindows(lines, options)]


def _told(window):
    times = None if window.times is None else window.times.astype(np.int64).tolist()
    return window.name, window.points.ravel().tolist(), times


@pytest.mark.parametrize("cut", [{"every": "60"}, {"rows_per_window": 1}])
def test_windows_of_epoch_seconds_have_names_of_their_own(cut, tmp_path):
    rows = [{"t": 1_700_000_040 + 60 * i, "x": i} for i in range(101)]
    file, live = both(tmp_path, rows, WindowOptions(("x",), time="t", **cut))
    assert file == live
    assert len({name for name, *_ in file}) == 101
    assert file[1][0] == "1700000100"


def test_a_number_lies_in_the_window_that_it_names():
    length = NumberLength(0.1)
    numbers = [round(i / 10, 1) for i in range(-300, 300)]
    assert [length.index_of(number) for number in numbers] == list(range(-300, 300))
    assert length.name_of(3) == "0.3"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns", "whole ns"])
def test_a_file_and_a_live_source_round_times_alike(unit, tmp_path):
    scale = {"s": 1e-6, "ms": 1e-3, "us": 1.0}.get(unit, 1e3)
    half = [1.7e15 + 0.5 + i for i in range(20)] + [i / 2 for i in range(20)]
    times = [value * scale for value in half] + [-value * scale for value in half]
    if unit == "whole ns":
        times = [1_700_000_000_123_456_500, 1_700_000_000_123_457_499, -1500, 2500, 499, -501, 0]
    rows = [{"t": time, "x": i} for i, time in enumerate(times)]
    options = WindowOptions(("x",), time="t", rows_per_window=len(rows), time_unit=unit.split()[-1])
    file, live = both(tmp_path, rows, options)
    assert file == live


@pytest.mark.parametrize("day", [datetime(2024, 10, 27), datetime(2024, 3, 31)])
def test_the_repeated_and_the_skipped_hour_are_the_same_in_a_file_and_live(day, tmp_path):
    moments = [day + timedelta(minutes=10 * i) for i in range(30)]
    rows = [{"t": moment.isoformat(sep=" "), "x": i} for i, moment in enumerate(moments)]
    options = WindowOptions(("x",), time="t", rows_per_window=30, timezone="Europe/Berlin")
    file, live = both(tmp_path, rows, options)
    assert file == live


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("is_aware_first", [True, False])
@pytest.mark.parametrize("missing", [[], [None], [pd.NaT]])
def test_moments_with_and_without_an_offset_in_one_column_keep_their_meaning(
    is_aware_first, missing
):
    naive = [datetime(2024, 6, 1, 12, 5 * i) for i in range(6)]
    aware = [datetime(2024, 6, 1, 10, 5 * i + 2, tzinfo=UTC) for i in range(6)]
    mixed = [*aware, *naive] if is_aware_first else [*naive, *aware]
    column = pd.Series([*mixed, *missing], dtype=object)
    frame = pd.DataFrame({"t": column, "x": np.arange(len(column), dtype=float)})
    expected = sorted([m.replace(tzinfo=BERLIN) for m in naive] + aware)
    options = {"timezone": "Europe/Berlin", "penalties": PENALTIES}
    if missing:
        with pytest.warns(UserWarning, match="1 row was left out"):
            found = dynmeans.cluster(frame, time="t", every="1min", features=["x"], **options)
    else:
        found = dynmeans.cluster(frame, time="t", every="1min", features=["x"], **options)
    steps = [record.time for record in found.history]
    minutes = [(m - expected[0]).total_seconds() / 60 for m in expected]
    assert len(steps) == 12
    assert [s - steps[0] for s in steps] == minutes


def test_polars_integers_of_128_bits_are_read_or_refused_by_name():
    frame = pl.DataFrame({"t": [1, 2, 3], "x": [0.0, 1.0, 2.0]}).with_columns(
        pl.col("t").cast(pl.Int128)
    )
    for some in (frame, frame.lazy()):
        found = dynmeans.cluster(some, time="t", every="1", features=["x"], penalties=PENALTIES)
        assert len(list(found.history)) == 3
    wide = frame.with_columns(pl.col("t") * (1 << 62) * 8)
    for some in (wide, wide.lazy()):
        with pytest.raises(ValueError, match="column 't' holds an integer of more than 64 bits"):
            dynmeans.cluster(some, time="t", every="1", features=["x"], penalties=PENALTIES)


def test_the_command_line_names_windows_by_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("rows.csv", "w") as file:
        file.write("t,x\n" + "".join(f"{i / 10},{i % 7}\n" for i in range(300)))
    words = ["-t", "t", "--every", "0.1", "-f", "x", "--new-penalty", "1", "-o", "run", "-q"]
    assert main(["cluster", "rows.csv", *words]) == 0
    with dynmeans.Run.open("run") as run:
        names = [str(row) for row in run.store.query("SELECT name FROM windows ORDER BY step")]
        labels = run.labels()
    assert len(set(names)) == 300
    assert labels["step"].tolist() == list(range(300))
