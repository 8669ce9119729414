"""dynmeans browser-page: a page on which files are clustered in the browser alone."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli import options


def browser_page(
    path: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")
    ] = Path("browser-page.html"),
    as_json: options.AsJson = False,
) -> None:
    """Write a page that clusters a file in the browser, without an installation.

    Open it and drop a CSV, JSON Lines or Parquet file on it. It suggests columns, windows and
    parameters, plays the result, and saves the labels. Nothing leaves the browser. `dynmeans try`
    is the same command.

    [bold]Example[/bold]

    dynmeans browser-page -o page.html

    dynmeans try -o page.html
    """
    from dynmeans.cli.output import print_json, print_line
    from dynmeans.report.browser_page import write_browser_page

    path = write_browser_page(path)
    if as_json:
        print_json({"page": str(path)})
    else:
        print_line(f"{path}: open it in a browser, and drop a file on it")
