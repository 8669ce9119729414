"""Rows of Parquet files, read row group by row group."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.files.damage import refusing_damage
from dynmeans.files.stamp import FileStamp
from dynmeans.records.arrays import BatchArray
from dynmeans.scale.anytime.sources import as_batch, check_not_empty


class ParquetSource:
    """Numeric columns of one Parquet file, or of all in a folder, in the order of their names."""

    has_cheap_rows = False

    def __init__(self, path: Path, columns: list[str] | None) -> None:
        self.is_folder = not path.is_file()
        self.root = path if self.is_folder else path.parent
        self.files = sorted(path.rglob("*.parquet")) if self.is_folder else [path]
        if not self.files:
            raise ValueError(f"source must hold .parquet files, got none in {str(path)!r}.")
        self._stamps = [FileStamp.of(file) for file in self.files]
        self._open = [_open_file(file) for file in self.files]
        self.columns = _choose_columns(self._open, self.files, columns)
        self.n_features = len(self.columns)
        self.groups = [
            (number, group, file.metadata.row_group(group).num_rows)
            for number, file in enumerate(self._open)
            for group in range(file.num_row_groups)
        ]
        self.sizes = np.array([n_rows for _, _, n_rows in self.groups], dtype=np.int64)
        check_not_empty(int(self.sizes.sum()), self.n_features)

    def read(self, piece: int) -> BatchArray:
        """Return the rows of one row group; a missing value becomes NaN."""
        number, group, _ = self.groups[piece]
        stamp = self._stamps[number]
        try:
            with refusing_damage(stamp.path, "a Parquet file"):
                table = self._open[number].read_row_group(group, columns=self.columns)
        finally:
            stamp.check()  # after the read, so that what was read is what it was
        return as_batch(np.column_stack([table[name].to_numpy() for name in self.columns]))

    def name_row(self, piece: int, row: int) -> str:
        """Name a row by its number in its file."""
        number, group, _ = self.groups[piece]
        metadata = self._open[number].metadata
        row += sum(metadata.row_group(earlier).num_rows for earlier in range(group))
        return f"row {row} of {self.files[number].name!r}"


def _open_file(path: Path) -> pq.ParquetFile:
    with refusing_damage(path, "a Parquet file, as source must hold"):
        return pq.ParquetFile(path)


def _choose_columns(
    opened: list[pq.ParquetFile], files: list[Path], columns: list[str] | None
) -> list[str]:
    """Check that every file has every column, as numbers."""
    if columns is None:
        columns = [field.name for field in opened[0].schema_arrow if _is_numeric(field.type)]
    if not columns:
        raise ValueError(f"columns must name at least one column, got {columns!r}.")
    for path, file in zip(files, opened, strict=True):
        schema = file.schema_arrow
        for name in columns:
            if name not in schema.names:
                raise ValueError(
                    f"columns must name columns of every file, got {name!r}; {path.name!r} has "
                    f"{', '.join(schema.names)}."
                )
            if not _is_numeric(schema.field(name).type):
                raise TypeError(
                    f"columns must name columns of numbers, got {name!r} of type "
                    f"{schema.field(name).type} in {path.name!r}."
                )
    return list(columns)


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
