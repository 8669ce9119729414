"""One file of named arrays and metadata: versioned, checksummed, written whole or not at all."""

import hashlib
import json
import os
import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.files.whole_file import whole_file

Arrays = dict[str, npt.NDArray[Any]]

_METADATA = "metadata"


def write_archive(
    path: str | os.PathLike[str], kind: str, version: int, arrays: Arrays, metadata: dict[str, Any]
) -> None:
    """Write the arrays and the metadata to `path`, replacing it only once all is on disk."""
    header = {"kind": kind, "version": version, **metadata}
    header["sha256"] = _checksum(arrays, header)
    text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), dtype=np.uint8)
    with whole_file(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **{_METADATA: text}, **arrays)


def read_archive(
    path: str | os.PathLike[str], kind: str, version: int
) -> tuple[Arrays, dict[str, Any]]:
    """Read what `write_archive` wrote; anything else is refused with the reason."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            header = json.loads(arrays.pop(_METADATA).tobytes())
            checksum, found_kind, found_version = (
                header.pop("sha256"),
                header["kind"],
                header["version"],
            )
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{os.fspath(path)!r} is not a dynmeans {kind} file, or it is damaged: {error}"
        ) from error
    if found_kind != kind:
        raise ValueError(f"{os.fspath(path)!r} holds a {found_kind!r}, not a {kind!r}.")
    if found_version != version:
        raise ValueError(
            f"{os.fspath(path)!r} has format version {found_version!r}; this dynmeans reads "
            f"version {version}. Use the release of dynmeans that wrote it."
        )
    if checksum != _checksum(arrays, header):
        raise ValueError(f"{os.fspath(path)!r} was changed after it was written: checksum differs.")
    return arrays, header


def _checksum(arrays: Arrays, header: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
