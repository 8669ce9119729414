"""What Gibbs sampling has left to do in the synthetic experiment, and its rows from a GPU.

    python benchmarks/gibbs_gpu/rows.py tasks tasks.json
    python benchmarks/gibbs_gpu/rows.py merge FOLDER rows.jsonl other-results.parquet ...

`tasks` lists all trials of both noises at the published size; `run.py` makes their rows; `merge`
takes rows into the results of FOLDER. A row with a time goes before one without.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.engine.compiled import compiled
from dynmeans.experiments.results_file import SESSION, ResultsFile, read_results
from dynmeans.experiments.synthetic.config import PAPER_MIXTURE, SyntheticConfig
from dynmeans.experiments.synthetic.experiment import EXPERIMENT
from dynmeans.experiments.synthetic.streams import method_seed
from dynmeans.experiments.synthetic.tasks import (
    DEVIATION,
    KEY,
    PAPER,
    SEARCH,
    Task,
    comparison_tasks,
    grid,
    paper_settings,
    search_tasks,
)
from dynmeans.experiments.synthetic.trial import SCHEMA

METHOD = "gibbs"


def main() -> None:
    """List trials or take in rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["tasks", "merge"])
    parser.add_argument("place", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    asked = parser.parse_args()
    if asked.what == "tasks":
        asked.place.write_text(json.dumps([list_tasks(noise) for noise in NOISES]))
    else:
        rows = [row for path in asked.files for row in read_rows(path)]
        for noise in NOISES:
            print(noise, merge(asked.place, noise, [r for r in rows if r["noise"] == noise]))


def path_of(folder: Path, noise: str) -> Path:
    """Return the results file of one noise."""
    return folder / f"synthetic-{noise}-full.parquet"


def open_results(folder: Path, config: SyntheticConfig) -> ResultsFile:
    """Open the results of one noise for appending."""
    return ResultsFile(
        path_of(folder, config.noise),
        experiment=EXPERIMENT,
        configuration=asdict(config),
        schema=SCHEMA,
        key=KEY,
    )


def list_tasks(noise: str) -> dict[str, Any]:
    """Return the trials at the paper's settings, those at settings to be found, and seeds."""
    config = SyntheticConfig.of_size("full", noise=noise)
    unknown = {METHOD: dict.fromkeys(PAPER_MIXTURE, -1.0)}
    paper = [paper_settings(PAPER), paper_settings(DEVIATION)]
    last = len(config.search_streams) - 1
    streams = search_tasks(config, last, {METHOD: [PAPER_MIXTURE]})
    listed = {
        "search": list(streams),
        "comparison": comparison_tasks(config, paper),
        "found": comparison_tasks(config, [unknown]),
    }
    seeded = {
        name: [{**t, "entropy": entropy_of(config, t)} for t in tasks if t["method"] == METHOD]
        for name, tasks in listed.items()
    }
    return {"config": asdict(config), "settings": grid(config, METHOD), **seeded}


def entropy_of(config: SyntheticConfig, task: Task) -> int:
    """Return what `DDPMixture` makes of the seed of a trial."""
    place = (int(task["part"] == SEARCH), task["n_clusters"], task["trial"])
    return int(compiled.entropy_of_seed(method_seed(config, *place)))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return rows of a GPU or of another results file, each with its noise."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    results = read_results(path, EXPERIMENT)
    frame = results.frame.drop(columns=SESSION)
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{**row, "noise": results.configuration["noise"]} for row in records]


def merge(folder: Path, noise: str, rows: list[dict[str, Any]]) -> int:
    """Append the rows that are not there, with a time where there is one; return how many."""
    config = SyntheticConfig.of_size("full", noise=noise)
    rows = sorted(rows, key=lambda row: row["cpu_s"] is not None)  # the last of a trial is kept
    with open_results(folder, config) as results:
        missing = results.missing(rows)
        results.append({name: row[name] for name in SCHEMA.names} for row in missing)
    return len(missing)


if __name__ == "__main__":
    main()
