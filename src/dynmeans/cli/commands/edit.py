"""dynmeans edit: clusters that are shown as one, or kept, on top of what was found."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from dynmeans.cli import options

if TYPE_CHECKING:
    from dynmeans.runs.analysis.suggested_matches import SuggestedMatch
    from dynmeans.runs.edits import Edit

ACTIONS = {"merge": 2, "pin": 1, "undo": 0, "log": 0, "matches": 0}  # clusters that each is given


def edit(
    run_folder: options.RunFolder,
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="merge, pin, undo, log or matches.")
    ] = "log",
    clusters: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="CLUSTER...",
            help="merge: the ID to keep, then the ID to merge into it; pin: one ID.",
        ),
    ] = None,
    edit_id: Annotated[
        int | None,
        typer.Option(metavar="N", help="undo: the number of the edit; the last one by default."),
    ] = None,
    author: options.Author = None,
    as_json: options.AsJson = False,
) -> None:
    """Merge two clusters, pin a small one, or undo that; the stored labels are not modified.

    Every edit is logged with author and time. merge and undo change the output of labels,
    clusters, report and plot. A pinned cluster is confirmed regardless of --min-cluster-size and
    --min-batches. matches lists new clusters that may be forgotten ones; merge accepts one.

    [bold]Examples[/bold]

    dynmeans edit run merge 7 9

    dynmeans edit run undo

    dynmeans edit run log
    """
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.inputs.input_error import InputError
    from dynmeans.inputs.old_names import suggest_value
    from dynmeans.runs.analysis.suggested_matches import suggested_matches_of_run
    from dynmeans.runs.run import Run

    ids = clusters or []
    if action not in ACTIONS:
        hint = suggest_value(action, ACTIONS)
        raise InputError("action", f"must be one of {', '.join(ACTIONS)}", got=action, hint=hint)
    if len(ids) != ACTIONS[action]:
        rule = "{} takes {}, got {}"
        wanted = ("no cluster", "the ID of a cluster", "two clusters")[ACTIONS[action]]
        raise InputError("", rule, action, wanted, " ".join(map(str, ids)) or "none")
    with Run.open(run_folder) as run:
        if action == "merge":
            run.merge_clusters(*ids, author=author)
        elif action == "pin":
            run.pin_cluster(*ids, author=author)
        elif action == "undo":
            run.undo_edit(edit_id, author=author)
        edits, matches = (
            run.edits,
            suggested_matches_of_run(run) if action == "matches" else [],
        )
    if action == "matches":
        _show_matches(matches, run_folder, as_json)
        return
    shown = edits.log if action == "log" else edits.log[-1:]
    undone = edits.undone_edits()
    if as_json:
        print_json([{**asdict(e), "is_undone": e.edit_id in undone} for e in shown])
        return
    for entry in shown:
        tail = " (undone)" if entry.edit_id in undone else ""
        print_line(
            f"{entry.edit_id}  {entry.created_at}  {entry.author}: {_format_edit(entry)}{tail}"
        )


def _show_matches(matches: "list[SuggestedMatch]", folder: object, as_json: bool) -> None:
    from dynmeans.cli.output import print_json, print_line

    if as_json:
        print_json([link._asdict() for link in matches])
        return
    for line in [_format_match(link, folder) for link in matches] or ["No matches."]:
        print_line(str(line))


def _format_match(link: "SuggestedMatch", folder: object) -> str:
    return (
        f"{link.other_id} appeared at the position of {link.cluster_id} after a gap of "
        f"{link.gap:.4g} steps ({link.distance:.3g} away): "
        f"dynmeans edit {folder} merge {link.cluster_id} {link.other_id}"
    )


def _format_edit(entry: "Edit") -> str:
    if entry.kind == "name":
        return f"name {entry.cluster_id} {entry.text!r}"
    if entry.kind == "merge":
        return f"merge {entry.other_id} into {entry.cluster_id}"
    return f"pin {entry.cluster_id}" if entry.kind == "pin" else f"undo {entry.other_id}"
