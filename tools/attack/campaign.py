"""One slice of one target, in a process of its own: crashes, hangs and memory are failures too."""

import json
import mmap
import os
import resource
import signal
import struct
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TextIO

from attack.targets import TARGETS, Skipped, load_target

_MAX_FAILURES = 20  # of one slice; more would say the same
_MAX_GROWTH = 1 << 30  # bytes of memory that a slice may add


class Failure(NamedTuple):
    """One case that was not held."""

    case: int
    summary: str
    details: str


@dataclass
class Outcome:
    """What one slice did."""

    next_case: int
    n_tried: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    note: str = ""


class _Progress:
    """The case at hand and the count so far, in memory that outlives the child."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 16)

    def set(self, case: int, n_tried: int) -> None:
        self._memory[:] = struct.pack("qq", case, n_tried)

    def get(self) -> tuple[int, int]:
        case, n_tried = struct.unpack("qq", self._memory[:])
        return case, n_tried


def run_slice(name: str, seed: int, first_case: int, seconds: float) -> Outcome:
    """Attack for so many seconds; a child that dies or hangs is replaced by another."""
    outcome = Outcome(first_case)
    end = time.monotonic() + seconds
    while len(outcome.failures) < _MAX_FAILURES:
        part = _run_child(name, seed, outcome.next_case, end)
        outcome.n_tried += part.n_tried
        outcome.failures += part.failures
        outcome.next_case, outcome.note = part.next_case, part.note
        if part.note or time.monotonic() >= end:
            break
    outcome.seconds = seconds + time.monotonic() - end
    return outcome


def _run_child(name: str, seed: int, first_case: int, end: float) -> Outcome:
    progress = _Progress()
    progress.set(first_case, 0)
    with tempfile.TemporaryDirectory(prefix="dynmeans-attack-") as folder:
        report = Path(folder) / "report"
        report.touch()
        child = os.fork()
        if child == 0:
            _attack_and_exit(name, seed, first_case, end, progress, report)
        reason = _wait(child, name, progress)
        lines = [json.loads(line) for line in report.read_text().splitlines()]
    notes = [line["note"] for line in lines if "note" in line]
    failures = [Failure(**line) for line in lines if "case" in line]
    case, n_tried = progress.get()
    if reason is not None:
        failures.append(Failure(case, reason, ""))
        case, n_tried = case + 1, n_tried + 1
    return Outcome(case, n_tried, failures=failures, note="".join(notes))


def _wait(child: int, name: str, progress: _Progress) -> str | None:
    """Wait for the child; say what ended it, if that was not itself."""
    limit = TARGETS[name].max_seconds
    last, since = progress.get(), time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if os.WIFSIGNALED(status):
                return f"the process died of {signal.Signals(os.WTERMSIG(status)).name}"
            return None if status == 0 else f"the process ended with status {status}"
        if progress.get() != last:
            last, since = progress.get(), time.monotonic()
        elif time.monotonic() - since > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"no end within {limit:g} seconds"
        time.sleep(0.05)


def _attack_and_exit(
    name: str, seed: int, first_case: int, end: float, progress: _Progress, report: Path
) -> None:
    code = 1
    try:
        with open(report, "w", buffering=1) as file:
            _attack(name, seed, first_case, end, progress, file)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _attack(
    name: str, seed: int, first_case: int, end: float, progress: _Progress, report: TextIO
) -> None:
    """Try case after case; each failure is on disk before the next case."""
    target, case, n_tried, n_failures = load_target(name), first_case, 0, 0
    try:
        with target.ready() as attack:
            before = _peak_bytes()
            while n_failures < _MAX_FAILURES and (time.monotonic() < end or case == first_case):
                progress.set(case, n_tried)
                try:
                    n_tried += attack(target.rng(seed, case)) or 1
                    if _peak_bytes() - before > _MAX_GROWTH:
                        before = _peak_bytes()
                        raise MemoryError("more than 1 GiB was taken")
                except Exception as error:
                    n_failures += 1
                    n_tried += 1
                    print(json.dumps(_failure(case, error)._asdict()), file=report)
                case += 1
            progress.set(case, n_tried)
    except Skipped as reason:
        print(json.dumps({"note": f"skipped: {reason}"}), file=report)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _failure(case: int, error: Exception) -> Failure:
    line = (str(error).splitlines() or [""])[0]
    return Failure(case, f"{type(error).__name__}: {line[:300]}", traceback.format_exc())
