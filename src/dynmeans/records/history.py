"""History: labels, centers, costs and events of all batches so far; one file on disk."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, Protocol, overload

import numpy as np

from dynmeans.files.archive import Arrays, read_archive, write_archive
from dynmeans.files.history_file import history_parts, history_records
from dynmeans.inputs.batch_times import BatchTime
from dynmeans.inputs.fields import one_of
from dynmeans.records.arrays import IntArray
from dynmeans.records.confirmed import confirmed_ids
from dynmeans.records.events import KINDS, Event
from dynmeans.records.state import ClusterState
from dynmeans.records.step_record import StepRecord

TABLES = ("labels", "clusters", "events")
_FILE_VERSION = 1


class Recordable(Protocol):
    """A step that makes its record on access."""

    @property
    def after(self) -> ClusterState:
        """What is remembered after it."""

    def record(self, when: BatchTime | None = None) -> StepRecord:
        """Return the record of the batch."""


_ToMake = tuple[Sequence[Recordable], int, BatchTime | None]  # steps, which of them, when it came


class History:
    """The record of a sequence of batches, oldest first.

    Parameters
    ----------
    window : int, optional
        Keep only the last `window` batches; all of them by default.
    feature_names : sequence of str, optional
        Names of the features, for frames and figures.

    Attributes
    ----------
    cluster_names : dict of int to str
        Names of clusters, for figures; empty unless you set them.

    See Also
    --------
    Event : A change of one cluster.
    DynamicMeans.fit_sequence : Returns a history.
    dynmeans.plots.plot_timeline : Draws one.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> labels, history = DynamicMeans(1.0, random_state=0).fit_sequence([[[0.0], [9.0]], [[9.2]]])
    >>> history
    History(2 batches, 2 clusters)
    >>> history[1].ids.tolist(), history[1].time
    ([1], 2.0)
    >>> [(event.kind, event.cluster_id) for event in history[1].events]
    [('moved', 1), ('vanished', 0)]
    """

    def __init__(
        self, window: int | None = None, feature_names: Sequence[str] | None = None
    ) -> None:
        if window is not None and window < 1:
            raise ValueError(f"window must be at least 1, got {window!r}.")
        self.window = window
        self.feature_names = None if feature_names is None else tuple(map(str, feature_names))
        self.cluster_names: dict[int, str] = {}
        self._steps: deque[StepRecord | _ToMake] = deque(maxlen=window)
        self._last_time: float | None = None

    def append(self, step: Recordable, when: BatchTime | None = None) -> None:
        """Add the next batch.

        The record is made when it is first looked at: following a fast stream costs no more
        than keeping what the steps returned.
        """
        self.extend([step], [when])

    def extend(self, steps: Sequence[Recordable], when: Sequence[BatchTime | None]) -> None:
        """Add the next batches, with the date or name of each."""
        # Which of the steps, so that one is made only if it is looked at.
        self._steps.extend(zip(repeat(steps), range(len(steps)), when, strict=False))
        self._last_time = steps[-1].after.time if steps else self._last_time

    def add(self, record: StepRecord) -> None:
        """Add a record made elsewhere; later than the last one."""
        if self._last_time is not None and record.time <= self._last_time:
            raise ValueError(
                f"time must grow from batch to batch, got {record.time} after {self._last_time}."
            )
        self._last_time = record.time
        self._steps.append(record)

    def __len__(self) -> int:
        """Return the number of batches kept."""
        return len(self._steps)

    def __repr__(self) -> str:
        """Return the number of kept records."""
        return f"History({len(self)} batches, {len(self.cluster_ids)} clusters)"

    @overload
    def __getitem__(self, index: int) -> StepRecord: ...

    @overload
    def __getitem__(self, index: slice) -> "History": ...

    def __getitem__(self, index: int | slice) -> "StepRecord | History":
        """Return one batch, counted among those kept (-1 is the last), or a part as a History."""
        if isinstance(index, slice):
            return self._part(index)
        record = self._steps[index]
        if not isinstance(record, StepRecord):
            steps, number, when = record
            record = self._steps[index] = steps[number].record(when)
        return record

    def __iter__(self) -> Iterator[StepRecord]:
        """Go through the batches, oldest first."""
        return (self[index] for index in range(len(self)))

    def _part(self, index: slice) -> "History":
        if index.step is not None and index.step < 1:
            raise ValueError(f"the step of a slice must be at least 1, got {index.step!r}.")
        part = History(feature_names=self.feature_names)
        part.cluster_names = self.cluster_names
        for position in range(len(self))[index]:
            part.add(self[position])
        return part

    def last(self, window: int | None) -> "History":
        """Return a history of the last `window` batches, or of all of them."""
        history = History(window, self.feature_names)
        history._steps.extend(self._steps)
        history._last_time = self._last_time
        history.cluster_names = self.cluster_names
        return history

    def name_of(self, cluster_id: int) -> str:
        """Return the name of a cluster, or its number."""
        return self.cluster_names.get(cluster_id, str(cluster_id))

    @property
    def times(self) -> list[BatchTime] | None:
        """Date or name of every batch, if all have one."""
        times = [record.when for record in self if record.when is not None]
        return times if len(times) == len(self) else None

    @property
    def has_velocities(self) -> bool:
        """Whether the clusters of all batches keep a course."""
        return len(self) > 0 and all(record.velocities is not None for record in self)

    @property
    def labels(self) -> list[IntArray]:
        """Identities of the rows of every batch."""
        return [record.labels for record in self]

    @property
    def cluster_ids(self) -> IntArray:
        """Every identity seen in the batches kept, in order of birth."""
        seen = [record.ids for record in self if len(record.ids)]
        return np.unique(np.concatenate(seen)) if seen else np.empty(0, dtype=np.int64)

    def confirmed_labels(
        self, *, min_cluster_size: float = 1, min_batches: int = 1
    ) -> list[IntArray]:
        """Return the labels with -1 for identities that never held enough points or batches.

        Parameters
        ----------
        min_cluster_size : float
            Points that an identity must have had, over all batches kept.
        min_batches : int
            Batches that must have seen it.
        """
        confirmed = self._find_confirmed(min_cluster_size, min_batches)
        return [np.where(np.isin(labels, confirmed), labels, -1) for labels in self.labels]

    def _find_confirmed(self, min_cluster_size: float, min_batches: int) -> IntArray:
        ids, counts = [record.ids for record in self], [record.counts for record in self]
        return confirmed_ids(ids, counts, min_cluster_size, min_batches)

    def to_frame(
        self,
        table: str = "clusters",
        frame: str = "pandas",
        *,
        min_cluster_size: float = 1,
        min_batches: int = 1,
    ) -> Any:
        """Return a view as a data frame.

        Parameters
        ----------
        table : {"clusters", "labels", "events"}
            One row for each cluster and batch, for each point, or for each event.
        frame : {"pandas", "polars", "arrow"}
            A pandas or polars DataFrame, or a pyarrow Table.
        min_cluster_size, min_batches : float, int
            Identities with fewer points in all, or seen in fewer batches, are unconfirmed: -1
            among the labels, and left out of the other tables.
        """
        one_of("table", table, TABLES)
        from dynmeans.files import history_tables as tables

        arrow = tables.TABLE_MAKERS[table](self)
        if min_cluster_size > 1 or min_batches > 1:
            arrow = tables.unconfirm(
                arrow,
                self._find_confirmed(min_cluster_size, min_batches),
                is_labels=table == "labels",
            )
        return tables.as_frame(arrow, frame)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the history to one file, whole or not at all; a checksum covers every number."""
        write_archive(path, "History", _FILE_VERSION, *history_parts(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "History":
        """Read a history written by `save`; a damaged or foreign file raises `ValueError`."""
        return read_archive(path, "History", _FILE_VERSION, cls._from_parts)

    @classmethod
    def _from_parts(cls, arrays: Arrays, header: dict[str, Any]) -> "History":
        history = cls(header["window"], header["features"])
        for fields in history_records(arrays, header):
            events = tuple(Event(**event) for event in fields.pop("events"))
            if any(event.kind not in KINDS or event.cluster_id is None for event in events):
                raise ValueError(
                    f"events must be of the kinds {', '.join(KINDS)}, each of a cluster."
                )
            history.add(StepRecord(**fields, events=events))
        return history
