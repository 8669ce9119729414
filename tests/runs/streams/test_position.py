"""The position of a stream is a value, and reading from it gives the rows of an unbroken pass."""

import copy
import dataclasses
import json
import threading

import pytest
from attack.targets.messages import Given
from attack.targets.positions import START, bodies_of, read
from hypothesis import given, settings
from hypothesis import strategies as st

from dynmeans import Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.future_rows import FutureRowFilter, Limits
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.streams.position import StreamPosition
from dynmeans.runs.streams.stream_windows import StreamWindows

# A number of messages each, so that many kinds come together in few examples.
MESSAGE = st.one_of(
    st.integers(0, 9).map(lambda step: {"step": step}),
    st.integers(0, 400).map(lambda late: {"step": -late}),
    st.sampled_from([{"step": 10**9}, {"step": 3 * 10**4}, {"step": 400}, {"text": "no row"}]),
    st.just({"step": 1, "x": None}),
)
MESSAGES = st.lists(st.tuples(MESSAGE, st.integers(0, 5), st.sampled_from("aab")), max_size=60)
BREAK = st.tuples(st.sampled_from(["stop", "kill", "fail"]), st.integers(1, 60))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_breaks_give_the_windows_letters_and_position_of_an_unbroken_pass(data):
    messages = data.draw(MESSAGES)
    options = WindowOptions(
        ("x",), time="t", every="10s", time_unit="s", allowed_lateness="20s", id="n",
        on_late=data.draw(st.sampled_from(["error", "drop"])),
        on_missing=data.draw(st.sampled_from(["error", "drop"])),
        deduplicate=data.draw(st.booleans()),
        keep_last_open=data.draw(st.booleans()),
    )  # fmt: skip
    bodies, partitions = bodies_of(messages), "".join(p for *_, p in messages)
    breaks = data.draw(st.lists(BREAK, max_size=5))
    whole = read(bodies, partitions, options, [])
    assert read(bodies, partitions, options, breaks) == whole


def follow(folder, bodies, failing, commit_seconds):
    """Read all into a run; where a window is in `failing` what looks at it raises, once."""
    options = WindowOptions(
        ("x",), time="t", every="10s", time_unit="s", allowed_lateness="20s", id="n"
    )
    config = RunConfig(("x",), ModelConfig(1.0, random_state=0))
    Run.create(folder, config).close()
    for _ in range(len(failing) + 1):
        with Run.open(folder) as run:

            def look(record, window):
                if ("on_window", record.step) in failing:
                    failing.remove(("on_window", record.step))
                    raise LookupError

            def after_commit():
                reached = ("after_commit", run.status().n_windows)
                if reached in failing:
                    failing.remove(reached)
                    raise LookupError

            stream = Given(bodies, threading.Event(), None)
            windows = StreamWindows(stream, options, run, idle_timeout=0.0)
            try:
                run.process(
                    windows,
                    commit_seconds=commit_seconds,
                    on_window=look,
                    after_commit=after_commit,
                )
            except LookupError:
                continue
            break
    with Run.open(folder) as run:
        run.verify()
        labels, status = run.labels(frame="arrow"), run.status()
        letters = [letter["position"] for letter in run.dead_letters()]
    return labels.to_pydict(), (status.n_rows, status.n_late_rows, status.n_windows), letters


@pytest.mark.parametrize("commit_seconds", [0.0, 1e9], ids=["each", "together"])
def test_failing_callbacks_alerts_and_sinks_lose_no_window_of_a_stream(tmp_path, commit_seconds):
    times = [i * 3 - (200 if i % 17 == 9 else 0) for i in range(120)]
    bodies = [json.dumps({"t": START + t, "x": t % 7, "n": i}) for i, t in enumerate(times)]
    whole = follow(tmp_path / "whole", bodies, [], commit_seconds)
    assert whole[1][2] > 20
    assert len(whole[2]) == 6
    failing = [("on_window", n) for n in (0, 1, 4, 5, 17)]
    failing += [("after_commit", n) for n in (3, 8, 12)] if commit_seconds == 0.0 else []
    assert follow(tmp_path / "broken", bodies, failing, commit_seconds) == whole
    assert failing == []


NUMBERS = st.tuples(st.sampled_from("ab"), st.integers(0, 30))
ACT = st.one_of(
    st.tuples(st.just("read"), NUMBERS),
    st.tuples(st.just("sort"), NUMBERS, st.sampled_from([0.0, 5.0, 300.0, 1e6])),
    st.tuples(st.just("place"), NUMBERS, st.floats(0, 100)),
    st.tuples(st.just("leave_out"), NUMBERS),
    st.tuples(st.just("late"), st.booleans()),
    st.tuples(st.sampled_from(["dropped", "close", "end", "restart"])),
)
LIMITS = Limits(100.0, 10.0)


def moved(at, kind, number=None, value=None):
    """Make one transition; a row is placed or left out only after it was read."""
    if kind in ("sort", "place", "leave_out") and number[0] not in at.partitions:
        return at
    match kind:
        case "read":
            return at.read(number)
        case "sort":
            return at.sort(number, value, LIMITS, ())[0]
        case "place":
            return at.place(number, value, is_again=False)
        case "leave_out":
            return at.leave_out(number)
        case "late":
            return at.count_late(is_letter=number)
        case "dropped":
            return at.count_dropped()
        case "close":
            return at.close(7)
        case "end":
            return at.end()[0]
    return at.restart({"a": 3})


@settings(max_examples=300, deadline=None)
@given(acts=st.lists(ACT, max_size=30))
def test_no_transition_changes_the_value_that_it_was_made_from(acts):
    at = StreamPosition()
    for act in acts:
        before, was = at, copy.deepcopy(at)
        at = moved(at, *act)
        assert before == was


@settings(max_examples=300, deadline=None)
@given(acts=st.lists(ACT, max_size=30))
def test_what_is_stored_is_what_a_new_reader_begins_with(acts):
    at = StreamPosition()
    for act in acts:
        at = moved(at, *act)
    again = at.restart({})
    stored = json.loads(json.dumps(again.to_json_state()))
    assert StreamPosition.from_stored(stored).to_json_state() == again.to_json_state()
    known = StreamPosition.from_stored(stored)
    assert known == StreamPosition.from_stored(json.loads(json.dumps(known.to_json_state())))


def test_a_position_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        StreamPosition().n_messages = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        FutureRowFilter().largest = 3.0
