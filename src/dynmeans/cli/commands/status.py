"""dynmeans status and dynmeans summary: how far a run is, and what happened in it."""

from dataclasses import asdict
from typing import Annotated

import typer

from dynmeans.cli import options


def status(
    run_folder: options.RunFolder,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also read everything and compare the checksums.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Print the progress and the counts of a run, also while it is being written.

    [bold]Example[/bold]

    dynmeans status run --json
    """
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.inputs.format_count import format_count
    from dynmeans.runs.reading.late_rows import late_warning
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        if verify:
            run.verify()
        found = run.status()
        is_choosing = run.config.model_config.is_auto and not run.has_windows
    if as_json:
        print_json(asdict(found) | ({"is_verified": True} if verify else {}))
        return
    state = "running" if found.is_running else "complete" if found.is_finished else "stopped"
    lines = {
        "run": f"{found.folder} ({state})",
        "windows": f"{found.n_windows:,} ({format_count(found.clock, 'step')})",
        "from, to": f"{found.first_window or '-'}, {found.last_window or '-'}",
        "rows": f"{found.n_rows:,} ({found.n_dropped_rows:,} dropped, {found.n_late_rows:,} late)",
        "clusters": f"{found.n_active_clusters} now, {found.n_remembered_clusters} remembered, "
        f"{found.n_clusters_total} in total ({found.n_unconfirmed} unconfirmed)",
        "level": f"{found.level}, {format_count(found.n_subclusters, 'subcluster')}, "
        f"{format_count(found.n_noise, 'row')} of noise",
        "cost": "-" if found.cost is None else f"{found.cost:.6g}",
        "labels": f"{format_count(found.n_label_files, 'file')}, {found.label_bytes / 1e6:,.1f} MB",
    }
    if is_choosing:
        lines["waiting"] = "for enough rows to choose parameters"
    if found.n_dead_letters:
        lines["dead letters"] = f"{found.n_dead_letters:,} messages could not be read as rows"
    if message := late_warning(found.late_share):
        lines["warning"] = message
    if verify:
        lines["verified"] = "all checksums match"
    for name, text in lines.items():
        print_line(f"{name:<9} {text}")


def summary(run_folder: options.RunFolder, as_json: options.AsJson = False) -> None:
    """Summarize a run: clusters, the largest, returns, splits and dropped rows.

    [bold]Example[/bold]

    dynmeans summary run
    """
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.inputs.argument_text import as_cli_options
    from dynmeans.runs.analysis.summary import summarize_run
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        sentences = summarize_run(run, as_cli_options(str(run_folder)))
    if as_json:
        print_json(sentences)
        return
    for sentence in sentences:
        print_line(sentence)
