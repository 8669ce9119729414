"""dynmeans events: what happened to the clusters of a run."""

from typing import Annotated

import typer

from dynmeans.cli import options


def events(
    run_folder: options.RunFolder,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            "-k",
            help="Only these: born, moved, vanished, returned, forgotten, split, merged; may be "
            "repeated. All but moved by default.",
        ),
    ] = None,
    cluster: Annotated[int | None, typer.Option(help="Only this cluster.")] = None,
    last: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the last N.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the events of clusters: births, gaps, returns, splits and merges.

    [bold]Example[/bold]

    dynmeans events run --kind born --kind returned --last 20
    """
    from dynmeans.cli.output import format_cluster, print_json, print_line
    from dynmeans.inputs.format_count import format_count
    from dynmeans.inputs.input_error import InputError
    from dynmeans.records.events import KINDS
    from dynmeans.runs.edits import CLUSTERS_HINT
    from dynmeans.runs.run import Run
    from dynmeans.spaces.raw import RAW

    known = [name for name in KINDS if name != "joined"]  # of families, which no run keeps
    kinds = kind or [name for name in known if name != "moved"]
    if unknown := set(kinds) - set(known):
        raise InputError("kind", f"must be one of {', '.join(known)}", got=sorted(unknown)[0])
    with Run.open(run_folder) as run:
        space = RAW if run.memory is None else run.memory.space_or_raw
        names = run.edits.display_names()
        rows = run.events(kinds=kinds, cluster_id=cluster, frame="arrow").to_pylist()
        # Every cluster was born.
        if not rows and cluster is not None and not len(run.events(cluster_id=cluster)):
            raise InputError("cluster", ": cluster {} does not exist", cluster, hint=CLUSTERS_HINT)
        rows.sort(key=lambda row: row["step"])
    rows = rows if last is None else rows[len(rows) - min(last, len(rows)) :]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        other = {"split": "from", "merged": "into"}.get(row["kind"])
        tail = f" {other} {format_cluster(row['other_id'], names)}" if other else ""
        tail += f" after {format_count(row['gap'], 'step')}" if row["gap"] is not None else ""
        if row.get("displacement"):
            tail += f", by {space.format_distance(row['displacement'] ** 2)}"
        who = format_cluster(row["cluster_id"], names)
        print_line(f"{row['window'] or row['step']}  {row['kind']:<9} {who}{tail}")
