"""dynmeans dead-letters: messages that could not be read as rows."""

from dynmeans.cli import options


def dead_letters(run_folder: options.RunFolder, as_json: options.AsJson = False) -> None:
    """List the messages of a stream that could not be read as rows, and why.

    [bold]Example[/bold]

    dynmeans dead-letters run --json
    """
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        if as_json:
            print_json(list(run.dead_letters()))
            return
        for letter in run.dead_letters():
            print_line(f"{letter['position']}: {letter['reason']}")
