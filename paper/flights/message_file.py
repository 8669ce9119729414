"""A file of messages as arrays: column names found or given, read part by part through DuckDB."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from dynmeans.records.arrays import FloatArray, IntArray

REQUIRED = ("id", "time", "latitude", "longitude", "speed")
# Names that files use, in order of preference; matched without regard to case.
KNOWN_NAMES = {
    "id": ("id", "flight", "flight_id", "icao24", "icao", "hex", "mmsi", "aircraft", "callsign"),
    "time": ("time", "timestamp", "t", "datetime", "basedatetime", "unixtime"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "long", "lng"),
    "speed": ("speed", "speed_kt", "groundspeed", "ground_speed", "velocity", "gs", "sog"),
    "heading": ("heading", "track", "course", "cog", "true_track"),
}
_CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".txt")
_MESSAGES_A_PART = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Messages of some ids, in the order of the file; what could not be read is NaN.

    Attributes
    ----------
    ids : list of str
        The ids; `codes` are places in this list, -1 where a message has none.
    codes : IntArray of shape (n_messages,)
    times, latitudes, longitudes, speeds : FloatArray of shape (n_messages,)
    headings : FloatArray of shape (n_messages,), or None
        Degrees from North towards East.
    """

    ids: list[str]
    codes: IntArray
    times: FloatArray
    latitudes: FloatArray
    longitudes: FloatArray
    speeds: FloatArray
    headings: FloatArray | None

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.codes)

    def select(self, rows: IntArray) -> "Messages":
        """Return these rows."""
        return replace(
            self,
            codes=self.codes[rows],
            times=self.times[rows],
            latitudes=self.latitudes[rows],
            longitudes=self.longitudes[rows],
            speeds=self.speeds[rows],
            headings=None if self.headings is None else self.headings[rows],
        )


