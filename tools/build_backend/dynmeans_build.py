"""The build backend: scikit-build-core, with a line about the progress of the compiler.

pip shows no output of a build without -v, so the lines go to the terminal if there is one, or
else to standard error.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from scikit_build_core import build as scikit_build
from scikit_build_core.build import *  # noqa: F403  # the hooks that need no progress

SECONDS_BETWEEN_LINES = 5.0


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build a wheel."""
    with progress_on_terminal():
        return scikit_build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Build a wheel of the compiled part that refers to this folder for the rest."""
    with progress_on_terminal():
        return scikit_build.build_editable(wheel_directory, config_settings, metadata_directory)


@contextmanager
def progress_on_terminal() -> Iterator[None]:
    """Print stages and seconds while something is built."""
    try:
        terminal = open("/dev/tty", "w")  # noqa: SIM115
    except OSError:
        terminal = open(2, "w", closefd=False)  # noqa: SIM115
    begun, ended = time.time(), Event()

    def print_line(text: str) -> None:
        print(f"dynmeans: {text}, {time.time() - begun:.0f} s", file=terminal, flush=True)

    def print_stages() -> None:
        while not ended.wait(SECONDS_BETWEEN_LINES):
            n_files = n_compiled_files(begun)
            print_line(f"compiling C++, {n_files} files done" if n_files else "compiling C++")

    printer = Thread(target=print_stages, daemon=True)
    with terminal:
        print_line("building the compiled engine")
        printer.start()
        try:
            yield
        finally:
            ended.set()
            printer.join()
        print_line("built")


def n_compiled_files(since: float) -> int:
    """Count the object files that were written below build/ since then."""
    return sum(file.stat().st_mtime >= since for file in Path("build").rglob("*.o"))
