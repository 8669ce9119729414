"""One slice of one target, in a process of its own: crashes, hangs and memory are failures too."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from attack.slice import MAX_FAILURES, Failure, Progress
from attack.targets import TARGETS

_PATIENCE = 10
_START_SECONDS = 60.0  # a process may take to import what it needs and make its corpus


@dataclass
class Outcome:
    """What one slice did."""

    next_case: int
    n_tried: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    note: str = ""


def run_slice(
    name: str, seed: int, first_case: int, seconds: float, n_cases: int = 1 << 60
) -> Outcome:
    """Attack for so many seconds or cases; a child that dies or hangs is replaced by another."""
    outcome = Outcome(first_case)
    end, end_case = time.monotonic() + seconds, first_case + n_cases
    while len(outcome.failures) < MAX_FAILURES and outcome.next_case < end_case:
        part = _run_child(name, seed, (outcome.next_case, end_case), end)
        outcome.n_tried += part.n_tried
        outcome.failures += part.failures
        outcome.next_case, outcome.note = part.next_case, part.note
        if part.note or time.monotonic() >= end:
            break
    outcome.seconds = seconds + time.monotonic() - end
    return outcome


def _run_child(name: str, seed: int, cases: tuple[int, int], end: float) -> Outcome:
    """Run one process until it ends; it writes down each failure before the next case."""
    with tempfile.TemporaryDirectory(prefix="dynmeans-attack-") as folder:
        progress, report = Progress(Path(folder) / "progress"), Path(folder) / "report"
        progress.set(cases[0], 0)
        report.touch()
        seconds = max(end - time.monotonic(), 0.0)
        words = [TARGETS[name].module, name, *map(str, (seed, *cases, seconds)), folder]
        child = subprocess.Popen(
            [sys.executable, "-m", "attack.slice", *words],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        reason = _wait(child, TARGETS[name].max_seconds, progress)
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        case, n_tried = progress.get()
    notes = [line["note"] for line in lines if "note" in line]
    failures = [Failure(**line) for line in lines if "case" in line]
    if reason is not None:
        failures.append(Failure(case, reason, ""))
        case, n_tried = case + 1, n_tried + 1
    return Outcome(case, n_tried, failures=failures, note="".join(notes))


def _wait(child: "subprocess.Popen[bytes]", limit: float, progress: Progress) -> str | None:
    """Wait for the child; say what ended it, if that was not itself.

    The limit is processor time, so that a busy machine is no failure; a child that sleeps has
    `_PATIENCE` times as long.
    """
    last, since, spent = progress.get(), time.monotonic(), _processor_seconds(child.pid)
    while child.poll() is None:
        allowed = limit + _START_SECONDS * (last[1] == 0)
        is_late = time.monotonic() - since > allowed
        if progress.get() != last:
            last, since, spent = progress.get(), time.monotonic(), _processor_seconds(child.pid)
        elif is_late and (
            _processor_seconds(child.pid) - spent > allowed
            or time.monotonic() - since > _PATIENCE * allowed
        ):
            child.kill()
            child.wait()
            return f"no end within {limit:g} seconds"
        time.sleep(0.02)
    if child.returncode < 0:
        return f"the process died of {signal.Signals(-child.returncode).name}"
    return None if child.returncode == 0 else f"the process ended with code {child.returncode}"


def _processor_seconds(pid: int) -> float:
    """Return what a process and its children that ended have used, 0 if it is gone."""
    try:
        return float(sum(psutil.Process(pid).cpu_times()[:4]))
    except psutil.NoSuchProcess:
        return 0.0
