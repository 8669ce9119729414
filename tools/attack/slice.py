"""The process of one slice: tries case after case until its time is over.

Usage: python -m attack.slice MODULE NAME SEED FIRST_CASE END_CASE SECONDS FOLDER
"""

import json
import mmap
import resource
import struct
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple, TextIO

from attack.targets import Loaded, Skipped

MAX_FAILURES = 20  # of one slice; more would say the same
_MAX_GROWTH = 1 << 30  # bytes of memory that a slice may add


class Failure(NamedTuple):
    """One case that was not held."""

    case: int
    summary: str
    details: str


class Progress:
    """The case at hand and the count so far, in a file that outlives the process."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 16)

    def set(self, case: int, n_tried: int) -> None:
        """Note the case that is tried next."""
        self._memory[:] = struct.pack("qq", case, n_tried)

    def get(self) -> tuple[int, int]:
        """Return the case that is tried, and how many inputs were tried before."""
        case, n_tried = struct.unpack("qq", self._memory[:])
        return case, n_tried


def main(target: Loaded, seed: int, cases: range, seconds: float, folder: Path) -> None:
    """Attack for so many seconds from now on, at least once."""
    warnings.simplefilter("ignore")  # what is looked for are failures
    end = time.monotonic() + seconds
    with open(folder / "report", "w", buffering=1) as report:
        try:
            _attack(target, seed, cases, end, Progress(folder / "progress"), report)
        except Skipped as reason:
            print(json.dumps({"note": f"skipped: {reason}"}), file=report)


def _attack(
    target: Loaded, seed: int, cases: range, end: float, progress: Progress, report: TextIO
) -> None:
    n_tried, n_failures = 0, 0
    with target.ready() as attack:
        before = _peak_bytes()
        for case in cases:
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
            progress.set(case + 1, n_tried)
            if n_failures == MAX_FAILURES or time.monotonic() >= end:
                break


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _failure(case: int, error: Exception) -> Failure:
    line = (str(error).splitlines() or [""])[0]
    return Failure(case, f"{type(error).__name__}: {line[:300]}", traceback.format_exc())


if __name__ == "__main__":
    module, name, seed, first_case, end_case, seconds, folder = sys.argv[1:]
    cases = range(int(first_case), int(end_case))
    main(Loaded(name, module), int(seed), cases, float(seconds), Path(folder))
