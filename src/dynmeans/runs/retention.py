"""Retention: old label parts are dropped or moved away; states and histories stay."""

import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.run import Run
from dynmeans.runs.store.label_parts import Part, sync_folder
from dynmeans.runs.store.sent import first_unsent

_LOOK_SECONDS = 10.0


@dataclass(slots=True)
class Retention:
    """How long labels are kept."""

    seconds: float  # Parts of labels whose file is older are removed
    archive: Path | None = None  # A folder that they are moved to instead
    _next_look: float = field(default=0.0, init=False)

    def check(self) -> None:
        """Refuse an archive that is no folder, or cannot be written to."""
        if self.archive is None:
            return
        if not self.archive.is_dir() or not os.access(self.archive, os.W_OK | os.X_OK):
            rule = "must be a folder that exists and can be written to"
            raise InputError("archive", rule, got=str(self.archive))

    def apply(self, run: Run, *, is_last: bool = False) -> int:
        """Put old parts away; return how many. Looks at most every ten seconds."""
        now = time.monotonic()
        if now < self._next_look and not is_last:
            return 0
        self._next_look = now + _LOOK_SECONDS
        old = self._old_parts(run)
        if old:
            self._archive(run.store.labels_folder, old)
            run.store.forget_parts(old)
        return len(old)

    def _old_parts(self, run: Run) -> list[Part]:
        """Return the first parts, up to one that is young or still to be sent."""
        unsent, folder = first_unsent(run.store), run.store.labels_folder
        old = []
        for part in run.parts():
            is_sent = unsent is None or part.last_step < unsent
            if not is_sent or _written_at(folder / part.name) > time.time() - self.seconds:
                break
            old.append(part)
        return old

    def _archive(self, folder: Path, parts: list[Part]) -> None:
        """Copy before the run forgets them: killed in between, they are copied once more."""
        if self.archive is None:
            return
        for part in parts:
            fresh = self.archive / f"{part.name}.new"
            shutil.copyfile(folder / part.name, fresh)
            with open(fresh, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(fresh, self.archive / part.name)
        sync_folder(self.archive)


def _written_at(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else float("inf")
