"""Families of a run, from the rows it keeps of each window: nothing is clustered again."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from dynmeans.families.evidence import Evidence
from dynmeans.families.find import check_choice, families_of
from dynmeans.inputs.input_error import InputError
from dynmeans.records.families import Families
from dynmeans.runs.run import Run
from dynmeans.spaces.raw import RAW

_MOST_LOOKS = 100


def families_of_run(
    run: Run,
    *,
    level: float | str | None = None,
    n_families: float | None = None,
    last_step: int | None = None,
) -> Families:
    """Group the identities of a finished or running run.

    The run's own evidence speaks where its recipe asked for families; else up to
    `config.sample_size` rows of every window, up to `last_step`, are looked at.
    """
    chosen = "auto" if level is None else level
    recipe, memory = run.config.recipe, run.memory
    is_free = n_families is None and level is None and recipe.families
    hint = recipe.n_clusters if is_free else None
    check_choice(chosen, n_families)
    if memory is not None and memory.evidence is not None and last_step is None:
        return families_of(memory.evidence, level=chosen, n_families=n_families, hint=hint)
    _check_keeps_rows(run)
    evidence = Evidence()
    for _ in _gather(run, evidence, last_step):
        pass
    return families_of(evidence, level=chosen, n_families=n_families, hint=hint)


def joins_of_run(run: Run) -> list[dict[str, Any]]:
    """Say which families turned out to belong to an older one, in at most 100 looks at the run."""
    _check_keeps_rows(run)
    evidence, rows = Evidence(), list[dict[str, Any]]()
    before: Families | None = None
    n_windows = run.status().n_windows
    looks = set(np.linspace(0, n_windows - 1, min(n_windows, _MOST_LOOKS)).astype(int).tolist())
    for window in _gather(run, evidence):
        if window["step"] not in looks:
            continue
        now = families_of(evidence)
        joined = [] if before is None else now.joined_since(before)
        rows += [{**window, **asdict(event)} for event in joined]
        before = now
    return rows


def _check_keeps_rows(run: Run) -> None:
    if run.config.sample_size == 0:
        rule = "must be at least 1 to find families: they are found from the rows that a run keeps"
        raise InputError("sample_size", rule, got=0)


def _gather(run: Run, evidence: Evidence, last_step: int | None = None) -> Iterator[dict[str, Any]]:
    """Add window after window to the evidence, and say which it was."""
    memory = run.memory
    space = RAW if memory is None else memory.known_space
    times = [record.time for record in run.history(labels=False, last_step=last_step)]
    last = 0.0
    for sample in run.samples(last_step=last_step):
        points = np.asarray(space.to_points(sample.points.astype(np.float64)))
        now = times[sample.step]
        evidence.add(points, sample.cluster_ids, now - last)
        last = now
        yield {"step": sample.step, "time": now, "window": sample.name}
