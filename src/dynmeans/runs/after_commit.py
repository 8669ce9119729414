"""What is done after each commit of a run, and once more at the end."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from dynmeans.runs.retention import Retention
from dynmeans.runs.run import Run
from dynmeans.runs.streams.sink import Forwarder

# Opened with the run; gives a function that is called with `is_last` after each commit.
Follower = Callable[[Run, threading.Event], AbstractContextManager[Callable[..., Any]]]


@dataclass(frozen=True, slots=True)
class AfterCommit:
    """What follows a commit."""

    # labels_to, events_to: addresses that labels and events are sent to.
    labels_to: str | None = None
    events_to: str | None = None
    retention: Retention | None = None  # How long labels are kept
    followers: tuple[Follower, ...] = ()  # Whatever else follows, such as alerts

    @contextmanager
    def following(self, run: Run, stop: threading.Event) -> Iterator[Callable[[], None]]:
        """Give the function to call after each commit; it is called once more at the end."""
        with ExitStack() as opened:
            works = [opened.enter_context(follower(run, stop)) for follower in self.followers]
            for kind, place in (("labels", self.labels_to), ("events", self.events_to)):
                if place is not None:
                    sender = opened.enter_context(closing(Forwarder(run, place, kind, stop)))
                    works.append(sender.send_new)
            if self.retention is not None:
                works.append(partial(self.retention.apply, run))

            def work(*, is_last: bool = False) -> None:
                for one in works:
                    one(is_last=is_last)

            yield work
            work(is_last=True)


NOTHING = AfterCommit()
