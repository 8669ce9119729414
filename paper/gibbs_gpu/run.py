"""Gibbs sampling of the synthetic experiment at the published size, on a GPU.

    python -m paper.gibbs_gpu.run sample rows.jsonl
    python -m paper.gibbs_gpu.run merge rows.jsonl

`sample` makes the rows that the results of both noises lack: rung after rung of the search, then
the comparison, in about ten minutes on one H200. `merge` takes them into the results, on the same
machine or another. They have no time, which only a processor gives. `--again` samples trials that
are there as well, and `merge` compares them.
"""

import argparse
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.engine.compiled import compiled
from paper.gibbs_gpu.chains import FORK, Row, groups_of, run_groups
from paper.results_file import RESULTS, ResultsFile, read_results
from paper.synthetic.config import SyntheticConfig
from paper.synthetic.experiment import EXPERIMENT
from paper.synthetic.search import best_settings, settings_of_rung
from paper.synthetic.streams import method_seed
from paper.synthetic.tasks import (
    COMPARISON,
    DEVIATION,
    KEY,
    PAPER,
    SEARCH,
    Task,
    comparison_tasks,
    paper_settings,
    search_tasks,
)
from paper.synthetic.trial import SCHEMA

METHOD = "gibbs"
SCORES = ["accuracy_frozen", "accuracy_global", "accuracy_per_step", "n_found", "n_true"]


def main() -> None:
    """Sample, or merge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["sample", "merge"])
    parser.add_argument("rows", type=Path)
    parser.add_argument("--folder", type=Path, default=RESULTS)
    parser.add_argument("--clusters", type=int, nargs="*", default=[2, 5, 10, 20, 50])
    parser.add_argument("--again", type=int, default=0, help="known trials of each kind")
    parser.add_argument("--seconds", type=float, default=86400.0, help="stop after so long")
    parser.add_argument(
        "--steps", type=int, help="of the streams of the comparison, to try the speed"
    )
    asked = parser.parse_args()
    if asked.what == "sample":
        sample(asked)
        return
    rows = read_rows(asked.rows)
    for noise in NOISES:
        merge(asked.folder, noise, [row for row in rows if row["noise"] == noise])


def path_of(folder: Path, noise: str) -> Path:
    """Return the results of one noise."""
    return folder / f"synthetic-{noise}-full.parquet"


def read_rows(path: Path) -> list[Row]:
    """Return what was sampled so far."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def sample(asked: argparse.Namespace) -> None:
    """Sample stage after stage until nothing is missing, each in a process of its own."""
    asked.until = time.monotonic() + asked.seconds
    # Each stream its own queue: with the usual 8, groups would wait for each other.
    os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "32"
    asked.rows.touch()
    while time.monotonic() < asked.until:
        rows = read_rows(asked.rows)
        chains = []
        for noise in NOISES:
            frame = read_results(path_of(asked.folder, noise), EXPERIMENT).frame
            if new := [row for row in rows if row["noise"] == noise]:
                frame = pd.concat([frame, pd.DataFrame(new)], ignore_index=True)
            chains += next_chains(noise, frame, asked)
        if searched := [x for x in chains if x[1]["part"] == SEARCH]:
            chains = searched  # side by side for both noises, and so the comparison
        if not chains:
            break
        stage = FORK.Process(target=sample_stage, args=(chains, asked))
        stage.start()
        stage.join()
        if asked.steps or stage.exitcode or chains[0][1]["part"] == COMPARISON:
            break


def sample_stage(chains: list[tuple[SyntheticConfig, Row]], asked: argparse.Namespace) -> None:
    """Sample some chains, and add their rows to the file."""
    with asked.rows.open("a") as out:
        for rows in run_groups(groups_of(chains), asked.until):
            out.writelines(json.dumps(row) + "\n" for row in rows)
            out.flush()


def next_chains(
    noise: str, frame: pd.DataFrame, asked: argparse.Namespace
) -> list[tuple[SyntheticConfig, Row]]:
    """Return the trials of the first rung of the search that lacks some, or of the comparison."""
    config = SyntheticConfig.of_size("full", noise=noise)
    known = set(map(_key_of, _records(frame)))
    tasks: list[Task] = []
    for rung in range(0 if asked.steps else len(config.search_streams)):
        settings = {METHOD: settings_of_rung(config, frame, rung)[METHOD]}
        tasks = [t for t in search_tasks(config, rung, settings) if _key_of(t) not in known]
        if tasks:
            break
    if not tasks:
        settings = [paper_settings(PAPER), paper_settings(DEVIATION), best_settings(config, frame)]
        print(noise, settings[-1].get(METHOD), flush=True)
        wanted = [
            t
            for t in comparison_tasks(config, settings)
            if t["method"] == METHOD and t["n_clusters"] in asked.clusters
        ]
        all_tasks = list({_key_of(t): t for t in wanted}.values())
        tasks = [t for t in all_tasks if _key_of(t) not in known]
        tasks += _some_of_each_kind([t for t in all_tasks if _key_of(t) in known], asked.again)
    if asked.steps:
        config = replace(config, n_steps=asked.steps)
    return [(config, {**t, "entropy": _entropy_of(config, t)}) for t in tasks]


def merge(folder: Path, noise: str, rows: list[Row]) -> None:
    """Append the rows that are new; compare the others with what is there."""
    config = SyntheticConfig.of_size("full", noise=noise)
    with ResultsFile(
        path_of(folder, noise),
        experiment=EXPERIMENT,
        configuration=asdict(config),
        schema=SCHEMA,
        key=KEY,
    ) as results:
        there = {_key_of(row): row for row in _records(results.frame())}
        missing = results.missing(rows)
        results.append({name: row[name] for name in SCHEMA.names} for row in missing)
    pairs = [(there[_key_of(row)], row) for row in rows if _key_of(row) in there]
    differ = [pair for pair in pairs if not np.allclose(*map(_scores, pair), rtol=1e-12)]
    print(f"{noise}: {len(missing)} new, {len(pairs)} known, {len(differ)} of them different")
    for pair in differ:
        print(_key_of(pair[0]), *map(_scores, pair), sep="\n  ")


def _some_of_each_kind(tasks: list[Task], n: int) -> list[Task]:
    kinds = [(t["n_clusters"], t["choice"], t["effort"]) for t in tasks]
    return [t for i, t in enumerate(tasks) if kinds[:i].count(kinds[i]) < n]


def _entropy_of(config: SyntheticConfig, task: Task) -> int:
    """Return what `DDPMixture` makes of the seed of a trial."""
    is_search = int(task["part"] == SEARCH)
    seed = method_seed(config, is_search, task["n_clusters"], task["trial"])
    return int(compiled.entropy_of_seed(seed))


def _records(frame: pd.DataFrame) -> Iterable[Row]:
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def _key_of(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def _scores(row: Row) -> list[float]:
    return [float(row[name]) for name in SCORES]


if __name__ == "__main__":
    main()
