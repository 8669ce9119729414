"""dynmeans dead-letters: messages that could not be read as rows."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def dead_letters(
    run_folder: options.RunFolder,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write: JSON lines."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the messages of a stream that could not be read as rows, and why.

    [bold]Example[/bold]

    dynmeans dead-letters run -o letters.jsonl
    """
    import json

    from dynmeans.cli.output import check_folder, print_json, say
    from dynmeans.files.whole_file import whole_file
    from dynmeans.inputs.plural import counted
    from dynmeans.runs.run import Run

    if output is not None:
        check_folder("output", output)
    with Run.open(run_folder) as run:
        if output is not None:
            n_letters = 0
            with whole_file(output) as temporary, open(temporary, "w", encoding="utf-8") as file:
                for letter in run.dead_letters():
                    file.write(json.dumps(letter) + "\n")
                    n_letters += 1
            say(f"{counted(n_letters, 'message')}: {output}")
        elif as_json:
            print_json(list(run.dead_letters()))
        else:
            for letter in run.dead_letters():
                say(f"{letter['position']}: {letter['reason']}")
