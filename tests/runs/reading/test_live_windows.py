"""Lines as they arrive: when a window closes, what is late, what was there before."""

import json
from contextlib import nullcontext

import pytest
from run_cases import RECIPE, contents

from dynmeans import Run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.window import WindowOptions


def lines_of(*rows):
    return [json.dumps(dict(zip(("t", "x"), row, strict=True))) for row in rows]


def live(lines, position=None, **options):
    options = {"features": ("x",), "time": "t", "every": "10", **options}
    return LiveWindows(lines, WindowOptions(**options), position)


def values_of(windows):
    return [batch.points.ravel().tolist() for batch in windows]


def test_a_window_is_given_out_when_a_later_row_shows_it_complete():
    given = []

    def lines():
        for line in lines_of((1, 5), (8, 6), (11, 7)):
            given.append(line)
            yield line

    windows = iter(live(lines()))
    assert next(windows).points.ravel().tolist() == [5.0, 6.0]
    assert len(given) == 3
    assert next(windows).points.ravel().tolist() == [7.0]


def test_rows_within_the_lateness_are_put_in_order():
    lines = lines_of((9, 1), (12, 2), (3, 3), (14, 4), (16, 5), (31, 6))
    assert values_of(live(lines, allowed_lateness="5")) == [[3.0, 1.0], [2.0, 4.0, 5.0], [6.0]]


def test_a_row_later_than_that_is_refused_with_its_line():
    lines = lines_of((9, 1), (16, 2), (3, 3))
    with pytest.raises(ValueError, match=r"line 3 belongs to the window '0', which is closed"):
        values_of(live(lines, allowed_lateness="5"))


def test_late_rows_may_be_dropped_and_are_counted():
    lines = lines_of((9, 1), (16, 2), (3, 3), (4, 4), (28, 5))
    windows = live(lines, on_late="drop")
    batches = list(windows)
    assert [batch.n_late_rows for batch in batches] == [0, 2, 0]


def test_windows_without_rows_are_elapsed_time():
    batches = list(live(lines_of((1, 0), (45, 1))))
    assert [batch.elapsed for batch in batches] == [1.0, 4.0]


def test_times_may_be_text_with_or_without_an_offset():
    rows = [("2024-07-01T00:30", 1.0), ("2024-06-30T22:40:00Z", 2.0), ("2024-07-01T09:00", 3.0)]
    windows = live(lines_of(*rows), every="1d", timezone="Europe/Zurich")
    batches = list(windows)
    assert [batch.name for batch in batches] == ["2024-07-01"]
    assert str(batches[0].times[0]) == "2024-06-30T22:30:00.000000"


def test_batches_by_count_are_given_out_when_full():
    lines = [json.dumps({"x": value}) for value in range(5)]
    assert values_of(live(lines, time=None, every=None, rows_per_window=2)) == [
        [0.0, 1.0],
        [2.0, 3.0],
        [4.0],
    ]


def test_batches_of_a_column_are_given_out_when_the_next_begins():
    lines = [json.dumps({"b": b, "x": x}) for b, x in ((0, 1), (0, 2), (4, 3))]
    batches = list(live(lines, time=None, every=None, window_column="b"))
    assert [(batch.name, batch.elapsed) for batch in batches] == [("0", 1.0), ("4", 4.0)]


def test_rows_of_windows_taken_in_before_are_skipped_on_resume():
    lines = lines_of((1, 1), (5, 2), (11, 3), (12, 4), (21, 5), (35, 6))
    whole = list(live(lines))
    again = live(lines, whole[0].position)
    assert values_of(again) == [[3.0, 4.0], [5.0], [6.0]]
    assert again.n_repeated == 2


def test_a_row_that_was_left_out_is_not_counted_again_when_it_is_sent_again():
    lacking = json.dumps({"t": 6, "x": None})
    lines = [*lines_of((1, 1), (5, 2)), lacking, *lines_of((11, 3), (21, 4))]
    whole = list(live(lines, on_missing="drop"))
    assert sum(window.n_dropped_rows for window in whole) == 1
    again = live(lines, whole[0].position, on_missing="drop")
    assert sum(window.n_dropped_rows for window in again) + again.n_dropped_rows == 0
    assert again.n_repeated == 3


def test_a_stream_cut_anywhere_and_sent_again_gives_the_unbroken_run(tmp_path):
    rows = [(t, (t * 7919 % 13) / 2 + 9 * (t % 2)) for t in range(0, 200, 3)]
    lines = lines_of(*rows)
    config = RunConfig(("x",), RECIPE)
    with Run.create(tmp_path / "whole", config) as run:
        run.process_all(live(lines), commit_seconds=0.0)
    Run.create(tmp_path / "parts", config).close()
    for end in (7, 20, 21, 50, len(lines)):

        def cut(end=end):
            yield from lines[:end]
            if end < len(lines):
                raise OSError("the pipe broke")

        is_whole = end == len(lines)
        broken = nullcontext() if is_whole else pytest.raises(OSError, match="the pipe broke")
        with Run.open(tmp_path / "parts") as run, broken:
            run.process_all(live(cut(), run.position), commit_seconds=0.0)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", "line 2 of the input is not JSON: Expecting value at character 1."),
        (b"\xe9\xff", "line 2 of the input is not JSON: it is not UTF-8."),
        ("[1, 2]", "line 2 of the input must be a JSON object"),
        ('{"t": 3, "x": null}', "line 2 has no finite value for 'x'"),
        ('{"t": 3, "x": "wide"}', "line 2 has no finite value for 'x'"),
        ('{"t": 3}', "line 2 has no finite value for 'x'"),
        ('{"t": "noon", "x": 1}', "time: line 2 has 'noon', which is not a time"),
    ],
)
def test_a_bad_line_is_named(line, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        values_of(live([*lines_of((1, 5)), line]))


def test_lines_with_times_of_a_local_form_are_read():
    lines = ['{"t": "31.12.2024", "x": 1}', '{"t": "01.01.2025", "x": 2}']
    batches = live(lines, every="1d", allowed_lateness="0", time_format="%d.%m.%Y")
    assert [batch.name for batch in batches] == ["2024-12-31", "2025-01-01"]


def test_a_line_with_a_time_of_another_form_is_named():
    lines = ['{"t": "31.12.2024", "x": 1}', '{"t": "2025-01-01", "x": 2}']
    message = "line 2 has '2025-01-01', which is not a time of the form '%d.%m.%Y'"
    with pytest.raises(ValueError, match=message):
        values_of(live(lines, every="1d", allowed_lateness="0", time_format="%d.%m.%Y"))


def test_a_missing_column_is_told_with_those_there_are():
    with pytest.raises(ValueError, match="time: there is no column 'when'; the input has 't', 'x'"):
        values_of(live(lines_of((1, 5)), time="when"))


def test_dropped_lines_are_counted():
    lines = [*lines_of((1, 5)), '{"t": 2, "x": NaN}', "", *lines_of((3, 6), (15, 7))]
    batches = list(live(lines, on_missing="drop"))
    assert [batch.n_dropped_rows for batch in batches] == [1, 0]
    assert batches[0].row_ids.tolist() == [0, 3]
