"""dynmeans serve: a run in the browser while it grows."""

import os
import secrets
from typing import Annotated

import typer

from dynmeans.cli import options


def serve(
    run_folder: options.RunFolder,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8765,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any address but this machine's own needs a token."
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DYNMEANS_TOKEN",
            help="Token that requests must send; a random one is made if --host is not "
            "this machine.",
        ),
    ] = None,
) -> None:
    """Show a run in the browser and serve it over HTTP, also while it is being written.

    [bold]Example[/bold]

    dynmeans serve run --port 8765
    """
    from dynmeans.cli.output import print_line
    from dynmeans.serve.guard import LOOPBACK
    from dynmeans.serve.server import check_free
    from dynmeans.serve.server import serve as serve_run

    if token is None and host not in LOOPBACK:
        token = secrets.token_urlsafe(24)
    shown = f"[{host}]" if ":" in host else host
    given = os.environ.get("DYNMEANS_TOKEN") == token
    asked = "" if token is None or given else f"?token={token}"
    check_free(host, port)
    print_line(f"http://{shown}:{port}/{asked} (Ctrl-C ends it)")
    serve_run(run_folder, host, port, token)
