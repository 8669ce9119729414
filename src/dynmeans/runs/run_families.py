"""Families of a run, from the rows it keeps of each window: nothing is clustered again."""

import numpy as np

from dynmeans.families.evidence import Evidence
from dynmeans.families.find import check_choice, families_of
from dynmeans.records.families import Families
from dynmeans.runs.run import Run


def families_of_run(
    run: Run, *, level: float | str | None = None, n_families: float | None = None
) -> Families:
    """Group the identities of a finished or running run.

    Parameters
    ----------
    run : Run
        Read only; up to `config.sample_size` rows of every window are looked at.
    level, n_families
        As for `find_families`.
    """
    chosen = "auto" if level is None else level
    check_choice(chosen, n_families)
    scaling, evidence = run.scaling, Evidence()
    times = [record.time for record in run.history(labels=False)]
    last = 0.0
    for sample in run.samples():
        points = np.asarray(sample.points, dtype=np.float64)
        if scaling is not None:
            points = np.asarray(scaling.apply(points), dtype=np.float64)
        now = times[sample.step]
        evidence.add(points, sample.cluster_ids, now - last)
        last = now
    return families_of(evidence, level=chosen, n_families=n_families)
