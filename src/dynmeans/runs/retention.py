"""Retention: old label parts are removed; states and histories stay."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from dynmeans.runs.run import Run
from dynmeans.runs.store.label_parts import Part
from dynmeans.runs.store.sent import first_unsent

_LOOK_SECONDS = 10.0


@dataclass(slots=True)
class Retention:
    """How long labels are kept."""

    seconds: float  # Parts of labels whose file is older are removed
    _next_look: float = field(default=0.0, init=False)

    def apply(self, run: Run, *, is_last: bool = False) -> int:
        """Remove old parts; return how many. Looks at most every ten seconds."""
        now = time.monotonic()
        if now < self._next_look and not is_last:
            return 0
        self._next_look = now + _LOOK_SECONDS
        old = self._old_parts(run)
        if old:
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


def _written_at(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else float("inf")
