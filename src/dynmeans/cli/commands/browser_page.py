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
    """Write a page on which anybody can follow the clusters of a file, without installing anything.

    Open it in a browser and drop a CSV, JSON lines or Parquet file on it. Columns, time, windows
    and a scale are proposed; the clusters can be played, tried at other scales, and downloaded as
    labels. Nothing leaves the browser. `dynmeans try` is the same command.

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
