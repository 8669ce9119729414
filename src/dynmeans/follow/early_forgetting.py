"""A slow batch followed by a fast one: clusters that were forgotten one batch too early."""

import warnings

import numpy as np

from dynmeans.follow.follow import Step
from dynmeans.records.penalties import Penalties

_MAX_NAMED = 5


def warn_early_forgetting(last: Step, elapsed: float, penalties: Penalties) -> None:
    """Name the clusters that the last batch forgot and this one could have seen (decision 0003).

    After a batch that came a step or more after the one before, the next is expected no sooner
    than that.
    """
    before, last_elapsed, after = last.before, last.elapsed, last.after
    if last_elapsed < 1.0:
        return
    dt = before.ages - 1.0 + last_elapsed + elapsed
    could_come = penalties.revival_penalty * dt <= penalties.new_penalty
    lost = before.ids[could_come & ~np.isin(before.ids, after.ids)]
    if len(lost):
        named = ", ".join(map(str, lost[:_MAX_NAMED]))
        others = f" and {len(lost) - _MAX_NAMED} others" if len(lost) > _MAX_NAMED else ""
        warnings.warn(
            f"clusters {named}{others} were forgotten too early: elapsed is "
            f"{elapsed:g} after {last_elapsed:g}, and after a gap of one step or more, the next "
            "gap is assumed to be at least one step. Count time in smaller steps, so that "
            "elapsed is 1 or more throughout, and raise max_gap in proportion.",
            stacklevel=2,
        )
