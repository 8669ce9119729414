"""The position of a stream is a value, and reading from it gives the rows of an unbroken pass."""

import copy
import dataclasses
import json
import threading

import pytest
from attack.targets.messages import Given, Kept
from hypothesis import given, settings
from hypothesis import strategies as st

from dynmeans.runs.reading.far_ahead import FarAhead, Limits
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.position import StreamPosition
from dynmeans.runs.streams.watermark import StreamWindows

START = 1_700_000_000
# A number of messages each, so that many kinds come together in few examples.
MESSAGE = st.one_of(
    st.integers(0, 9).map(lambda step: {"step": step}),
    st.integers(0, 400).map(lambda late: {"step": -late}),
    st.sampled_from([{"step": 10**9}, {"step": 3 * 10**4}, {"step": 400}, {"text": "no row"}]),
    st.just({"step": 1, "x": None}),
)
MESSAGES = st.lists(st.tuples(MESSAGE, st.integers(0, 5), st.sampled_from("aab")), max_size=60)
BREAK = st.tuples(st.sampled_from(["stop", "kill", "fail"]), st.integers(1, 60))


def bodies_of(messages):
    """Steps forward move the clock on; those back, and the far ones, are one row's alone."""
    now, bodies = START, []
    for fields, name, _ in messages:
        if "text" in fields:
            bodies.append(fields["text"])
            continue
        step = fields["step"]
        now += step if 0 <= step < 10 else 0
        row = {"t": now if 0 <= step < 10 else now + step, "x": fields.get("x", 0.5), "n": name}
        bodies.append(json.dumps(row))
    return bodies


def read(bodies, partitions, options, breaks):
    """Read with breaks; return all that is committed."""
    kept, windows, n_failed = Kept(), [], 0
    for kind, after in [*breaks, ("end", None)]:
        stop = threading.Event()
        stream = Given(bodies, stop, after if kind == "stop" else None, partitions)
        reader = StreamWindows(stream, options, kept, stop=stop, until_idle=0.0)
        try:
            for n, window in enumerate(reader):
                if kind == "kill" and n >= after % 7:
                    break  # before the commit
                if kind == "fail" and n >= after % 7:
                    n_failed += 1
                    raise StoppedError  # a callback, of a window that is not committed
                kept.commit(window.position, window.dead_letters)
                counts = window.n_late, window.n_dropped
                windows.append((window.name, window.row_ids.tolist(), counts))
        except StoppedError:
            continue
    return windows, sorted(kept.letters), kept.position


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_breaks_give_the_windows_letters_and_position_of_an_unbroken_pass(data):
    messages = data.draw(MESSAGES)
    options = WindowOptions(
        ("x",), time="t", every="10s", time_unit="s", lateness="20s", id="n",
        on_late=data.draw(st.sampled_from(["error", "drop"])),
        on_missing=data.draw(st.sampled_from(["error", "drop"])),
        unique_ids=data.draw(st.booleans()),
        hold_last=data.draw(st.booleans()),
    )  # fmt: skip
    bodies, partitions = bodies_of(messages), "".join(p for *_, p in messages)
    breaks = data.draw(st.lists(BREAK, max_size=5))
    whole = read(bodies, partitions, options, [])
    assert read(bodies, partitions, options, breaks) == whole


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
    stored = json.loads(json.dumps(again.stored()))
    assert StreamPosition.from_stored(stored).stored() == again.stored()
    known = StreamPosition.from_stored(stored)
    assert known == StreamPosition.from_stored(json.loads(json.dumps(known.stored())))


def test_a_position_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        StreamPosition().n_messages = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        FarAhead().largest = 3.0
