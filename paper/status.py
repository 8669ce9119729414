"""How much of the work of every results file is done; ``python -m paper.status`` prints it."""

from collections.abc import Iterator
from types import ModuleType

from paper.aircraft.config import AircraftConfig
from paper.results_file import RESULTS, read_results
from paper.studies import (
    both_searches,
    carried_cloud,
    first_trials,
    low_variance_limit,
    mixing,
    robustness,
    suggested_reach,
    times,
    vanishing,
)
from paper.synthetic.config import SyntheticConfig
from paper.synthetic.experiment import expected_work, work_done

STUDIES = (
    *(times, robustness, both_searches, vanishing),
    *(carried_cloud, mixing, low_variance_limit, first_trials, suggested_reach),
)
# Spans, features, origins; in each window Dynamic Means and two of Gibbs, and DP-Means once.
AIRCRAFT_ROWS = {"aircraft-real": 2 * 2 * 3 * (2 * 3 + 1), "aircraft-simulated": 2 * 3 * (3 + 1)}


def shares() -> Iterator[tuple[str, int, float]]:
    """Yield the name of every results file, its rows and the share of its work that is done."""
    for path in sorted(RESULTS.glob("synthetic-*.parquet")):
        results = read_results(path, "synthetic")
        config = SyntheticConfig.from_dict(results.configuration)
        done = work_done(config, results.frame) / expected_work(config)
        yield path.name, len(results.frame), done
    for name, n_kinds in AIRCRAFT_ROWS.items():
        n_rows = len(read_results(RESULTS / f"{name}.parquet", "aircraft").frame)
        yield f"{name}.parquet", n_rows, n_rows / (n_kinds * AircraftConfig().n_trials)
    for study in STUDIES:
        yield (f"{study.EXPERIMENT}.parquet", *share_of(study))


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
