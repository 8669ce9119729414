"""Labels of a Parquet source: one file of labels for each of its files."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.files.whole_file import whole_file
from dynmeans.scale.anytime.label_rows import Labeling, Progress, Tally, labeled
from dynmeans.scale.anytime.parquet_source import ParquetSource
from dynmeans.scale.anytime.result import AnytimeResult

_SCHEMA = pa.schema([("cluster_id", pa.int64())])


def label_files(
    source: ParquetSource, result: AnytimeResult, folder: Path, n_threads: int, report: Progress
) -> Labeling:
    """Write the labels beside nothing else: row r of a file is row r of its namesake."""
    paths = [folder / file.relative_to(source.root) for file in source.files]
    _check_outside(source, folder, paths)
    tally, done, total = Tally(result), 0, int(source.sizes.sum())
    owners = np.array([number for number, _, _ in source.groups])
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        chunks = (source.read(int(piece)) for piece in np.flatnonzero(owners == number))
        with whole_file(path) as unfinished, pq.ParquetWriter(unfinished, _SCHEMA) as writer:
            for labels, costs in labeled(chunks, result, n_threads):
                tally.add(labels, costs)
                writer.write_table(pa.table({"cluster_id": labels}, schema=_SCHEMA))
                done += len(labels)
                report(done, total)
    return tally.close(paths)


def _check_outside(source: ParquetSource, folder: Path, paths: list[Path]) -> None:
    """Refuse to write over the source, or where labels would become a part of it."""
    inputs = {file.resolve() for file in source.files}
    is_inside = source.is_folder and folder.resolve().is_relative_to(source.root.resolve())
    if is_inside or any(path.resolve() in inputs for path in paths):
        raise ValueError(
            f"to must not be the folder of the source or inside it, got {str(folder)!r}."
        )