class MessageFile:
    """A CSV or Parquet file of messages.

    Parameters
    ----------
    path : path
        CSV (also compressed) or Parquet, by its ending; `*` may stand for many files.
    columns : mapping, optional
        Which column holds the "id", "time", "latitude", "longitude", "speed" and "heading". What
        is not given is looked for under well-known names. A heading of None is not looked for.

    Attributes
    ----------
    columns : dict of str to str
        The columns used.
    is_dated : bool
        Whether the time column holds dates rather than numbers.
    n_messages : int
    """

    def __init__(self, path: str | Path, columns: Mapping[str, str | None] | None = None) -> None:
        self.path = str(path)
        if "*" not in self.path and not Path(path).is_file():
            raise FileNotFoundError(f"there is no file {self.path}.")
        self._connection = duckdb.connect()
        self._table = _reader(self.path)
        self._types = self._column_types()
        self.columns = _choose_columns(self._types, dict(columns or {}), self.path)
        self.is_dated = self._has_dates()
        self.n_messages = self._count()

    def parts(self, messages_a_part: int = _MESSAGES_A_PART) -> Iterator[Messages]:
        """Read the messages in parts that hold all messages of their ids."""
        n_parts = max(1, -(-self.n_messages // messages_a_part))
        for part in range(n_parts):
            yield self._read(part, n_parts)

    def _column_types(self) -> dict[str, str]:
        try:
            rows = self._connection.sql(f"DESCRIBE SELECT * FROM {self._table}").fetchall()
        except duckdb.Error as error:
            raise ValueError(f"{self.path} cannot be read: {_first_line(error)}") from error
        return {row[0]: row[1] for row in rows}

    def _count(self) -> int:
        return int(self._connection.sql(f"SELECT count(*) FROM {self._table}").fetchall()[0][0])

    def _has_dates(self) -> bool:
        """Tell whether times are dates; of a text, by what most of it can be read as."""
        kind = self._types[self.columns["time"]]
        if kind != "VARCHAR":
            return kind.startswith(("TIMESTAMP", "DATE"))
        query = (
            f"SELECT count({self._dates()}) > count({self._as_type('time', 'DOUBLE')}) "
            f"FROM (SELECT * FROM {self._table} LIMIT 10000)"
        )
        return bool(self._connection.sql(query).fetchall()[0][0])

    def _read(self, part: int, n_parts: int) -> Messages:
        numbers = [
            f"{self._as_type(key, 'DOUBLE')} AS {key}"
            for key in self.columns
            if key not in ("id", "time")
        ]
        time = f"epoch({self._dates()})" if self.is_dated else self._as_type("time", "DOUBLE")
        identity = f"CAST({_quoted(self.columns['id'], chr(34))} AS VARCHAR)"
        where = f"WHERE hash(coalesce({identity}, '')) % {n_parts} = {part}" if n_parts > 1 else ""
        query = (
            f"SELECT {identity} AS id, CAST({time} AS DOUBLE) AS time, {', '.join(numbers)} "
            f"FROM {self._table} {where}"
        )
        try:
            table = self._connection.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise ValueError(f"{self.path} cannot be read: {_first_line(error)}") from error
        return _messages(table)

    def _dates(self) -> str:
        """SQL for dates; a column that has a time zone keeps it."""
        if self._types[self.columns["time"]] == "VARCHAR":
            return self._as_type("time", "TIMESTAMP")
        return _quoted(self.columns["time"], '"')

    def _as_type(self, key: str, kind: str) -> str:
        """SQL for a column as another type; what cannot be read is NULL."""
        name = _quoted(self.columns[key], '"')
        # Without the trim DuckDB leaves the cast to the CSV reader, which fails on a bad value.
        value = f"trim({name})" if self._types[self.columns[key]] == "VARCHAR" else name
        return f"TRY_CAST({value} AS {kind})"


def _messages(table: pa.Table) -> Messages:
    ids = table.column("id").combine_chunks()
    if isinstance(ids, pa.ChunkedArray):  # of no rows
        ids = pa.array([], type=pa.string())
    encoded = ids.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)

    def column(name: str) -> FloatArray:
        values = table.column(name).to_numpy()
        return np.asarray(values, dtype=np.float64)

    has_heading = "heading" in table.column_names
    return Messages(
        encoded.dictionary.to_pylist(),
        codes,
        column("time"),
        column("latitude"),
        column("longitude"),
        column("speed"),
        column("heading") if has_heading else None,
    )


def _choose_columns(
    types: dict[str, str], given: dict[str, str | None], path: str
) -> dict[str, str]:
    unknown = given.keys() - KNOWN_NAMES.keys()
    if unknown:
        raise ValueError(
            f"columns may name {', '.join(KNOWN_NAMES)}; got {', '.join(sorted(unknown))}."
        )
    by_lower = {name.lower(): name for name in types}
    chosen: dict[str, str] = {}
    for key, candidates in KNOWN_NAMES.items():
        if key in given:
            wanted = given[key]
            if wanted is None and key == "heading":
                continue
            if wanted not in types:
                raise ValueError(
                    f"{path} has no column {wanted!r} for the {key}; it has {', '.join(types)}."
                )
            chosen[key] = wanted
            continue
        found = next((by_lower[name] for name in candidates if name in by_lower), None)
        if found is not None:
            chosen[key] = found
        elif key in REQUIRED:
            raise ValueError(
                f"{path} has no column for the {key}; it has {', '.join(types)}. "
                f"Say which one to use."
            )
    return chosen


def _reader(path: str) -> str:
    name = _quoted(path, "'")
    if path.lower().endswith(".parquet"):
        return f"read_parquet({name})"
    if path.lower().endswith(_CSV):
        # As text: a word among numbers is then one message lost, and not the whole file.
        return f"read_csv({name}, header = true, all_varchar = true)"
    raise ValueError(f"{path} must end in .parquet or one of {', '.join(_CSV)}.")


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace(quote, 2 * quote) + quote


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
