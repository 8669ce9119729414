"""How much of the work of every results file is done; ``python -m paper.status`` prints it."""

from collections.abc import Iterator
from types import ModuleType

import pandas as pd

from paper.aircraft.config import AircraftConfig
from paper.results_file import RESULTS, read_results
from paper.studies import (
    carried_cloud,
    evolutionary,
    first_trials,
    handicap_search,
    low_variance_limit,
    mixing,
    robustness,
    searches,
    suggested_memory,
    times,
    vanishing,
)
from paper.synthetic.config import SyntheticConfig
from paper.synthetic.experiment import expected_work, stages, work_done
from paper.synthetic.tasks import KEY

STUDIES = (
    *(times, robustness, handicap_search, searches, vanishing),
    *(carried_cloud, mixing, low_variance_limit, first_trials, suggested_memory),
)
# Spans, features, origins; in each window Dynamic Means and two of Gibbs, and DP-Means once.
AIRCRAFT_ROWS = {"aircraft-real": 2 * 2 * 3 * (2 * 3 + 1), "aircraft-simulated": 2 * 3 * (3 + 1)}


def shares() -> Iterator[tuple[str, int, float]]:
    """Yield the name of every results file, its rows and the share of its work that is done."""
    for path in sorted(RESULTS.glob("synthetic-*.parquet")):
        results = read_results(path, "synthetic")
        config = SyntheticConfig.from_dict(results.configuration)
        yield path.name, len(results.frame), share_of_stages(config, results.frame)
    for name, n_kinds in AIRCRAFT_ROWS.items():
        n_rows = len(read_results(RESULTS / f"{name}.parquet", "aircraft").frame)
        yield f"{name}.parquet", n_rows, n_rows / (n_kinds * AircraftConfig().n_trials)
    for study in STUDIES:
        yield (f"{study.EXPERIMENT}.parquet", *share_of(study))
    yield (evolutionary.PATH.name, *evolutionary.shares())


def share_of_stages(config: SyntheticConfig, frame: pd.DataFrame) -> float:
    """Return the share of the work of the synthetic experiment, 1 if no trial is missing.

    What the search leaves to do is known only when it is over: before that, the most it may be.
    """
    keys = frame[list(KEY)].astype(object)
    there = set(keys.where(keys.notna(), None).itertuples(index=False, name=None))
    wanted = (
        tuple(task[name] for name in KEY) for stage in stages(config) for task in stage(frame)
    )
    if all(key in there for key in wanted):
        return 1.0
    return min(work_done(config, frame) / expected_work(config), 0.99)


def share_of(study: ModuleType) -> tuple[int, float]:
    """Return the rows of a study's file, and the share of its tasks that have one."""
    key = list(study.KEY)
    frame = read_results(RESULTS / f"{study.EXPERIMENT}.parquet", study.EXPERIMENT).frame
    there = set(frame[key].itertuples(index=False, name=None))
    wanted = {tuple(task[name] for name in key) for task in study.tasks()}
    return len(frame), len(there & wanted) / len(wanted)


def percent(share: float) -> str:
    """Return a share in %, rounded down: 100 % is said of all."""
    return f"{int(100 * share + 1e-9)} %"


if __name__ == "__main__":
    for name, n_rows, share in shares():
        print(f"{percent(share):>5}  {n_rows:>6,} rows  {name}")
