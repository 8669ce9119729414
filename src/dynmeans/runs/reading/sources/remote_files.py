"""Parquet files on other machines: https:// by fsspec (extra "remote"), s3:// by Arrow."""

from typing import Any
from urllib.parse import unquote, urlsplit

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.sources.file_kinds import PARQUET

SCHEMES = ("http", "https", "s3")


def is_remote(path: str) -> bool:
    """Return whether a path is the address of files on another machine."""
    scheme, mark, _ = path.partition("://")
    return bool(mark) and scheme in SCHEMES


def without_secrets(path: str) -> str:
    """Return an address as it is stored and shown: what follows ``?`` may sign it.

    >>> without_secrets("https://host/rows.parquet?signature=secret")
    'https://host/rows.parquet'
    """
    if "@" in path:
        scheme = path.partition("://")[0]
        raise InputError(
            "input",
            f"must not hold a user or a password; this address of {scheme}:// is not shown, for it "
            "may hold one",
            hint="S3 takes credentials from the environment (AWS_ACCESS_KEY_ID and the rest), a "
            "web server from a signed address; write @ as %40.",
        )
    return path.partition("?")[0].partition("#")[0]


def remote_dataset(path: str) -> Any:
    """Return the Parquet file, or all below an s3:// folder whose name ends in ``/``."""
    from pyarrow.dataset import dataset
    from pyarrow.fs import FileSelector, FileSystem, FSSpecHandler, PyFileSystem

    shown = without_secrets(path)
    is_folder = shown.startswith("s3://") and shown.endswith("/")
    if not is_folder and not shown.lower().endswith(PARQUET):
        rule = "at an address must be Parquet ({}), or a folder s3://.../ of it; got {!r}"
        raise InputError("input", rule, ", ".join(PARQUET), shown)
    try:
        if shown.startswith("s3://"):
            filesystem, _ = FileSystem.from_uri(path)
            parts = urlsplit(shown)
            names = [f"{parts.netloc}{unquote(parts.path)}"]
        else:
            from fsspec.implementations.http import HTTPFileSystem

            filesystem, names = PyFileSystem(FSSpecHandler(HTTPFileSystem())), [path]
        if is_folder:
            found = filesystem.get_file_info(FileSelector(names[0], recursive=True))
            names = sorted(one.path for one in found if one.path.lower().endswith(PARQUET))
        return dataset(names, filesystem=filesystem, format="parquet")
    except ModuleNotFoundError:
        raise
    except FileNotFoundError:
        message = f"{shown!r} cannot be read: there is no such file, or the server does not answer."
        raise FileNotFoundError(message) from None
    except Exception as error:  # whose text may hold the whole address
        raise OSError(f"{shown!r} cannot be read ({type(error).__name__}).") from None
