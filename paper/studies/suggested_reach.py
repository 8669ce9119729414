"""Why the suggestion tracks the week of flights worse than the month: its reach and its lambda.

Run as ``python -m paper.studies.suggested_reach`` where the flights are beside the repository. From
the committed suggestion for the scaled feature in half-hour windows, lambda as suggested and
divided by 1.4, and a reach of 1.01 (as suggested) and of 1.2 over a day, on the week and on the
month. Writes paper/results/suggested_reach.parquet.
"""

from itertools import product
from typing import Any

import pyarrow as pa

from paper.aircraft.config import HONEST, SCALED, SUGGESTED, WEEK, WHOLE
from paper.aircraft.trial import run_trial
from paper.results_file import Row
from paper.studies.first_trials import committed, flights_of
from paper.studies.rows import run_study

EXPERIMENT = "suggested_reach"
HOURS, N_TRIALS = 0.5, 10
DIVISORS, REACHES = (1.0, 1.4), (1.01, 1.2)
KEY = ("span", "divisor", "reach", "trial")
SCHEMA = pa.schema(
    [
        *(("span", pa.string()), ("divisor", pa.float64())),
        *(("reach", pa.float64()), ("trial", pa.int64())),
        *(("accuracy", pa.float64()), ("n_found", pa.int64())),
    ]
)


def tasks() -> list[Row]:
    """Return all combinations on both spans."""
    kinds = product((WEEK, WHOLE), DIVISORS, REACHES, range(N_TRIALS))
    return [dict(zip(KEY, kind, strict=True)) for kind in kinds]


def run(task: Row) -> dict[str, Any]:
    """Return the accuracy of one trial."""
    config, data = flights_of("real")
    rows = committed("real").frame.query("method == 'dynamic_means' and origin == @SUGGESTED")
    rows = rows[(rows["feature"] == SCALED) & (rows["hours"] == HOURS)]
    suggested = rows.iloc[0]
    trial = {
        **{"span": task["span"], "feature": SCALED, "hours": HOURS, "trial": task["trial"]},
        **{"method": "dynamic_means", "choice": HONEST, "origin": SUGGESTED},
        "new_penalty": suggested["new_penalty"] / task["divisor"],
        "max_gap": suggested["max_gap"],
        "reach": 1 + (task["reach"] - 1) * HOURS / 24,
    }
    found = run_trial(config, data, trial)
    return {**task, "accuracy": found["accuracy"], "n_found": found["n_found"]}


if __name__ == "__main__":
    about = {"hours": HOURS, "feature": SCALED}
    run_study(EXPERIMENT, run, tasks(), schema=SCHEMA, key=KEY, configuration=about)
