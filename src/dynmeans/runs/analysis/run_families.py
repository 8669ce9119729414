"""Families of a run, from the rows it keeps of each window: nothing is clustered again."""

from typing import Any

import numpy as np

from dynmeans.families.evidence import Evidence
from dynmeans.families.find import build_families, check_choice
from dynmeans.inputs.input_error import InputError
from dynmeans.records.families import Families
from dynmeans.runs.run import Run
from dynmeans.spaces.raw import RAW


def families_of_run(
    run: Run, *, family_level: float | str | None = None, n_families: float | None = None
) -> Families:
    """Group the clusters of a finished or running run into families.

    The evidence is that of the run, if it was made with `families`; otherwise its stored rows.
    """
    chosen = "auto" if family_level is None else family_level
    model_config, memory = run.config.model_config, run.memory
    is_free = n_families is None and family_level is None and model_config.families
    hint = model_config.n_clusters if is_free else None
    check_choice(chosen, n_families, "family_level")
    if memory is not None and memory.evidence is not None:
        noise = None if run.levels is None else run.levels.noise
        options: dict[str, Any] = {
            "level": chosen,
            "n_families": n_families,
            "hint": hint,
            "noise": noise,
        }
        return build_families(memory.evidence, **options)
    if run.config.sample_size == 0:
        rule = "must be at least 1 to find families: they are found from the rows that a run keeps"
        raise InputError("sample_size", rule, got=0)
    evidence, last = Evidence(), 0.0
    space = RAW if memory is None else memory.space_or_raw
    times = [record.time for record in run.history(labels=False)]
    for sample in run.samples():
        points = np.asarray(space.to_points(sample.points.astype(np.float64)))
        evidence.add(points, sample.cluster_ids, times[sample.step] - last)
        last = times[sample.step]
    return build_families(evidence, level=chosen, n_families=n_families, hint=hint)
