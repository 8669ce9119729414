"""One Parquet file that an experiment fills row by row, and goes on filling after a stop.

Every row has a key, some of its columns, that says which trial it is of. The configuration lies
in the file, with the machine and the versions of every session that wrote to it. The file is
always whole: it is written beside itself and renamed, so that a killed run loses a few seconds.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.machine import describe_machine
from dynmeans.files.atomic_write import atomic_write

Row = Mapping[str, Any]
SESSION = "session"
RESULTS = Path(__file__).parent / "results"  # those in the repository

_HEADER = b"dynmeans.experiment"
_VERSION = 1
_WRITE_EVERY_S = 5.0
_MISSING = "nothing"


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What a results file holds.

    Attributes
    ----------
    frame : pandas.DataFrame
        The rows; `session` is the position in `sessions` of the one that made the row.
    configuration : dict
        What the experiment was asked for.
    sessions : list of dict
        When, on which machine and with which versions the rows were made.
    """

    frame: pd.DataFrame
    configuration: dict[str, Any]
    sessions: list[dict[str, Any]]


class ResultsFile:
    """Rows of one experiment, open for appending; use it in a `with` block.

    Parameters
    ----------
    path : path-like
        The Parquet file; made if absent, continued if it is of the same configuration.
    experiment : str
        Name of the experiment.
    configuration : mapping
        All that the rows depend on beside their keys; made of what JSON knows.
    schema : pyarrow.Schema
        The columns of a row.
    key : sequence of str
        The columns that say which trial a row is of.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        experiment: str,
        configuration: Mapping[str, Any],
        schema: pa.Schema,
        key: Sequence[str],
    ) -> None:
        self.path = Path(path)
        self._experiment = experiment
        self._configuration = json.loads(json.dumps(dict(configuration)))
        self._schema = schema.append(pa.field(SESSION, pa.int32()))
        self._key = tuple(key)
        self._table = self._schema.empty_table()
        self._sessions: list[dict[str, Any]] = []
        self._waiting: list[dict[str, Any]] = []
        self._keys: set[tuple[Any, ...]] = set()
        self._written_at = 0.0

    def __enter__(self) -> Self:
        """Take hold of the file, and read what is there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._take_hold()
        try:
            if self.path.exists():
                self._continue()
        except BaseException:
            self._let_go()
            raise
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self._sessions.append({"started": started, **describe_machine()})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what is waiting, whatever happened, and let go of the file."""
        try:
            if self._waiting or not self.path.exists():
                self._write()
        finally:
            self._let_go()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._table) + len(self._waiting)

    def missing(self, tasks: Iterable[Row]) -> list[Row]:
        """Return the tasks, in their order, that have no row yet; each once."""
        wanted = {self._key_of(task): task for task in tasks}
        return [task for key, task in wanted.items() if key not in self._keys]

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows; they are on disk some seconds later, or when the block is left."""
        for row in rows:
            key = self._key_of(row)
            if key in self._keys:
                raise ValueError(f"there is a row already of {self._named(key)}.")
            self._keys.add(key)
            self._waiting.append({**row, SESSION: len(self._sessions) - 1})
        if time.monotonic() - self._written_at >= _WRITE_EVERY_S:
            self._write()

    def frame(self) -> pd.DataFrame:
        """Return all rows so far."""
        return self._all_rows().to_pandas()

    def _key_of(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._key)

    def _named(self, key: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self._key, key, strict=True))

    def _take_hold(self) -> None:
        self._lock_path = Path(f"{self.path}.lock")
        self._lock = os.open(self._lock_path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The run that let go a moment ago may have taken this lock's file away.
            if os.fstat(self._lock).st_ino != self._lock_path.stat().st_ino:
                raise BlockingIOError
        except OSError as error:
            os.close(self._lock)
            raise ValueError(
                f"another run is writing to {str(self.path)!r}; wait for it or write elsewhere."
            ) from error

    def _let_go(self) -> None:
        self._lock_path.unlink(missing_ok=True)
        os.close(self._lock)

    def _continue(self) -> None:
        table, header = _read(self.path, self._experiment)
        _check_same(self.path, header["configuration"], self._configuration)
        if not table.schema.equals(self._schema):
            raise ValueError(
                f"{str(self.path)!r} has columns {table.schema.names}, "
                f"but this experiment writes {self._schema.names}."
            )
        self._table = table.replace_schema_metadata(None)
        self._sessions = header["sessions"]
        self._keys = {self._key_of(row) for row in table.select(self._key).to_pylist()}

    def _all_rows(self) -> pa.Table:
        new = pa.Table.from_pylist(self._waiting, schema=self._schema)
        return pa.concat_tables([self._table, new])

    def _write(self) -> None:
        table = self._all_rows().combine_chunks()
        header = {
            "version": _VERSION,
            "experiment": self._experiment,
            "configuration": self._configuration,
            "sessions": self._sessions,
        }
        metadata = {_HEADER: json.dumps(header).encode()}
        with atomic_write(self.path) as temporary:
            whole = table.replace_schema_metadata(metadata)
            pq.write_table(whole, temporary, compression="zstd", compression_level=19)
        self._table, self._waiting = table, []
        self._written_at = time.monotonic()


def read_results(path: str | os.PathLike[str], experiment: str) -> Results:
    """Read what a `ResultsFile` of that experiment wrote; anything else is refused."""
    table, header = _read(Path(path), experiment)
    frame = table.replace_schema_metadata(None).to_pandas()
    return Results(frame, header["configuration"], header["sessions"])


def _read(path: Path, experiment: str) -> tuple[pa.Table, dict[str, Any]]:
    try:
        table = pq.read_table(path)
        header = json.loads((table.schema.metadata or {})[_HEADER])
    except FileNotFoundError as error:
        raise FileNotFoundError(f"there is no results file {str(path)!r}.") from error
    except (pa.ArrowInvalid, KeyError) as error:
        raise ValueError(f"{str(path)!r} is not a dynmeans results file.") from error
    if header["version"] != _VERSION:
        raise ValueError(
            f"{str(path)!r} has format version {header['version']}; this dynmeans reads "
            f"version {_VERSION}."
        )
    if header["experiment"] != experiment:
        raise ValueError(
            f"{str(path)!r} is of the experiment {header['experiment']!r}, not {experiment!r}."
        )
    return table, header


def _check_same(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Refuse to continue a file of another configuration, and say field by field what differs."""
    differences = [
        f"{name} is {there.get(name, _MISSING)!r} there and {here.get(name, _MISSING)!r} here"
        for name in sorted(there.keys() | here.keys())
        if there.get(name, _MISSING) != here.get(name, _MISSING)
    ]
    if differences:
        raise ValueError(
            f"{str(path)!r} was made with another configuration: {'; '.join(differences)}. "
            "Write elsewhere, or delete it to start over."
        )
