"""What is done after each commit of a run, and once more at the end."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any

from dynmeans.runs.run import Run
from dynmeans.runs.store.label_files import LabelFile
from dynmeans.runs.store.sink_offsets import oldest_unsent_step
from dynmeans.runs.streams.sink import ResultForwarder

_LOOK_SECONDS = 10.0  # between two looks at old labels
# Opened with the run; gives a function that is called with `is_last` after each commit.
CommitHook = Callable[[Run, threading.Event], AbstractContextManager[Callable[..., Any]]]


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
        # The first parts, up to one that is young or still to be sent.
        unsent, oldest = oldest_unsent_step(run.store), time.time() - self.seconds

        def is_old(part: LabelFile) -> bool:
            path = run.store.labels_folder / part.name
            is_sent = unsent is None or part.last_step < unsent
            return is_sent and path.exists() and path.stat().st_mtime <= oldest

        old = list(takewhile(is_old, run.label_files()))
        if old:
            run.store.delete_label_files(old)
        return len(old)


@dataclass(frozen=True, slots=True)
class AfterCommit:
    """What follows a commit."""

    # labels_to, events_to: addresses that labels and events are sent to.
    labels_to: str | None = None
    events_to: str | None = None
    retention: Retention | None = None  # How long labels are kept
    hooks: tuple[CommitHook, ...] = ()  # Whatever else follows, such as alerts

    @contextmanager
    def make_hook(self, run: Run, stop: threading.Event) -> Iterator[Callable[[], None]]:
        """Give the function to call after each commit; it is called once more at the end."""
        with ExitStack() as opened:
            works = [opened.enter_context(follower(run, stop)) for follower in self.hooks]
            for kind, place in (("labels", self.labels_to), ("events", self.events_to)):
                if place is not None:
                    sender = opened.enter_context(closing(ResultForwarder(run, place, kind, stop)))
                    works.append(sender.send_new)
            if self.retention is not None:
                works.append(partial(self.retention.apply, run))

            def work(*, is_last: bool = False) -> None:
                for one in works:
                    one(is_last=is_last)

            yield work
            work(is_last=True)


NOTHING = AfterCommit()
