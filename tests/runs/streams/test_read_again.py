"""Messages that are read a second time after a stop: what was left out of the run stays so."""

import json
import threading

import pytest
from attack.targets import positions
from attack.targets.messages import Given, Kept

from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.stream_windows import StreamWindows

OPTIONS = WindowOptions(("x",), time="t", every="10s", time_unit="s", allowed_lateness="0")
START, YEAR = 1_700_000_000, 366 * 86400


def bodies_of(*times):
    """One message a time, in seconds after the start; None is a message that is no row."""
    return ["no row" if t is None else json.dumps({"t": START + t, "x": 0.0}) for t in times]


def read(bodies, stops, letters):
    """Read up to each stop, then to the end; return the rows of all windows and the letters.

    Messages come one by one where there are two partitions.
    """
    kept, taken = Kept(), list[int]()
    for after in [*stops, None]:
        stop = threading.Event()
        stream = Given(bodies, stop, after, letters)
        try:
            for window in StreamWindows(stream, OPTIONS, kept, stop=stop, idle_timeout=0.0):
                kept.commit(window.position, window.dead_letters)
                taken += window.row_ids.tolist()
        except StoppedError:
            continue
    return sorted(taken), [place for place, _ in sorted(kept.letters)]


@pytest.mark.parametrize("years", [5, 3000], ids=["far-ahead", "thousands-of-years"])
def test_a_row_ahead_that_is_read_again_and_stopped_at_is_told_once(years):
    bodies = bodies_of(0, 1, years * YEAR, 3, 4, 12, 13)
    assert read(bodies, [4, 3, 3, 5], "aaaaaab") == ([0, 1, 3, 4, 5, 6], ["message 2"])


def test_a_message_that_is_no_row_after_a_row_ahead_is_told_once():
    bodies = bodies_of(0, 1, 5 * YEAR, None, 3, 4, 12, 13)
    assert read(bodies, [4, 3, 4, 6], "aaaaaaab") == (
        [0, 1, 4, 5, 6, 7],
        ["message 2", "message 3"],
    )


def test_a_row_that_was_ahead_stays_out_after_a_gap_that_goes_beyond_it():
    # The second partition is behind, so that all windows of the first are open at the stop.
    after_gap = [9 * YEAR + i for i in range(10)]
    bodies = bodies_of(0, 1, 5 * YEAR, 3, *after_gap, 0, *(9 * YEAR + 10 + i for i in range(10)))
    letters = "a" * 14 + "b" * 11
    expected = ([0, 1, *range(3, 25)], ["message 2"])
    assert read(bodies, [], letters) == expected
    for stop in range(3, 25):
        assert read(bodies, [stop], letters) == expected


@pytest.mark.parametrize("after", range(8))
@pytest.mark.parametrize(
    "cut",
    [
        {"time": "t", "every": "10s", "time_unit": "s", "allowed_lateness": "0"},
        {"window_column": "t"},
    ],
)
def test_rows_of_two_partitions_that_come_again_are_in_the_windows_they_were_in(after, cut):
    # The second partition holds windows of the first open; what rows agree on, and which windows
    # there are, is known when the first rows come again.
    times = [227, 145, 253, 253, 203, -93, -82, 33, 296, 297, 308, 105, 316]
    bodies = [json.dumps({"t": START + t, "x": 0.5, "n": i}) for i, t in enumerate(times)]
    options = WindowOptions(("x",), id="n", **cut)
    letters = "aabaabaaaaaab"
    whole = positions.read(bodies, letters, options, [])
    assert positions.read(bodies, letters, options, [("kill", after)]) == whole
