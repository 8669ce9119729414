"""Compaction: small label files become large ones, as in a log-structured merge."""

import logging
import re
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from dynmeans.runs.store import label_files
from dynmeans.runs.store.label_files import LabelFile
from dynmeans.runs.store.store import Store

# So many parts of one level become one of the next: a file a window at 2 s is 43,200 a day, of
# which some 140 are left.
AT_ONCE = 64
MAX_ROWS = 2_000_000  # of a part, which is read whole

_log = logging.getLogger(__name__)
_LEVEL = re.compile(r"\.(\d+)\.parquet$")


class Compactor:
    """Joins the parts of one run, which is locked for writing.

    A thread writes the compacted file next to them; the next call after a commit puts it in their
    place, in one transaction. Their files stay for an hour, for copies of the folder; what is left
    when the run is closed is removed at the next start after that hour.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._worker: ThreadPoolExecutor | None = None
        self._joined: tuple[list[LabelFile], Future[LabelFile]] | None = None
        self._is_broken = False
        self._old: deque[tuple[float, list[LabelFile]]] = deque()

    def after_commit(self) -> None:
        """Put what was joined in its place, and begin with the next."""
        while self._old and self._old[0][0] < time.monotonic() - label_files.KEPT_SECONDS:
            self._store.remove_files(self._old.popleft()[1])
        if self._joined is not None and self._joined[1].done():
            self._settle()
        if self._joined is None and not self._is_broken and (some := self._next()):
            self._worker = self._worker or ThreadPoolExecutor(1)
            work = self._worker.submit(write_compacted_file, self._store.labels_folder, some)
            self._joined = some, work

    def close(self) -> None:
        """Wait for what was begun; safe to call twice."""
        if self._joined is not None:
            self._settle()
        if self._worker is not None:
            self._worker.shutdown()
            self._worker = None

    def _settle(self) -> None:
        assert self._joined is not None
        (old, work), self._joined = self._joined, None
        try:
            self._old.append((time.monotonic(), self._store.replace_parts(old, work.result())))
        except (OSError, ValueError) as error:
            self._is_broken = True  # the run goes on, with more files
            _log.warning("label files are not compacted: %s", error)

    def _next(self) -> list[LabelFile] | None:
        """Return the oldest parts of one level that are enough to be joined."""
        rows = self._store.query("SELECT name, n_rows FROM label_files ORDER BY first_step")
        sizes = [(row["name"], _level(row["name"]), row["n_rows"]) for row in rows]
        for begin in range(len(sizes) - AT_ONCE + 1):
            group = sizes[begin : begin + AT_ONCE]
            is_level = all(level == group[0][1] for _, level, _ in group)
            if is_level and sum(n for *_, n in group) <= MAX_ROWS:
                names = {name for name, *_ in group}
                return [part for part in self._store.label_files() if part.name in names]
        return None


def write_compacted_file(folder: Path, parts: list[LabelFile]) -> LabelFile:
    """Write one part with the rows of some that follow each other; it is as old as the last."""
    table = pa.concat_tables([label_files.read_part(folder, part) for part in parts])
    first, last = parts[0].first_step, parts[-1].last_step
    name = f"part-{first:012d}.{_level(parts[0].name) + 1}.parquet"
    like = folder / parts[-1].name
    return label_files.write_part(folder, table, first, last, name=name, like=like)


def _level(name: str) -> int:
    found = _LEVEL.search(name)
    return 0 if found is None else int(found[1])
