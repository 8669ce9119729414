"""Rows with wrong times end no stream, and a gap that all rows make is gone over."""

import json
import logging
import threading

import pytest
from attack.targets.messages import Given, Kept
from hypothesis import given, settings
from hypothesis import strategies as st

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.stream_windows import StreamWindows

START, DAY, YEAR_2100 = 1_700_000_000, 86400, 4_102_444_800
MINUTES = {"time": "t", "every": "1min", "time_unit": "s", "allowed_lateness": "10s"}


def lines_of(times):
    return [json.dumps({"t": t, "x": float(i % 3)}) for i, t in enumerate(times)]


def streamed(times, stops=(), **options):
    """Read as a stream with stops; return rows taken, letters, and the share of late rows."""
    wanted = WindowOptions(("x",), **{**MINUTES, **options})
    kept, taken, bodies = Kept(), {}, lines_of(times)
    for after in [*stops, None]:
        stop = threading.Event()
        stream = Given(bodies, stop, after)
        windows = StreamWindows(stream, wanted, kept, stop=stop, idle_timeout=0.0)
        try:
            for window in windows:
                kept.commit(window.position, window.dead_letters)
                taken |= dict.fromkeys(window.row_ids.tolist(), window.name)
        except StoppedError:
            continue
    return taken, sorted(kept.letters), kept.position


def live(times, **options):
    """Read as lines; return the rows of all windows and how many were left out."""
    windows = LiveWindows(
        lines_of(times), WindowOptions(("x",), on_late="drop", **{**MINUTES, **options})
    )
    found = list(windows)
    rows = [row for window in found for row in window.row_ids.tolist()]
    return rows, sum(window.n_late_rows for window in found) + windows.n_late_rows


def seconds(n, first=0):
    return [START + first + i for i in range(n)]


