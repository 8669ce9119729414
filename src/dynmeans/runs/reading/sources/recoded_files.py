"""Text in any encoding as the UTF-8 files that DuckDB reads."""

import codecs
from pathlib import Path

import pyarrow as pa

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.sources.file_kinds import JSON_LINES, kind_of

_CHUNK = 1 << 20


def recode(files: list[str], encoding: str, folder: Path) -> list[str]:
    """Write the files again in UTF-8, unpacked, and return the new names in the same order."""
    ending = ".jsonl" if kind_of(files[0]) is JSON_LINES else ".csv"
    return [_recoded(name, encoding, folder / f"{n}{ending}") for n, name in enumerate(files)]


def _recoded(name: str, encoding: str, target: Path) -> str:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with pa.input_stream(name, compression="detect") as source, open(target, "wb") as file:
            while chunk := source.read(_CHUNK):
                file.write(decoder.decode(chunk).encode())
            file.write(decoder.decode(b"", final=True).encode())
    except UnicodeError as error:
        raise InputError("encoding", ": {!r} is not {}", name, encoding) from error
    return str(target)
