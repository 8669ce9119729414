"""The aircraft experiment: messages to flows, Table 1 and Figure 2 (Sec. 6.2)."""

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from dynmeans.files.atomic_write import atomic_write
from dynmeans.plots.figures import new_figure
from paper.aircraft.config import PLAIN, SCALED, WEEK, AircraftConfig
from paper.aircraft.data import AircraftData, prepare_data
from paper.aircraft.run import flight_places, run_flows, write_page
from paper.aircraft.settings import Setting, settings_for
from paper.aircraft.table import summary_markdown
from paper.aircraft.trial import (
    KEY,
    SCHEMA,
    SettingKey,
    Settings,
    check_settings,
    effort_of,
    follow_flows,
    run_trial,
    table_tasks,
)
from paper.flights.trajectories import Area
from paper.flows.flow_counts import plot_flow_counts
from paper.flows.flow_map import map_size, plot_flow_map
from paper.flows.flows import Flow, find_flows
from paper.results_file import Results, ResultsFile, read_results
from paper.run_tasks import run_tasks
from paper.series import save_figure

OnProgress = Callable[[str], Callable[[float, float], None] | None]

EXPERIMENT = "aircraft"
_N_DRAWN = 12  # flows in the figure, as in the paper
# What may differ between two runs that fill one file: which rows there are, not what is in them.
_WHICH_ROWS = ("n_trials", "gibbs_trials", "features", "windows", "origins", "is_quick")


