"""Words about size, search and time that the rows must carry: "published", "same", "all".

Each returns the word if the committed rows carry it, and what they do carry otherwise.
"""

from functools import cache

import numpy as np
import pandas as pd

from dynmeans.datasets.moving_gaussians import NOISES
from paper.pages.tables import config_of, read_rows, settings, synthetic, times
from paper.studies import handicap_search
from paper.synthetic.claims import NAMES
from paper.synthetic.config import METHODS, SAMPLERS, SyntheticConfig
from paper.synthetic.experiment import expected_work
from paper.synthetic.search import n_settings
from paper.synthetic.streams import stream_of
from paper.synthetic.summary import by_clusters, trials_of
from paper.synthetic.tasks import DEVIATION, FOUND, HONEST, PAPER, SEARCH, paper_settings

PUBLISHED_STREAMS = 50  # trials at each setting, and for each number of clusters
_ORIGINS = (PAPER, DEVIATION, FOUND)


def swept() -> str:
    """Return how many settings of Dynamic Means were tried, on how many streams."""
    sizes = [_sweep(noise) for noise in NOISES]
    counts = {len(size) for size in sizes}
    streams = np.unique(np.concatenate(sizes))
    assert len(counts) == 1, "the noises have different grids"
    return f"{counts.pop()} settings on {_range(streams)} streams"


def compared() -> str:
    """Return how many streams every method has at every number of clusters."""
    return f"{_range(_compared())} streams"


def size() -> str:
    """Return "published size" where all settings and all kinds of trials have 50 streams."""
    found = np.concatenate([*(_sweep(noise) for noise in NOISES), _compared()])
    is_full = (found >= PUBLISHED_STREAMS).all()
    return "published size" if is_full else f"{_range(found)} streams of each kind"


def search() -> str:
    """Return whether every setting of the samplers was tried on as many streams as the others'."""
    fewest = min(_streams_of(noise, method).min() for noise in NOISES for method in SAMPLERS)
    ours = min(_sweep(noise).min() for noise in NOISES)
    return "the same search" if fewest >= ours else "a shallower search"


def rungs() -> str:
    """Return how the samplers were searched: settings on streams, rung by rung."""
    return _rungs(len(config_of(NOISES[0]).search_streams))


def handicap_rungs() -> str:
    """Return how they were searched with the handicap."""
    return _rungs(handicap_search.N_RUNGS)


def handicap_missing() -> str:
    """Return a sentence on the samplers whose search with the handicap is not done, if any."""
    frame = read_rows(handicap_search.EXPERIMENT).frame
    names = {
        f"{NAMES[method]} with {noise} noise"
        for noise in NOISES
        for method in handicap_search.METHODS
        if method not in handicap_search.found(noise, frame)
    }
    return f"Not searched to the end yet: {', '.join(sorted(names))}." if names else ""


def turns() -> str:
    """Return how times were taken, and of how many streams, least to most."""
    kinds = pd.MultiIndex.from_product([NOISES, _ORIGINS, config_of(NOISES[0]).n_clusters])
    counts = times().groupby(["noise", "origin", "n_clusters"]).size()
    streams = _range(counts.reindex(kinds, fill_value=0).to_numpy())
    return f"in turns in one process, {streams} streams of each kind"


def machine() -> str:
    """Return the processor that times were taken on."""
    sessions = read_rows("times").sessions
    names = {f"{s['processor']}, {s['n_cores']} cores, {s['instruction_set']}" for s in sessions}
    return "; ".join(sorted(names))


def found_values(parameter: str, method: str = "*", noise: str = "*") -> str:
    """Return the values of a parameter that the search found, least to most."""
    found = [
        setting[parameter]
        for of_noise in (NOISES if noise == "*" else (noise,))
        for name, setting in settings(of_noise, FOUND).items()
        if parameter in setting and method in ("*", name)
    ]
    low, high = f"{min(found):g}", f"{max(found):g}"
    return low if low == high else f"{low} to {high}"


def work(size: str) -> str:
    """Return about how long a size of the experiment takes one core, for one noise."""
    minutes = expected_work(SyntheticConfig.of_size(size)) / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.0f} hours"


def outside(noise: str) -> str:
    """Return how many % of the points lie outside the unit square that clusters are born in."""
    config = config_of(noise)
    streams = [stream_of(config, 0, config.search_clusters, trial) for trial in range(20)]
    points = np.concatenate([batch for stream in streams for batch in stream.batches])
    return f"{100 * np.mean(((points < 0) | (points > 1)).any(axis=1)):.0f}"


def identities(noise: str, origin: str, method: str, effort: str) -> str:
    """Return how many identities a method gives a stream of 5 clusters, on average."""
    trials = trials_of(synthetic(noise).frame, method, settings(noise, origin)[method], HONEST)
    of_five = trials["n_clusters"] == config_of(noise).search_clusters
    rows = trials[of_five & (trials["effort"] == int(effort))]
    return f"{rows['n_found'].mean():.0f}"


def identities_true(noise: str) -> str:
    """Return how many identities there are in such a stream, on average."""
    frame = synthetic(noise).frame
    rows = frame[(frame["part"] != SEARCH) & (frame["n_clusters"] == 5)]
    return f"{rows.drop_duplicates('trial')['n_true'].mean():.0f}"


def _rungs(n_rungs: int) -> str:
    config = config_of(NOISES[0])
    shown = [
        f"{n_settings(config, 'gibbs', rung)} {'settings' if rung == 0 else 'at most'} on {n}"
        for rung, n in enumerate(config.search_streams[:n_rungs])
    ]
    return f"{', '.join(shown[:-1])} and {shown[-1]} streams"


def _sweep(noise: str) -> np.ndarray:
    return _streams_of(noise, "dynamic_means")


def _streams_of(noise: str, method: str) -> np.ndarray:
    """Return the streams on which each setting of a method was tried in the search."""
    frame = synthetic(noise).frame
    rows = frame[(frame["part"] == SEARCH) & (frame["method"] == method)]
    counts = rows.groupby(list(paper_settings()[method]))["trial"].nunique()
    return np.asarray(counts)


@cache
def _compared() -> np.ndarray:
    counts = []
    for noise in NOISES:
        for origin in _ORIGINS:
            for method in METHODS:
                setting = settings(noise, origin)[method]
                trials = trials_of(synthetic(noise).frame, method, setting, HONEST)
                counts.append(by_clusters(trials, method, config_of(noise).score).n)
    return np.concatenate(counts)


def _range(values: "np.ndarray | pd.Series") -> str:
    low, high = int(np.min(values)), int(np.max(values))
    return str(low) if low == high else f"{low} to {high}"


FACTS = {
    function.__name__: function
    for function in (
        *(swept, compared, size, search, rungs, turns, machine),
        *(handicap_rungs, handicap_missing),
        *(found_values, work, outside, identities, identities_true),
    )
}
