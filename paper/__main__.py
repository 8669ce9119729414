"""The experiments of the paper, from one command each; an error is one line."""

import sys

import typer

from paper.aircraft.command import aircraft
from paper.synthetic.command import synthetic

app = typer.Typer(
    help="Repeat an experiment of the paper.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(synthetic)
app.command()(aircraft)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 0 when all went well, 1 on an error, 2 on wrong usage."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        app(args=words, prog_name="python -m paper", standalone_mode=False)
    except (ValueError, TypeError, OSError) as error:
        sys.stderr.write(f"paper: error: {' '.join(str(error).split())}\n")
        return 1
    except Exception as error:
        # Errors of usage carry their exit code, and know how to show themselves.
        if not hasattr(error, "show"):
            raise
        error.show()
        return int(getattr(error, "exit_code", 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
