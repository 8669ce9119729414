"""The entry point: runs a command, and turns errors into one line and an exit code."""

import importlib
import sys

# The package that is missing, and the extra that brings it.
EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "runs",
    "matplotlib": "plots",
    "optuna": "tune",
    "pandas": "frames",
    "pyarrow": "runs",
    "pyspark": "spark",
    "rich": "runs",
    "typer": "runs",
}
FAILED = 1
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 0 when all went well, 1 on an error, 2 on wrong usage."""
    try:
        app = importlib.import_module("dynmeans.cli.app").app
        result = app(args=arguments, prog_name="dynmeans", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except KeyboardInterrupt:
        return _stopped()
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        extra = EXTRAS[package]
        return _fail(f"this needs {package}: pip install 'dynmeans[{extra}]'.", FAILED)
    except (ValueError, TypeError, OSError) as error:
        words = sys.argv[1:] if arguments is None else arguments
        flags = importlib.import_module("dynmeans.cli.flags")
        return _fail(flags.with_flags(_words_of(error), words), FAILED)
    except Exception as error:
        # A query of DuckDB that Ctrl-C stopped says so in its own way, and typer turns the key into
        # an exit code; usage errors carry their exit code and know how to show themselves.
        if "Query interrupted" in str(error) or getattr(error, "exit_code", 0) == INTERRUPTED:
            return _stopped()
        if not hasattr(error, "exit_code"):
            raise
        if hasattr(error, "show"):
            error.show()
        return int(error.exit_code)


def _stopped() -> int:
    sys.stderr.write(
        "dynmeans: interrupted. What was committed is safe; the same command goes on.\n"
    )
    return INTERRUPTED


def _words_of(error: Exception) -> str:
    """Return the message of an error; the system's own without their number, the file first."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{str(error.filename)!r}: {error.strerror}."
    return str(error) or type(error).__name__


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"dynmeans: error: {line}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
