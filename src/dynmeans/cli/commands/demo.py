"""dynmeans demo: the whole job on a stream made here."""

from pathlib import Path
from typing import Annotated

import typer

_STREAM, _RUN, _LABELS, _REPORT = "stream.csv", "run", "labels.csv", "report.html"
_SHIPS = "ships.csv"
_N_WINDOWS = 96
_EVERY = "30min"
_START = "2026-03-01T00:00:00"
_NEW_PENALTY, _MAX_GAP, _REACH = 0.04, 8.0, 1.5


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write to.")
    ] = Path("demo-output"),
    ships: Annotated[
        bool, typer.Option("--ships", help="Only write ships.csv, a file to get started with.")
    ] = False,
    random_state: Annotated[int, typer.Option(help="Seed of the stream.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a stream whose clusters move, are born, die and return; follow them; write a report.

    Does what these four commands do, on a file made for it, with families in the report:

    dynmeans cluster stream.csv --time time --every 30min -f x,y --new-penalty 0.04 ... -o run

    dynmeans score run --truth cluster

    dynmeans labels run -o labels.csv

    dynmeans report run -o report.html

    With --ships it only writes a small file of simulated ship positions: time, lon, lat, ship.
    """
    import time

    from dynmeans.cli.output import print_json, say
    from dynmeans.follow.recipe import Recipe
    from dynmeans.inputs.plural import counted
    from dynmeans.report import write_report
    from dynmeans.report.from_run import run_report
    from dynmeans.runs.cluster_job import ClusterJob
    from dynmeans.runs.export.label_files import export_labels
    from dynmeans.runs.input import Input
    from dynmeans.runs.look.run_families import families_of_run
    from dynmeans.runs.reading.window import WindowOptions
    from dynmeans.runs.run import Run

    begin = time.monotonic()
    _prepare(out)
    if ships:
        n_rows = _write_ships(out / _SHIPS, random_state)
        if as_json:
            print_json({"files": {_SHIPS: str(out / _SHIPS)}, "n_rows": n_rows})
        else:
            say(f"{out / _SHIPS}: {n_rows:,} positions of 33 ships in three hours.")
        return
    n_rows = _write_stream(out / _STREAM, random_state)
    recipe = Recipe(new_penalty=_NEW_PENALTY, max_gap=_MAX_GAP, reach=_REACH, random_state=0)
    options = WindowOptions(features=("x,y",), time="time", every=_EVERY, truth="cluster")
    job = ClusterJob(Input(str(out / _STREAM)), options, recipe, out / _RUN)
    status = job.start(overwrite=True).status
    with Run.open(out / _RUN) as run:
        n_returned = len(run.events(kinds=["returned"]))
        export_labels(run, out / _LABELS)
        data = run_report(run, title="A stream of moving clusters")
        data = data.with_families(families_of_run(run))
    write_report(data, out / _REPORT)
    scores = {score.name: score.value for score in data.scores}
    files = {name: str(out / name) for name in (_STREAM, _RUN, _LABELS, _REPORT)}
    if as_json:
        print_json({"files": files, "report": files[_REPORT], "scores": scores})
        return
    for line in (
        f"{files[_STREAM]}: {n_rows:,} rows in {_N_WINDOWS} half hours; clusters move, are born, "
        "die, vanish and return.",
        f"{files[_RUN]}: the run. {counted(status.n_identities, 'cluster')} found, "
        f"{counted(n_returned, 'return')}; "
        f"{100 * scores['accuracy_per_step']:.1f} % of the rows are with their own kind, "
        f"{100 * scores['accuracy_global']:.1f} % also keep their identity over all windows.",
        f"{files[_LABELS]}: every row with the identity of its cluster.",
        f"All in {time.monotonic() - begin:.1f} s. Now open the report in a browser:",
        files[_REPORT],
    ):
        say(line)


def _prepare(out: Path) -> None:
    """Take an empty folder, or one that holds nothing but an earlier demo."""
    from dynmeans.inputs.input_error import InputError

    out.mkdir(parents=True, exist_ok=True)
    others = sorted(path.name for path in out.iterdir())
    others = [name for name in others if name not in (_STREAM, _RUN, _LABELS, _REPORT, _SHIPS)]
    if others:
        raise InputError(
            "",
            "{!r} holds {!r}, which the demo did not make",
            str(out),
            others[0],
            hint="Name another folder with {out=...}.",
        )


def _write_stream(path: Path, seed: int) -> int:
    """Write a table with a time column: clusters of different sizes, times within each window."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    from dynmeans.datasets.moving_gaussians import moving_gaussians

    rng = np.random.default_rng(seed)
    stream = moving_gaussians(
        n_steps=_N_WINDOWS,
        n_clusters=6,
        points_per_cluster=60,
        spread=0.03,
        motion=0.02,
        death=0.015,
        vanish=0.04,
        rng=rng,
    )
    labels = np.concatenate(stream.labels)
    share = rng.uniform(0.2, 1.0, size=labels.max() + 1)  # of a cluster's points that are kept
    is_kept = rng.random(len(labels)) < share[labels]
    window = np.repeat(np.arange(_N_WINDOWS), [len(batch) for batch in stream.batches])
    seconds = np.sort(window * 1800 + rng.integers(1800, size=len(window)))[is_kept]
    points = np.concatenate(stream.batches)[is_kept].round(5)
    table = pa.table(
        {
            "time": np.datetime64(_START, "s") + seconds.astype("timedelta64[s]"),
            "x": points[:, 0],
            "y": points[:, 1],
            "cluster": labels[is_kept],
        }
    )
    pa.csv.write_csv(table, path)
    return len(points)


def _write_ships(path: Path, seed: int) -> int:
    """Write simulated positions of ships, in order of time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    from dynmeans.datasets.harbor import harbor_traffic

    traffic = harbor_traffic(np.random.default_rng(seed))
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
