"""dynmeans demo: the whole job on simulated ships."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options

_SHIPS, _RUN, _LABELS, _REPORT = "ships.csv", "run", "labels.csv", "report.html"
_START = "2026-03-01T00:00:00"


def demo(
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write to.")
    ] = Path("demo-output"),
    ships: Annotated[
        bool, typer.Option("--ships", help="Only write ships.csv, an example file.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Cluster simulated ships around a harbor, which move, vanish and return; write a report.

    Runs these four commands on simulated positions (time, lon, lat, ship):

    dynmeans cluster ships.csv --time time --every 2min -f lon,lat --motion constant_velocity ... -o
    run

    dynmeans score run --truth ship

    dynmeans labels run -o labels.csv

    dynmeans report run -o report.html
    """
    import time

    from dynmeans.cli.output import print_json, print_line
    from dynmeans.follow.model_config import ModelConfig
    from dynmeans.inputs.argument_text import as_cli_options
    from dynmeans.inputs.format_count import format_count
    from dynmeans.report import write_report
    from dynmeans.report.from_run import run_report
    from dynmeans.runs.cluster_job import ClusterJob
    from dynmeans.runs.export.export_labels import export_labels
    from dynmeans.runs.input import Input
    from dynmeans.runs.reading.window import WindowOptions
    from dynmeans.runs.run import Run

    begin = time.monotonic()
    _prepare(out)
    files = {name: str(out / name) for name in (_SHIPS, _RUN, _LABELS, _REPORT)}
    n_rows = _write_ships(out / _SHIPS)
    if ships:
        fields = {"files": {_SHIPS: files[_SHIPS]}, "n_rows": n_rows}
    else:
        model_config = ModelConfig(
            8.5e-5, max_gap=6.8, reach=2.0, motion="constant_velocity", random_state=0
        )
        windows = WindowOptions(features=("lon,lat",), time="time", every="2min", truth="ship")
        job = ClusterJob(Input(files[_SHIPS]), windows, model_config, out / _RUN)
        status = job.start(overwrite=True).status
        with Run.open(out / _RUN) as run:
            n_returned = len(run.events(kinds=["returned"]))
            export_labels(run, out / _LABELS)
            name_of = as_cli_options(files[_RUN])
            data = run_report(run, title="Ships around a harbor", name_of=name_of)
            write_report(data, out / _REPORT)
        scores = {score.name: score.value for score in data.scores}
        fields = {"files": files, "report": files[_REPORT], "scores": scores}
    if as_json:
        print_json(fields)
        return
    print_line(f"{files[_SHIPS]}: {n_rows:,} positions of 33 ships in three hours.")
    if ships:
        return
    print_line(
        f"{files[_RUN]}: the run. {format_count(status.n_clusters_total, 'cluster')} found, "
        f"{format_count(n_returned, 'return')}; "
        f"{100 * scores['accuracy_per_step']:.1f} % of the rows are with their ship in a window, "
        f"{100 * scores['accuracy_global']:.1f} % keep one cluster ID over all windows."
    )
    print_line(f"{files[_LABELS]}: every row with its cluster ID.")
    print_line(f"All in {time.monotonic() - begin:.1f} s. Now open the report in a browser:")
    print_line(files[_REPORT])


def _prepare(out: Path) -> None:
    """Take an empty folder, or one that holds nothing but an earlier demo."""
    from dynmeans.inputs.input_error import InputError

    out.mkdir(parents=True, exist_ok=True)
    others = sorted({path.name for path in out.iterdir()} - {_SHIPS, _RUN, _LABELS, _REPORT})
    if others:
        rule = "{!r} holds {!r}, which the demo did not make"
        hint = "Name another folder with {out=...}."
        raise InputError("", rule, str(out), others[0], hint=hint)


def _write_ships(path: Path) -> int:
    """Write simulated positions of ships, in order of time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    from dynmeans.datasets.harbor import harbor_traffic

    traffic = harbor_traffic(np.random.default_rng(3))
    seconds = traffic.seconds.astype("timedelta64[s]")
    table = pa.table(
        {
            "time": np.datetime64(_START, "s") + seconds,
            "lon": traffic.positions[:, 0].round(5),
            "lat": traffic.positions[:, 1].round(5),
            "ship": [f"ship {number}" for number in traffic.ships],
        }
    )
    pa.csv.write_csv(table, path)
    return len(seconds)
