"""A run and a server for tests of `dynmeans serve`."""

import socket
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import uvicorn

from dynmeans.runs.reading.window import Window
from dynmeans.serve.server import server_config

PLACES = [[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]]


def windows(n, first=0):
    return [
        Window([[x + 0.01 * (first + i), y] for x, y in PLACES], name=f"window {first + i}")
        for i in range(n)
    ]


@contextmanager
def served(folder: Path, token: str | None = None, port: int = 0):
    """A real server in a thread; gives its address."""
    with closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        server = uvicorn.Server(server_config(folder, token))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        end = time.monotonic() + 60
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            thread.join()
