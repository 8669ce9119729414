"""Which parameters are tried: lambda first, then gaps and reach, then lambda again."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from dynmeans.parameters.trials import MAX_GAPS, REACHES, Setting, Trials
from dynmeans.records.penalties import DEFAULT_MAX_GAP, DEFAULT_REACH, MOTIONS

_PATIENCE = 3  # halvings of lambda that bring nothing before the search turns back
_CLOSE = 3.0  # nats within which two values of lambda are equally good
_NOTHING = 1e-3  # nats: less is rounding
_FARTHEST = 8  # half-octaves that are looked at for equally good values
_N_ROUNDS = 3
_FEWEST_FOR_COURSES = 3  # batches; a course takes two moves to show
_USUAL = Setting(0, MAX_GAPS.index(3.5), REACHES.index(1.2))
# Beside the usual choice: clusters that move far, that stay away for long, that do neither.
_OTHERS = tuple(
    (MAX_GAPS.index(gap), REACHES.index(reach)) for gap, reach in ((3.5, 2.2), (14, 1.2), (2, 1.01))
)
# A course bridges gaps and makes up for reach: both are looked for together (decision 0015).
_OTHERS_STEADY = tuple(
    (MAX_GAPS.index(gap), REACHES.index(reach))
    for gap in (3.5, 6.8, 14)
    for reach in (1.01, 1.2, 1.6, 2.2)
)


def search(trials: Trials) -> Setting:
    """Return the best setting met on the way; clusters keep a course where that pays.

    Steady motion is looked for from the best still setting: it could follow single people where
    still motion sees groups, and the scale of what is followed should not depend on the motion.
    """
    still = _search_still(trials)
    motion = trials.feed.motion
    if motion == "still" or (motion is None and trials.points.n_batches < _FEWEST_FOR_COURSES):
        return still
    steady = replace(still, motion=MOTIONS.index("steady"))
    if trials.points.n_batches > 1:
        steady = _refine(trials, steady, _OTHERS_STEADY)
    is_shorter = trials.length(steady) < trials.length(still) - _CLOSE
    return steady if is_shorter or motion == "steady" else still


def _search_still(trials: Trials) -> Setting:
    if trials.points.n_batches == 1:
        defaults = Setting(0, MAX_GAPS.index(DEFAULT_MAX_GAP), REACHES.index(DEFAULT_REACH))
        return _middle(trials, _climb(trials, _halve(trials, defaults), _next_level))
    best = _middle(trials, _climb(trials, _halve(trials, _USUAL), _next_level))
    return _refine(trials, best, _OTHERS)


def _refine(trials: Trials, best: Setting, pairs: Sequence[tuple[int, int]]) -> Setting:
    """Look at pairs of gap and reach, then change one parameter after the other."""
    is_gap_open, is_reach_open = trials.feed.max_gap is None, trials.feed.reach is None
    if is_gap_open and is_reach_open:
        others = [replace(best, gap=gap, reach=reach) for gap, reach in pairs]
        best = min([best, *others], key=trials.length)
    for _ in range(_N_ROUNDS):
        before = best
        if is_reach_open:
            best = _climb(trials, best, _next_reach)
        if is_gap_open:
            best = _climb(trials, best, _next_gap)
        climbed = _climb(trials, best, _next_level)
        best = best if climbed == best else _middle(trials, climbed)
        if best == before:
            break
    return best


def _halve(trials: Trials, start: Setting) -> Setting:
    """Halve lambda until that has long brought nothing; a single visiting order will do."""
    best = here = replace(start, level=start.level + 2)
    n_idle = 0
    while n_idle < _PATIENCE:
        here = replace(here, level=here.level + 2)
        is_better = trials.length(here, 1) < trials.length(best, 1) - _NOTHING
        n_idle = 0 if is_better else n_idle + 1
        best = here if is_better else best
    return best


def _middle(trials: Trials, best: Setting) -> Setting:
    """Go to the middle of the values of lambda that are as good: the edges are for luck."""
    limit = trials.length(best) + _CLOSE
    ends = []
    for direction in (-1, 1):
        end = best
        for _ in range(_FARTHEST):
            there = replace(end, level=end.level + direction)
            if trials.length(there) > limit:
                break
            end = there
        ends.append(end.level)
    return replace(best, level=sum(ends) // 2)


def _climb(
    trials: Trials, start: Setting, step: Callable[[Setting, int], Setting | None]
) -> Setting:
    """Go one way as long as that brings something; if it never did, go the other."""
    best = start
    for direction in (1, -1):
        while there := step(best, direction):
            if trials.length(there) >= trials.length(best) - _NOTHING:
                break
            best = there
        if best != start:
            break
    return best


def _next_level(setting: Setting, direction: int) -> Setting:
    return replace(setting, level=setting.level - direction)


def _next_gap(setting: Setting, direction: int) -> Setting | None:
    gap = setting.gap + direction
    return replace(setting, gap=gap) if 0 <= gap < len(MAX_GAPS) else None


def _next_reach(setting: Setting, direction: int) -> Setting | None:
    reach = setting.reach + direction
    return replace(setting, reach=reach) if 0 <= reach < len(REACHES) else None
