"""Why the suggestion tracks the week of flights worse than the month: it leaves the memory open.

Run as ``python -m paper.studies.suggested_memory`` where the flights are beside the repository. The
suggestion of the committed rows, which chooses all three parameters on the first seven days, beside
the one that is told the memory, as many days as it sees, and chooses the other two. Writes
paper/results/suggested_memory.parquet.
"""

from functools import cache
from itertools import product
from typing import Any

import pyarrow as pa

from dynmeans.records.penalties import Penalties
from paper.aircraft.config import FEATURES, HONEST, SUGGESTED, WEEK, WHOLE
from paper.aircraft.settings import in_windows, suggested_by_day
from paper.aircraft.trial import run_trial
from paper.results_file import Row
from paper.studies.first_trials import flights_of
from paper.studies.rows import run_study

EXPERIMENT = "suggested_memory"
N_TRIALS = 10
OPEN, STATED = "open", "stated"
KEY = ("memory", "feature", "span", "hours", "trial")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in KEY[:3]),
        *(("hours", pa.float64()), ("trial", pa.int64())),
        *((name, pa.float64()) for name in ("new_penalty", "days", "reach_of_a_day")),
        *(("accuracy", pa.float64()), ("n_found", pa.int64())),
    ]
)


def tasks() -> list[Row]:
    """Return both suggestions on both features, spans and windows."""
    kinds = product((OPEN, STATED), FEATURES[::-1], (WEEK, WHOLE), (0.5, 2.0), range(N_TRIALS))
    return [dict(zip(KEY, kind, strict=True)) for kind in kinds]


@cache
def suggestion(memory: str, feature: str) -> Penalties:
    """Return the suggestion on the first days, day by day."""
    config, data = flights_of("real")
    return suggested_by_day(config, data, feature, is_memory_stated=memory == STATED)


def run(task: Row) -> dict[str, Any]:
    """Return the accuracy of one trial."""
    config, data = flights_of("real")
    by_day = suggestion(task["memory"], task["feature"])
    penalties = in_windows(by_day, task["hours"])
    trial = {
        **{name: task[name] for name in ("span", "feature", "hours", "trial")},
        **{"method": "dynamic_means", "choice": HONEST, "origin": SUGGESTED},
        **{name: getattr(penalties, name) for name in ("new_penalty", "max_gap", "reach")},
    }
    found = run_trial(config, data, trial)
    chosen = {"days": by_day.max_gap, "reach_of_a_day": by_day.reach}
    chosen |= {"new_penalty": by_day.new_penalty}
    return {**task, **chosen, "accuracy": found["accuracy"], "n_found": found["n_found"]}


if __name__ == "__main__":
    about = {"n_trials": N_TRIALS}
    run_study(EXPERIMENT, run, tasks(), schema=SCHEMA, key=KEY, configuration=about)
