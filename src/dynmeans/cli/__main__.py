"""The entry point: runs a command, and turns errors into one line and an exit code."""

import os
import sys
import traceback
import warnings
from typing import Any

import dynmeans
from dynmeans._lazy import what_is_needed
from dynmeans.inputs.secrets import without_words

DEBUG = "--debug"
FAILED = 1
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 0 when all went well, 1 on an error, 2 on wrong usage.

    Every failure is one line. ``--debug``, anywhere in the command, shows where it came from.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if "--version" in words[:2]:  # answered with nothing installed but the package
        sys.stdout.write(f"dynmeans {dynmeans.__version__}\n")
        return 0
    is_debugged = DEBUG in words
    words = [word for word in words if word != DEBUG]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _warn(message, words)
            from dynmeans.cli.app import app_for

            result = app_for(words)(args=words, prog_name="dynmeans", standalone_mode=False)
        sys.stdout.flush()
        if result == INTERRUPTED:  # typer turns the key into a result, where it can.
            return _exit_interrupted(words)
        return result if isinstance(result, int) else 0
    except KeyboardInterrupt:
        return _exit_interrupted(words)
    except BrokenPipeError:
        return _handle_broken_pipe()
    except SystemExit as end:
        # typer ends a command whose output was closed by itself.
        if isinstance(end.__context__, BrokenPipeError):
            return _handle_broken_pipe()
        raise
    except Exception as error:
        if is_debugged:
            traceback.print_exc()
        return _exit_with_error(error, words)


def _handle_broken_pipe() -> int:
    """Exit quietly if the pipe is closed, as by `head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    return 0


def _exit_with_error(error: Exception, words: list[str]) -> int:
    # A query of DuckDB that Ctrl-C stopped says so in its own way, and typer turns the key into
    # an exit code; usage errors carry their exit code and know how to show themselves.
    if "Query interrupted" in str(error) or getattr(error, "exit_code", 0) == INTERRUPTED:
        return _exit_interrupted(words)
    if hasattr(error, "exit_code"):
        if hasattr(error, "show"):
            _name_new_option(error)
            message = without_words(getattr(error, "message", ""), words)
            setattr(error, "message", message)  # noqa: B010
            error.show()
            sys.stderr.write(_example_of(getattr(error, "ctx", None)))
        return int(error.exit_code)
    _print_error(without_words(_message_of(error, words), words))
    return FAILED


def _name_new_option(error: Any) -> None:
    """Propose the new name of an option or a command that was renamed."""
    from dynmeans.inputs.old_names import OLD_COMMANDS, find_new_name

    old = str(getattr(error, "option_name", "")).lstrip("-").replace("-", "_")
    command = getattr(getattr(error, "ctx", None), "command", None)
    if command is not None and (new := find_new_name(old, [p.name for p in command.params])):
        error.possibilities = [f"--{new.replace('_', '-')}"]
    for name, new in OLD_COMMANDS.items():
        if str(getattr(error, "message", "")).startswith(f"No such command {name!r}."):
            error.message = f"No such command {name!r}. Did you mean {new!r}?"


def _example_of(context: Any) -> str:
    """Return the first example in the help of the command that was not typed as it takes it."""
    lines = (getattr(getattr(context, "command", None), "help", None) or "").splitlines()
    found = [line.strip() for line in lines if line.strip().startswith("dynmeans ")]
    return f"For example: {found[0]}\n" if found else ""


def _warn(message: Warning | str, words: list[str]) -> None:
    """Print a warning of the library as one line, without the place in the code."""
    from dynmeans.cli import flags, output

    text: Any = message.args[0] if isinstance(message, Warning) and message.args else message
    text = without_words(str(flags.with_flags(text, words)), words)
    output.log_line(f"warning: {' '.join(text.split())}")


def _exit_interrupted(words: list[str]) -> int:
    """Print what is stored and how to resume; only `cluster` leaves work behind."""
    message = "nothing was written."
    if words[:1] == ["cluster"]:
        message = "committed windows are safe (see dynmeans status). To resume, run it again"
        message += " without --overwrite." if "--overwrite" in words else "."
    sys.stderr.write(f"\ndynmeans: interrupted; {message}\n")
    return INTERRUPTED


def _message_of(error: Exception, words: list[str]) -> str:
    """Return the message of the error, with options instead of arguments."""
    if isinstance(error, ModuleNotFoundError) and (message := what_is_needed(error)):
        return f"this {message}"
    if isinstance(error, OSError) and error.strerror and error.filename:
        # The system's own, without their number, the file first.
        return f"{str(error.filename)!r}: {error.strerror}."
    if isinstance(error, MemoryError):
        return "there is not enough memory. Committed work is safe; try smaller windows."
    if not isinstance(error, ValueError | TypeError | OSError):
        # Not foreseen: the type says what the words may not.
        return f"{type(error).__name__}: {error} (run it with {DEBUG} to see where)."
    from dynmeans.cli import flags

    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return flags.with_flags(text, words) if str(text) == str(error) else str(error)


def _print_error(message: str) -> None:
    line = " ".join(message.split()) or "an error without a message."
    from dynmeans.cli import output

    output.log_line(line if output.is_json() else f"error: {line}", "error")


if __name__ == "__main__":
    sys.exit(main())
