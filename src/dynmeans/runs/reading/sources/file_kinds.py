"""Which files there are to read, and of what kind each is, by the end of its name."""

from pathlib import Path

from dynmeans.inputs.secrets import NOT_SHOWN, quote_safely

_PACKED = ("", ".gz", ".zst")
CSV = tuple(f"{kind}{packed}" for packed in _PACKED for kind in (".csv", ".tsv", ".txt"))
JSON_LINES = tuple(f"{kind}{packed}" for packed in _PACKED for kind in (".jsonl", ".ndjson"))
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
DATABASE = (".duckdb", ".ddb", ".db")
_FILES = (CSV, JSON_LINES, PARQUET, ARROW)
_KNOWN = tuple(ending for kind in _FILES for ending in kind)
_SHOWN = ".csv, .tsv, .txt, .jsonl, .ndjson (these also with .gz or .zst), .parquet, .pq, .arrow, "
_SHOWN += ".feather, .ipc, .duckdb, .ddb or .db"


def kind_of(name: str) -> tuple[str, ...]:
    """Return the endings of the kind of a file.

    >>> kind_of("rows.csv.gz") is CSV
    True
    """
    for kind in _FILES:
        if name.lower().endswith(kind):
            return kind
    raise ValueError(f"unsupported file type: {quote_safely(name)}. The name must end in {_SHOWN}.")


def find_files(path: str) -> list[str]:
    """Return the files that a path, a pattern or a folder stands for, sorted by name."""
    scheme, mark, _ = path.partition("://")
    if mark:  # what follows may hold a password, and so may what comes before
        message = f"{scheme + mark!r}..." if scheme.isalnum() else NOT_SHOWN
        raise ValueError(
            f"unknown address scheme {message}. Install the connector for it, or give a file."
        )
    given = Path(path)
    if given.is_dir():
        every = (p for p in given.rglob("*") if p.name.lower().endswith(_KNOWN) and p.is_file())
        files = sorted(map(str, every))
    elif given.is_file():
        files = [path]
    else:
        anchor = given.anchor or "."
        pattern = str(given.relative_to(anchor)) if given.anchor else path
        files = sorted(str(p) for p in Path(anchor).glob(pattern) if p.is_file()) if path else []
    if not files:
        raise FileNotFoundError(f"there is no file {quote_safely(path)} to read.")
    if len({kind_of(name) for name in files}) > 1:
        raise ValueError(f"{quote_safely(path)} holds files of several kinds; name those to read.")
    return files