BEFORE, AFTER = seconds(200), seconds(3000, first=200)
WRONG = {
    "one row a month ahead": ([START + 30 * DAY], {}),
    "two rows of the year 2100": ([YEAR_2100, YEAR_2100], {}),
    "two rows of 2100, a second apart": ([YEAR_2100, YEAR_2100 + 1], {}),
    "five rows of the year 2100": ([YEAR_2100 + i for i in range(5)], {}),
    "sixty rows with one wrong time": ([YEAR_2100] * 60, {}),
    "50 rows each 58 minutes further": (
        [START + 200 + 58 * 60 * (i + 1) for i in range(50)],
        {"max_ahead": "1h"},
    ),
    "50 rows each 9 minutes further": ([START + 200 + 9 * 60 * (i + 2) for i in range(50)], {}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_few_rows_with_wrong_times_end_no_stream(name):
    wrong, options = WRONG[name]
    taken, letters, _ = streamed(BEFORE + wrong + AFTER, **options)
    good = [*range(200), *range(200 + len(wrong), 3200 + len(wrong))]
    assert set(good) <= set(taken)
    assert len(letters) + len(taken) == 3200 + len(wrong)
    rows, n_late_rows = live(BEFORE + wrong + AFTER, **options)
    assert set(good) <= set(rows)
    assert len(rows) + n_late_rows == 3200 + len(wrong)


def test_a_device_whose_clock_is_fast_holds_back_nobody():
    times = [t + (30 * 60 if i % 10 == 5 else 0) for i, t in enumerate(BEFORE + AFTER)]
    taken, letters, _ = streamed(times)
    assert len(taken) == 3200
    assert letters == []


@pytest.mark.parametrize("step", [1, 20, 60, 240], ids="{} s apart".format)
def test_a_gap_of_a_month_in_all_rows_is_gone_over_after_a_few_rows(step):
    times = [START + step * i for i in range(100)]
    times += [START + 30 * DAY + step * i for i in range(40)]
    taken, letters, _ = streamed(times)
    assert (sorted(taken), letters) == (list(range(140)), [])
    given_lines = []

    def lines():
        for line in lines_of(times):
            given_lines.append(line)
            yield line

    names = []
    for window in LiveWindows(lines(), WindowOptions(("x",), **MINUTES)):
        names.append(window.name)
        if window.row_ids[-1] >= 99:
            break
    assert len(given_lines) <= 110


@pytest.mark.parametrize("step", [7, 600, 7200, 90_000])
def test_rows_far_apart_from_the_start_are_an_ordinary_stream(step):
    times = [START + step * i for i in range(120)]
    assert len(streamed(times)[0]) == 120
    assert live(times) == (list(range(120)), 0)


def test_bursts_half_an_hour_apart_close_their_windows():
    times = [START + 1800 * (i // 5) + i % 5 for i in range(400)]
    windows = iter(LiveWindows(lines_of(times), WindowOptions(("x",), **MINUTES)))
    assert [window.points.shape[0] for window in windows] == [5] * 80
    taken, letters, _ = streamed(times)
    assert (len(taken), letters) == (400, [])


def test_rows_that_become_rare_are_waited_for_and_not_lost():
    times = BEFORE + [BEFORE[-1] + 1800 * (i // 5 + 1) + i % 5 for i in range(300)]
    taken, letters, _ = streamed(times)
    assert (len(taken), letters) == (500, [])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_wrong_rows_cost_nothing_but_themselves_whatever_stops_the_stream(data):
    times, good = seconds(60), list(range(60))
    for _ in range(data.draw(st.integers(1, 4))):
        n_wrong = data.draw(st.integers(1, 9))
        ahead = data.draw(st.floats(3 * 3600, 1e9))
        step = data.draw(st.floats(0, 1e7))
        times += [round(times[good[-1]] + ahead + step * i) for i in range(n_wrong)]
        gap = data.draw(st.sampled_from([0, 0, 0, 3600, 40 * DAY, 800 * DAY]))
        begin, n_good = times[good[-1]] + 1 + gap, data.draw(st.integers(12, 40))
        good += range(len(times), len(times) + n_good)
        times += [begin + i for i in range(n_good)]
    stops = sorted(data.draw(st.lists(st.integers(1, len(times)), max_size=5)))
    whole = streamed(times)
    assert set(good) <= set(whole[0])
    assert streamed(times, stops) == whole
    assert live(times)[0] == sorted(whole[0], key=live(times)[0].index)


def test_one_wrong_row_is_told_in_a_unit_for_people():
    reason = streamed([*BEFORE, START + 30 * DAY, *AFTER[:9]])[1][0][1]
    assert "30 days ahead of all other rows; at most 1.67 hours is allowed" in reason


def test_mostly_late_rows_are_warned_of_in_the_log(caplog):
    caplog.set_level(logging.WARNING)
    late = [START - 5 * DAY + i for i in range(400)]
    _, letters, position = streamed(BEFORE + late)
    assert len(letters) == 400
    told = [r.getMessage() for r in caplog.records if "most rows are late" in r.getMessage()]
    assert len(told) == 1
    assert position["lately"] == [600, 400]
    caplog.clear()
    streamed(BEFORE + late[:150] + AFTER)
    assert "most rows are late" not in caplog.text


@pytest.mark.parametrize("on_late", ["error", "drop"])
def test_mostly_late_rows_are_warned_of_at_exit_and_in_the_status(
    on_late, tmp_path, capsys, monkeypatch
):
    bodies = lines_of(BEFORE + [START - 5 * DAY + i for i in range(400)])
    stream = Given(bodies, threading.Event(), None)
    monkeypatch.setattr("dynmeans.runs.cluster_job.open_stream", lambda *_: stream)
    out = str(tmp_path / "run")
    words = ["cluster", "redis://h/0?stream=s", "-f", "x", "-t", "t", "--every", "1min"]
    words += ["--time-unit", "s", "--new-penalty", "1", "--idle-timeout", "10ms", "-o", out]
    assert main([*words, "--on-late", on_late]) == 0
    told = capsys.readouterr().err
    assert told.count("most rows are late") == 2  # when it begins, and at the end
    assert main(["status", out]) == 0
    assert "most rows are late: 67% of the last rows" in capsys.readouterr().out
    with Run.open(out) as run:
        assert run.status().late_share == pytest.approx(2 / 3)
