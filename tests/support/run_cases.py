"""Small tables and runs that the tests of this folder share."""

import json
import sqlite3
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dynmeans import Penalties, Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.levels import write_levels
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows

PENALTIES = Penalties(1.0, max_gap=5, reach=1.5)
RECIPE = ModelConfig(PENALTIES, random_state=0)
OPTIONS = WindowOptions(features=("x", "y"), time="when", every="1min", truth="truth")


def moving_table(n_windows: int, n_rows: int = 12, seed: int = 0) -> pd.DataFrame:
    """Four clusters on slow walks; one of them is out of sight now and then."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0, 20, size=(4, 2))
    start = np.datetime64("2024-03-01T00:00:00", "us")
    frames = []
    for window in range(n_windows):
        centers += rng.normal(0, 0.1, centers.shape)
        truth = rng.integers(0, 3 if window % 9 in (3, 4) else 4, n_rows)
        seconds = np.sort(rng.uniform(0, 60, n_rows)) + 60 * window
        points = centers[truth] + rng.normal(0, 0.1, (n_rows, 2))
        when = start + (seconds * 1e6).astype("timedelta64[us]")
        frames.append(
            pd.DataFrame({"when": when, "x": points[:, 0], "y": points[:, 1], "truth": truth})
        )
    return pd.concat(frames, ignore_index=True)


def config_for(table: Any, options: WindowOptions = OPTIONS, **settings: Any) -> RunConfig:
    model_config = ModelConfig(PENALTIES, **{"random_state": 0} | settings)
    return RunConfig(("x", "y"), model_config, {"input": str(table), **options.to_fields()})


def follow(
    table: Path,
    folder: Path,
    options: WindowOptions = OPTIONS,
    commit_seconds: float = 2.0,
    on_window: Any = None,
    has_levels: bool = False,
    **settings: Any,
) -> int:
    """Make the run or go on with it, as the command line does; with levels after each commit."""
    config = config_for(table, options, families=has_levels, **settings)
    is_there = (folder / "run.sqlite").exists()
    run = Run.open(folder, config) if is_there else Run.create(folder, config)
    with run, Source(str(table)) as source:
        windows = Windows(source, options, run.position)
        hooks = {"on_window": on_window}
        if has_levels:
            hooks["after_commit"] = lambda: write_levels(run.store)
        n_windows = run.process_all(windows, commit_seconds=commit_seconds, **hooks)
        if has_levels:
            write_levels(run.store)
        return n_windows


def show_level_of(folder: Path, other: Path) -> None:
    """Show another run at the level at which a run is shown."""
    with Run.open(folder) as run, Run.open(other) as changed:
        changed.choose_level(run.levels.chosen)


def contents(folder: Path) -> dict[str, Any]:
    """Everything a run holds, apart from how its labels are divided into files."""
    connection = sqlite3.connect(folder / "run.sqlite")
    tables = ["configuration", "manifest", "memory", "windows", "samples", "clusters", "events"]
    found: dict[str, Any] = {
        table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
        for table in tables
    }
    connection.close()
    with Run.open(folder) as run:
        table = run.labels(frame="arrow")
    found["labels"] = {name: table[name].to_pylist() for name in table.column_names}
    return found


# Tests of alerts: a run, a file of rules, and a webhook.
CONFIG = RunConfig(("x", "y"), RECIPE)
NEAR, FAR = [0.0, 0.0], [9.0, 9.0]


def rules_file(tmp_path, text):
    path = tmp_path / "rules.toml"
    path.write_text(text)
    return path


class Hook(BaseHTTPRequestHandler):
    answers, received = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Hook.received.append(json.loads(body))
        self.send_response(Hook.answers.pop(0) if Hook.answers else 200)
        self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()

    def log_message(self, *arguments):
        pass