def run_aircraft(
    config: AircraftConfig,
    folder: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> Results:
    """Run what is missing of the experiment, and keep it in the folder.

    Parameters
    ----------
    config : AircraftConfig
    folder : path
        For the results, the flows of the figure, the report on the messages and the cache of
        features.
    n_jobs : int
        Processes; the results do not depend on it.
    on_progress : callable, optional
        Given the name of a stage it returns what to call with work done and all work of it.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Sums of BLAS depend on its threads in the last bits, and labels on those.
    with threadpool_limits(1):
        _fill(config, folder, n_jobs, on_progress or (lambda _: None))
    return read_results(_path(folder, config, "parquet"), EXPERIMENT)


def _fill(config: AircraftConfig, folder: Path, n_jobs: int, watch: OnProgress) -> None:
    """Prepare the data, choose the parameters and run what is missing."""
    data = prepare_data(config, cache=folder / "cache", on_progress=watch("features"))
    lines = [*data.report.lines(), *(f"{k}: {v}" for k, v in data.notes.items())]
    _path(folder, config, "messages.txt").write_text("\n".join(lines) + "\n")
    with ResultsFile(
        _path(folder, config, "parquet"),
        experiment=EXPERIMENT,
        configuration=_identity(config),
        schema=SCHEMA,
        key=KEY,
    ) as results:
        light = replace(data, trajectories=data.trajectories.select([]))
        settings = _all_settings(config, light, folder, n_jobs, watch("parameters"))
        _write_flows(config, data, settings, folder)
        if (data.scored >= 0).any():
            tasks = table_tasks(config, data, settings)
            check_settings(results.path, results.frame(), tasks)
            run_tasks(
                partial(run_trial, config, light),
                tasks,
                results,
                effort=effort_of,
                n_jobs=n_jobs,
                on_progress=watch("trials"),
            )


def write_figures(folder: str | os.PathLike[str], config: AircraftConfig) -> tuple[list[Path], str]:
    """Draw Figure 2, write Table 1 and the page that plays the flows, from the files of a run.

    Figure 2 is drawn twice: of the scaled feature, and in the paper's form.

    Returns
    -------
    files : list of Path
        What was written.
    summary : str
        The tables, in Markdown.
    """
    folder = Path(folder)
    results = read_results(_path(folder, config, "parquet"), EXPERIMENT)
    kept = json.loads(_path(folder, config, "flows.json").read_text())
    stem = folder / f"aircraft-{config.name}"
    files = _draw_flows(kept, Area(*config.area), stem)
    if "paper_form" in kept:
        files += _draw_flows(kept["paper_form"], Area(*config.area), Path(f"{stem}-paper"))
    summary = summary_markdown(results) if len(results.frame) else "No labels, no table.\n"
    tables = _path(folder, config, "md")
    tables.write_text(summary)
    names = {int(k): name for k, name in kept["names"].items()}
    page = write_page(
        _path(folder, config, "run"), _path(folder, config, "html"), kept["places"], names
    )
    return [*files, tables, page], summary


def _draw_flows(kept: dict[str, Any], area: Area, stem: Path) -> list[Path]:
    """Draw the map of the largest flows, and their counts through the week."""
    flows = [Flow.from_dict(values) for values in kept["flows"]]
    map_figure, (left,) = new_figure(map_size(len(flows), area), 1, 1)
    plot_flow_map(flows, left, area)
    counts_figure, (right,) = new_figure((12.0, 5.2), 1, 1)
    plot_flow_counts(flows, kept["begin"], kept["window_seconds"], right)
    files = []
    for name, figure in (("map", map_figure), ("counts", counts_figure)):
        files += save_figure(figure, f"{stem}-{name}")
    return files


def _all_settings(
    config: AircraftConfig,
    data: AircraftData,
    folder: Path,
    n_jobs: int,
    on_progress: Callable[[float, float], None] | None,
) -> Settings:
    """Settings of every part of the table; they take minutes, and are kept in a file."""
    path = _path(folder, config, "settings.json")
    identity = json.loads(json.dumps(_identity(config)))
    found = _kept_settings(path, identity)
    wanted = [
        (s, f, h, o)
        for s in data.spans
        for f in config.features
        for h in config.windows
        for o in config.origins
    ]
    missing = [key for key in wanted if key not in found]
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    made = parallel(delayed(_setting)(config, data, key) for key in missing)
    for n_done, (key, setting) in enumerate(made, start=len(wanted) - len(missing) + 1):
        found[key] = setting
        kept = {"configuration": identity, "settings": list(found.items())}
        with atomic_write(path) as temporary:
            Path(temporary).write_text(json.dumps(kept, indent=1) + "\n")
        if on_progress is not None:
            on_progress(n_done, len(wanted))
    return found


def _setting(
    config: AircraftConfig, data: AircraftData, key: SettingKey
) -> tuple[SettingKey, dict[str, Setting] | None]:
    with threadpool_limits(1):
        return key, settings_for(config, data, *key)


def _kept_settings(path: Path, identity: dict[str, Any]) -> dict[SettingKey, Any]:
    """Settings in the file, if it is of the same configuration."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    if kept["configuration"] != identity:
        return {}
    return {tuple(key): value for key, value in kept["settings"]}


def _write_flows(
    config: AircraftConfig, data: AircraftData, settings: Settings, folder: Path
) -> None:
    """Keep the largest flows of one run, for the figure."""
    feature = SCALED if SCALED in config.features else PLAIN
    span = WEEK if WEEK in data.spans else next(iter(data.spans))
    hours = config.windows[-1]
    origin = next(o for o in config.origins if settings[span, feature, hours, o] is not None)
    windows = data.windows(span, hours)
    setting = settings[span, feature, hours, origin]["dynamic_means"]
    run_folder = _path(folder, config, "run")
    labels = run_flows(data, (span, feature, hours), setting, config.seed, run_folder)
    flows = find_flows(data.trajectories, labels, windows, n_flows=None)
    filled = [rows for rows in windows if len(rows)]
    kept = {
        "begin": data.begin + data.spans[span][0],
        "window_seconds": 3600 * hours,
        "origin": origin,
        "n_clusters": len(flows),
        "flows": [flow.to_dict() for flow in flows[:_N_DRAWN]],
        "names": _distinct_names(flows),
        "places": [flight_places(data.trajectories.select(r)).round(3).tolist() for r in filled],
    }
    if PLAIN in config.features:
        kept["paper_form"] = _paper_form(config, data, settings, span)
    with atomic_write(_path(folder, config, "flows.json")) as temporary:
        Path(temporary).write_text(json.dumps(kept) + "\n")


def _paper_form(
    config: AircraftConfig, data: AircraftData, settings: Settings, span: str
) -> dict[str, Any]:
    """Return the largest flows of the plain feature in the shortest windows, half-hours."""
    hours = min(config.windows)
    origin = next(o for o in config.origins if settings[span, PLAIN, hours, o] is not None)
    windows = data.windows(span, hours)
    setting = settings[span, PLAIN, hours, origin]["dynamic_means"]
    labels, _ = follow_flows(data, setting, windows, PLAIN, config.seed)
    flows = find_flows(data.trajectories, labels, windows, n_flows=None)
    return {
        "begin": data.begin + data.spans[span][0],
        "window_seconds": 3600 * hours,
        "origin": origin,
        "n_clusters": len(flows),
        "flows": [flow.to_dict() for flow in flows[:_N_DRAWN]],
    }


def _distinct_names(flows: Sequence[Flow]) -> dict[int, str]:
    """Name each cluster; of several flows between the same airports all but the largest count."""
    n_before: Counter[str] = Counter()
    names = {}
    for flow in flows:
        n_before[flow.name] += 1
        number = n_before[flow.name]
        names[flow.cluster_id] = flow.name if number == 1 else f"{flow.name} ({number})"
    return names


def _identity(config: AircraftConfig) -> dict[str, Any]:
    """All that a row depends on beside its key."""
    identity = {k: v for k, v in asdict(config).items() if k not in _WHICH_ROWS}
    if not config.is_gp_own:  # as in files from before there was the choice
        del identity["is_gp_own"]
    return identity


def _path(folder: Path, config: AircraftConfig, ending: str) -> Path:
    return folder / f"aircraft-{config.name}.{ending}"
