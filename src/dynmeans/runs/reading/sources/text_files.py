"""Files of text before DuckDB sees them: as UTF-8, and without those that hold no rows."""

import codecs
import gzip
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

import pyarrow as pa

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.sources.file_kinds import JSON_LINES, kind_of

_CHUNK = 1 << 20
_SEPARATOR = re.compile(r"[,;|\t]")
_NUMBER = re.compile(r"\s*\"?[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\"?\s*")


def files_with_rows(files: list[str]) -> list[str]:
    """Return the files that hold more than a header; refuse if there is none."""
    kept = [name for name in files if _has_rows(name)]
    if kept:
        return kept
    if len(files) > 1:
        raise ValueError(f"none of the {len(files)} files holds a row: {files[0]!r}, ...")
    is_header = Path(files[0]).stat().st_size > 0 and _first_lines(files[0])
    raise ValueError(f"{files[0]!r} holds no rows{', only a header' if is_header else ''}.")


def _has_rows(name: str) -> bool:
    """Look at the first two lines. One alone is a header, unless a number stands in it."""
    if name.endswith(".zst"):
        return True
    lines = _first_lines(name)
    return len(lines) > 1 or any(
        _NUMBER.fullmatch(field) for line in lines for field in _SEPARATOR.split(line)
    )


def _first_lines(name: str) -> list[str]:
    """Return the first two lines that are not blank."""
    with _open_text(name) as file:
        lines = (line.decode("utf-8", "replace") for line in file)
        return list(islice((line for line in lines if line.strip("\ufeff \t\r\n")), 2))


def _open_text(name: str) -> AbstractContextManager[Iterable[bytes]]:
    return gzip.open(name) if name.endswith(".gz") else open(name, "rb")


def recode(files: list[str], encoding: str, folder: Path) -> list[str]:
    """Write the files again in UTF-8, unpacked, and return the new names in the same order."""
    ending = ".jsonl" if kind_of(files[0]) is JSON_LINES else ".csv"
    return [_to_utf8(name, encoding, folder / f"{n}{ending}") for n, name in enumerate(files)]


def _to_utf8(name: str, encoding: str, target: Path) -> str:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with pa.input_stream(name, compression="detect") as source, open(target, "wb") as file:
            while chunk := source.read(_CHUNK):
                file.write(decoder.decode(chunk).encode())
            file.write(decoder.decode(b"", final=True).encode())
    except UnicodeError as error:
        raise InputError("encoding", ": {!r} is not {}", name, encoding) from error
    return str(target)
