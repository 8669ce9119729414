"""The process of one slice: tries case after case until its time is over.

Usage: python -m attack.slice MODULE NAME SEED FIRST_CASE SECONDS FOLDER
"""

import json
import mmap
import resource
import struct
import sys
import time
import traceback
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


def main(module: str, name: str, seed: int, first_case: int, seconds: float, folder: Path) -> None:
    """Attack for so many seconds from now on."""
    end = time.monotonic() + seconds
    with open(folder / "report", "w", buffering=1) as report:
        try:
            target = Loaded(name, module)
            _attack(target, seed, first_case, end, Progress(folder / "progress"), report)
        except Skipped as reason:
            print(json.dumps({"note": f"skipped: {reason}"}), file=report)


def _attack(
    target: Loaded, seed: int, first_case: int, end: float, progress: Progress, report: TextIO
) -> None:
    case, n_tried, n_failures = first_case, 0, 0
    with target.ready() as attack:
        before = _peak_bytes()
        while n_failures < MAX_FAILURES and (time.monotonic() < end or case == first_case):
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


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _failure(case: int, error: Exception) -> Failure:
    line = (str(error).splitlines() or [""])[0]
    return Failure(case, f"{type(error).__name__}: {line[:300]}", traceback.format_exc())


if __name__ == "__main__":
    module, name, seed, first_case, seconds, folder = sys.argv[1:]
    main(module, name, int(seed), int(first_case), float(seconds), Path(folder))
