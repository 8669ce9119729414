"""One file of named arrays and metadata: versioned, checksummed, written whole or not at all."""

import hashlib
import io
import json
import math
import os
import reprlib
import zipfile
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dynmeans.files.atomic_write import atomic_write
from dynmeans.files.checked_read import raise_if_damaged, read_regular_file

Arrays = dict[str, npt.NDArray[Any]]
Record = TypeVar("Record")

_METADATA = "metadata"
_ZIP_MAGIC = b"PK\x03\x04"


def write_archive(
    path: str | os.PathLike[str], kind: str, version: int, arrays: Arrays, metadata: dict[str, Any]
) -> None:
    """Write the arrays and the metadata to `path`, replacing it only once all is on disk."""
    with atomic_write(path) as temporary:
        _write(temporary, kind, version, arrays, metadata)


def pack_archive(kind: str, version: int, arrays: Arrays, metadata: dict[str, Any]) -> bytes:
    """Return what `write_archive` writes."""
    stream = io.BytesIO()
    _write(stream, kind, version, arrays, metadata)
    return stream.getvalue()


def _write(target: Any, kind: str, version: int, arrays: Arrays, metadata: dict[str, Any]) -> None:
    header = {"kind": kind, "version": version, **metadata}
    header["sha256"] = _checksum(arrays, header)
    text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), dtype=np.uint8)
    with zipfile.ZipFile(target, "w") as archive:
        # As np.savez does, which can be told to pickle nothing only since NumPy 2.1.
        for name, array in {_METADATA: text, **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_archive(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    make: Callable[[Arrays, dict[str, Any]], Record],
) -> Record:
    """Return `make(arrays, metadata)` of what `write_archive` wrote.

    Anything else raises `ValueError` with the reason, before it takes more memory than the file.
    """
    data = read_regular_file(path, _ZIP_MAGIC, f"a dynmeans {kind} file")
    return unpack_archive(data, path, kind, version, make)


def unpack_archive(
    data: bytes,
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    make: Callable[[Arrays, dict[str, Any]], Record],
) -> Record:
    """As `read_archive`, from what `pack_archive` gave; `path` is what errors call it."""
    with raise_if_damaged(path, f"a dynmeans {kind} file"):
        arrays = _read_arrays(data)
        header = json.loads(arrays.pop(_METADATA).tobytes())
        checksum, found_kind, found_version = (
            header.pop("sha256"),
            header["kind"],
            header["version"],
        )
    if found_kind != kind:
        raise ValueError(f"{os.fspath(path)!r} holds a {reprlib.repr(found_kind)}, not a {kind!r}.")
    if found_version != version:
        raise ValueError(
            f"{os.fspath(path)!r} has format version {reprlib.repr(found_version)}; this "
            f"dynmeans reads version {version}. Use the release of dynmeans that wrote it."
        )
    with raise_if_damaged(path, f"a dynmeans {kind} file"):
        if checksum != _checksum(arrays, header):
            raise ValueError("it was changed after it was written: checksum differs.")
        return make(arrays, header)


def _read_arrays(data: bytes) -> Arrays:
    """Read every member of an .npz file that was stored as it is, as `write_archive` does."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        # A compressed member, or many that share their bytes, could be far larger than the file.
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("its arrays are compressed, and dynmeans never writes them so.")
        n_bytes = sum(member.file_size for member in members)
        if n_bytes > len(data):
            raise ValueError(f"it claims {n_bytes} bytes of arrays, but has {len(data)} in all.")
        return {
            member.filename.removesuffix(".npy"): _read_array(archive.read(member))
            for member in members
        }


def _read_array(data: bytes) -> npt.NDArray[Any]:
    """Read one .npy member of numbers; its shape must account for every byte."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array has a header of an unknown version.")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    body = memoryview(data)[stream.tell() :]
    if dtype.kind not in "iuf" or math.prod(shape) * dtype.itemsize != len(body):
        raise ValueError(f"an array of {dtype} and shape {shape} does not fit its bytes.")
    return np.frombuffer(body, dtype=dtype).reshape(shape, order="F" if is_fortran else "C")


def _checksum(arrays: Arrays, header: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
