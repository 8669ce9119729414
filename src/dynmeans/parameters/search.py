"""Which parameters are tried: lambda first, then gaps and reach, then lambda again."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from dynmeans.parameters.hint import Hint
from dynmeans.parameters.tracks import MIN_POOLED, USUALLY_SEEN
from dynmeans.parameters.trials import MAX_GAPS, REACHES, Setting, Trials
from dynmeans.records.penalties import DEFAULT_MAX_GAP, DEFAULT_REACH, MOTIONS

_PATIENCE = 3  # halvings of lambda that bring nothing before the search turns back
_CLOSE = 3.0  # nats within which two values of lambda are equally good
_NOTHING = 1e-3  # nats: less is rounding
_FARTHEST = 8  # half-octaves that are looked at for equally good values
_SAME_SCALE = 1.0  # half-octaves
_N_ROUNDS = 3
_MIN_BATCHES_FOR_VELOCITY = 3  # batches; a course takes two moves to show
_USUAL = Setting(0, MAX_GAPS.index(3.5), REACHES.index(1.2))
# Where clusters come and go, a coarser scale may be right if they are remembered for good.
_STAYING = replace(_USUAL, gap=MAX_GAPS.index(math.inf))
_DEFAULTS = Setting(0, MAX_GAPS.index(DEFAULT_MAX_GAP), REACHES.index(DEFAULT_REACH))
_FINEST_LEVEL = 40  # half-octaves of lambda: a part in a million
_COARSEST_LEVEL = -6.0
_COARSEST_DEEP = -4
_N_HALVED = 4
_MAX_SHARE_OF_POINTS = 0.8  # Beyond, more clusters are only more points by themselves.
# Beside the usual choice: clusters that move far, that stay away for long, that do neither, that
# stay where they are and may come back whenever they like.
_OTHERS = tuple(
    (MAX_GAPS.index(gap), REACHES.index(reach))
    for gap, reach in ((3.5, 2.2), (14, 1.2), (2, 1.01), (math.inf, 1.01))
)
# Where no choice follows anything: a coarse lambda, at which a point as far from every cluster as
# points are from the middle of the batch, and a bit, opens a new one; and nothing is forgotten.
SAFE = Setting(2, MAX_GAPS.index(math.inf), REACHES.index(1.01))
# A course bridges gaps and makes up for reach: both are looked for together (decision 0015).
_OTHERS_STEADY = tuple(
    (MAX_GAPS.index(gap), REACHES.index(reach))
    for gap in (3.5, 6.8, 14)
    for reach in (1.01, 1.2, 1.6, 2.2)
)


def search(trials: Trials) -> Setting:
    """Return the best setting met on the way; clusters keep a course where that pays.

    Steady motion keeps to half an octave of the scale that still motion has: it could follow
    single people where still motion sees groups, and the scale of what is followed should not
    depend on the motion. Where still motion follows nothing there is no scale to start from.
    """
    still = _search_still(trials)
    motion = trials.feed.motion
    is_too_short = trials.points.n_batches < _MIN_BATCHES_FOR_VELOCITY
    if motion == "random_walk" or (
        motion is None and (is_too_short or not trials.has_lasting_clusters(still))
    ):
        return still
    steady = replace(still, motion=MOTIONS.index("constant_velocity"))
    if trials.points.n_batches > 1:
        steady = _middle(trials, _refine(trials, steady, _OTHERS_STEADY, farthest=_SAME_SCALE))
    is_shorter = trials.length(steady) < trials.length(still) - _CLOSE
    return steady if is_shorter or motion == "constant_velocity" else still


def _search_still(trials: Trials) -> Setting:
    """Return the best setting without courses.

    Where its clusters are seldom seen, batches are described two, four, eight at a time, as long
    as that makes the description shorter.
    """
    best = _search_once(trials)
    length = trials.length(best)
    while length < math.inf and trials.share_seen(best) < USUALLY_SEEN:
        n_pooled = trials.n_pooled
        if 2 * n_pooled * MIN_POOLED > trials.points.n_batches:
            break
        trials.pool(2 * n_pooled)
        found = _search_once(trials)
        if trials.length(found) >= length:
            trials.pool(n_pooled)
            break
        best, length = found, trials.length(found)
    return best


def search_near(trials: Trials, hint: Hint) -> Setting:
    """Return the free choice if it has about as many clusters in a batch, else one that has.

    For one batch alone the number limits all clusters, as scikit-learn expects of `n_clusters`.
    """
    free = search(trials)
    if trials.points.n_batches == 1 and not hint.is_joined:
        found = trials.candidate(free).n_clusters_per_batch
        if hint.low <= found <= hint.high:
            return free
        return _level_of_number(trials, _DEFAULTS, hint.nearest(found), is_limit=True)
    found = trials.n_repeated(free)
    if hint.is_met(found) and (hint.is_joined or trials.has_lasting_clusters(free)):
        return free
    return _search_number(trials, hint.nearest(found), free.motion)


def _search_number(trials: Trials, n_clusters: float, motion: int) -> Setting:
    """Return the setting that gives about this number of clusters in a batch."""
    if trials.points.n_batches == 1:
        return _level_of_number(trials, replace(_DEFAULTS, motion=motion), n_clusters)
    best = _level_of_number(trials, replace(_USUAL, motion=motion), n_clusters)
    if trials.length(best) == math.inf:
        return _level_of_number(trials, replace(SAFE, level=best.level), n_clusters)
    is_gap_open, is_reach_open = trials.feed.max_gap is None, trials.feed.reach is None
    if is_gap_open and is_reach_open:
        others = [replace(best, gap=gap, reach=reach) for gap, reach in _OTHERS]
        best = min([best, *others], key=trials.length)
    if is_reach_open:
        best = _climb(trials, best, _next_reach)
    if is_gap_open:
        best = _climb(trials, best, _next_gap)
    return _level_of_number(trials, best, n_clusters)


def _level_of_number(
    trials: Trials, start: Setting, n_clusters: float, *, is_limit: bool = False
) -> Setting:
    """Go down with lambda until there are enough clusters; then halve the last step.

    With `is_limit` there are no more than that.
    """
    most = _MAX_SHARE_OF_POINTS * trials.points.weight / trials.points.n_batches
    enough = min(n_clusters, most)

    def number(setting: Setting) -> float:
        # Where every row is by itself, single points are all there is.
        single = trials.candidate(setting).n_clusters_per_batch / trials.points.n_batches
        return max(trials.n_repeated(setting), single)

    coarse = fine = replace(start, level=_COARSEST_LEVEL)
    while number(fine) < enough and fine.level < _FINEST_LEVEL:
        coarse, fine = fine, replace(fine, level=fine.level + 1)
    tried = [coarse, fine]
    for _ in range(_N_HALVED):
        middle = replace(fine, level=0.5 * (coarse.level + fine.level))
        coarse, fine = (middle, fine) if number(middle) < enough else (coarse, middle)
        tried.append(middle)
    if is_limit:
        tried = [setting for setting in tried if number(setting) <= n_clusters] or tried
    return min(tried, key=lambda setting: abs(math.log(number(setting) / enough)))


def safe(trials: Trials) -> Setting:
    """Return the setting for a stream in which nothing can be followed."""
    return replace(SAFE, level=SAFE.level + _coarsest(trials))


def _coarsest(trials: Trials) -> int:
    """Half-octaves at which the search begins: moves of whole sets cut what is too coarse."""
    return _COARSEST_DEEP if trials.feed.orders.search == "deep" else 0


def _search_once(trials: Trials) -> Setting:
    if trials.points.n_batches == 1:
        return _middle(trials, _climb(trials, _halve(trials, _DEFAULTS), _next_level))
    best = _halve(trials, _USUAL)
    if trials.length(best, 1) == math.inf:
        return safe(trials)
    if trials.feed.max_gap is None:
        first = _coarsest(trials) + 2
        coarser = [replace(_STAYING, level=level) for level in range(first, int(best.level), 2)]
        best = min([best, *coarser], key=lambda setting: trials.length(setting, 1))
    return _refine(trials, _middle(trials, _climb(trials, best, _next_level)), _OTHERS)


def refine(trials: Trials, setting: Setting) -> Setting:
    """Look around a choice that was made on fewer points, the motion included."""
    n_batches = trials.points.n_batches
    if n_batches == 1:
        return setting
    if trials.feed.motion is None and n_batches >= _MIN_BATCHES_FOR_VELOCITY:
        still, steady = (replace(setting, motion=motion) for motion in range(len(MOTIONS)))
        is_shorter = trials.length(steady) < trials.length(still) - _CLOSE
        setting = steady if is_shorter else still
    return _refine(trials, setting, ())


def _refine(
    trials: Trials, best: Setting, pairs: Sequence[tuple[int, int]], farthest: float = math.inf
) -> Setting:
    """Look at pairs of gap and reach, then at one after the other; lambda within `farthest`."""
    around = best.level - farthest, best.level + farthest

    def next_level(setting: Setting, direction: int) -> Setting | None:
        there = _next_level(setting, direction)
        return there if around[0] <= there.level <= around[1] else None

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
        climbed = _climb(trials, best, next_level)
        best = best if climbed == best else _middle(trials, climbed)
        if best == before:
            break
    return best


def _halve(trials: Trials, start: Setting) -> Setting:
    """Halve lambda until that has long brought nothing; a single visiting order will do."""
    best = here = replace(start, level=_coarsest(trials) + 2)
    n_idle = 0
    while n_idle < _PATIENCE:
        here = replace(here, level=here.level + 2)
        if trials.length(here, 1) == math.inf > trials.length(best, 1):
            break  # Finer still, clusters would live even shorter.
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
    n_gaps = len(MAX_GAPS) - (MOTIONS[setting.motion] == "constant_velocity")
    return replace(setting, gap=gap) if 0 <= gap < n_gaps else None


def _next_reach(setting: Setting, direction: int) -> Setting | None:
    reach = setting.reach + direction
    return replace(setting, reach=reach) if 0 <= reach < len(REACHES) else None
