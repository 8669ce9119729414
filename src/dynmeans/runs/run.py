"""Run: reads a window, steps, commits; starts where it stopped."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dynmeans.engine.execution import get_execution
from dynmeans.families.levels import FINE
from dynmeans.files.history_tables import as_frame
from dynmeans.follow.follow import make_plan
from dynmeans.follow.init_memory import OnSuggestion, log_suggestion
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import PARAMETERS
from dynmeans.inputs.batch_times import read_times
from dynmeans.inputs.input_error import InputError
from dynmeans.records.history import History
from dynmeans.records.joined import join_records
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.analysis.edited_tables import join_rows, with_edits, with_names
from dynmeans.runs.analysis.status import RunStatus, status_of
from dynmeans.runs.configuration import RunConfig, describe_differences
from dynmeans.runs.edits import Editing
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.reading.window import Window
from dynmeans.runs.stopping import until_stopped
from dynmeans.runs.store import run_tables
from dynmeans.runs.store.compaction import Compactor
from dynmeans.runs.store.dead_letters import DeadLetter, read_letters
from dynmeans.runs.store.inbox import Inbox
from dynmeans.runs.store.label_files import LabelFile
from dynmeans.runs.store.label_tables import label_tables
from dynmeans.runs.store.store import Store
from dynmeans.runs.store.verify import verify
from dynmeans.runs.window_processor import WindowProcessor

if TYPE_CHECKING:
    from dynmeans.runs.reading.live_windows import LiveWindows
    from dynmeans.runs.reading.windows import Windows

OnWindow = Callable[[StepRecord, Window], None]


class Run(Editing, AbstractContextManager["Run"]):
    """A clustering that is stored in a folder: it survives crashes, and can be read while it grows.

    Make one with `Run.create` or `Run.open`; use it in a ``with`` block.

    See Also
    --------
    dynmeans.cluster : Clusters a table in one call; its result has a run folder.
    dynmeans.runs.RunConfig : What is fixed when a run is created.
    dynmeans.runs.Window : The input of `process`.

    Examples
    --------
    >>> import tempfile
    >>> from dynmeans import Run
    >>> from dynmeans.runs import ModelConfig, RunConfig, Window
    >>> folder = tempfile.mkdtemp() + "/run"
    >>> config = RunConfig(("x",), ModelConfig(new_penalty=1.0, random_state=0))
    >>> with Run.create(folder, config) as run:
    ...     run.process([Window([[0.0], [5.0]]), Window([[5.1], [5.2], [9.0]])])
    2
    >>> with Run.open(folder) as run:  # another day, another process
    ...     run.process(Window([[0.1]]))
    ...     run.labels()["cluster_id"].tolist()
    1
    [0, 1, 1, 1, 2, 0]
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._first_memory: Memory | None = None
        self.config = _config_of(store.config_fields(), store.folder)
        self._stepper: WindowProcessor | None = None
        self._joining: Compactor | None = None

    @classmethod
    def create(
        cls, folder: str | os.PathLike[str], config: RunConfig, *, overwrite: bool = False
    ) -> "Run":
        """Make a new run folder and lock it; an old run is refused unless `overwrite` is true."""
        return cls(Store.create(Path(folder), config.to_fields(), overwrite=overwrite))

    @classmethod
    def open(cls, folder: str | os.PathLike[str], config: RunConfig | None = None) -> "Run":
        """Open a run to read it, or to resume it.

        With `config` given, a run made with another one is refused, field by field. As long as
        nothing was clustered, it may have another model configuration.
        """
        run = cls(Store(Path(folder)))
        if config is None:
            return run
        was, now = run.config.to_fields(), config.to_fields()
        is_open = not run.has_windows
        changes = describe_differences(_stable_fields(was, is_open), _stable_fields(now, is_open))
        if changes:
            run.close()
            raise InputError(
                "",
                f"the run {{!r}} was made with another configuration: "
                f"{'; '.join(change.template for change in changes)}",
                str(folder),
                *(value for change in changes for value in change.values),
                hint="Use another folder, or {overwrite=True} to start over.",
            )
        run.config = config
        if is_open and was != now:
            run.lock()
            run._store.configure(now)
        return run

    def lock(self) -> None:
        """Keep other processes from writing until the run is closed."""
        self._store.lock_for_writing()

    @property
    def has_windows(self) -> bool:
        """Whether a window was processed: from then on the configuration stays."""
        return self._store.has_windows

    def set_initial_memory(self, memory: Memory | None) -> None:
        """Follow the first window from there; stored with that window."""
        self._first_memory = memory

    def process(
        self,
        windows: Window | Iterable[Window],
        *,
        idempotency_key: str | None = None,
        on_window: OnWindow | None = None,
        commit_seconds: float = 2.0,
        after_commit: Callable[[], None] | None = None,
        n_threads: int | None = None,
        on_suggestion: OnSuggestion = log_suggestion,
    ) -> int:
        """Cluster windows and make the result durable; return how many were processed.

        Parameters
        ----------
        windows : Window or iterable of Window
            The next windows in order of time.
        idempotency_key : str, optional
            Name of this call. All its windows become one commit, and a repeated call with the
            same key does nothing.
        on_window : callable, optional
            Called with the record and the window after each step, before it is durable. If it
            raises, all windows up to this one are committed, unless there is a `idempotency_key`.
        commit_seconds : float
            Windows are committed in groups, at least this often; 0 commits each separately.
        after_commit : callable, optional
            Called after each of these commits, except the one that an error leads to.
        n_threads : int, optional
            Threads of a step; the result never depends on it.
        on_suggestion : callable
            Called with what was chosen on the first windows, where the model configuration leaves
            it open; what it raises ends the call, and nothing is stored.
        """
        self._store.lock_for_writing()
        if idempotency_key is not None and self._store.has_idempotency_key(idempotency_key):
            return 0
        stepper = self._ready_stepper()
        stepper.execution = get_execution("native", "auto", n_threads, None)
        try:
            given = [windows] if isinstance(windows, Window) else windows
            stream = stepper.begin(given, on_suggestion)
            return stepper.take_all(
                stream, idempotency_key, on_window, commit_seconds, self._follow_up(after_commit)
            )
        except BaseException:
            # What was not committed is forgotten here as well.
            self._stepper = None
            raise

    def process_all(
        self, windows: "Windows | LiveWindows", *, stop: Event | None = None, **options: Any
    ) -> int:
        """Process all windows of a source, or until `stop`, and note where it ended."""
        stream = windows if stop is None else until_stopped(windows, stop)
        n_windows = self.process(stream, **options)
        if windows.position != self.position or windows.n_dropped_rows or windows.n_late_rows:
            self.finish(windows.position, windows.n_dropped_rows, windows.n_late_rows)
        return n_windows

    def finish(
        self, position: Mapping[str, Any], n_dropped_rows: int = 0, n_late_rows: int = 0
    ) -> None:
        """Store where the source ended, and rows left out after its last window."""
        self._store.lock_for_writing()
        self._ready_stepper().note_position(position, n_dropped_rows, n_late_rows)

    def store_dead_letters(
        self, position: Mapping[str, Any], letters: Sequence[DeadLetter]
    ) -> bool:
        """Store messages that are no rows, and where the source stands; False if it must wait."""
        self._store.lock_for_writing()
        return self._ready_stepper().store_dead_letters(position, letters)

    def inbox(self) -> Inbox:
        """Return where messages are kept that their place does not keep."""
        self._store.lock_for_writing()
        return Inbox(self._store)

    def dead_letters(self) -> Iterator[dict[str, Any]]:
        """Yield the messages that could not be read as rows: number, position, reason, body."""
        return read_letters(self._store)

    def labels(
        self, *, first_step: int = 0, last_step: int | None = None, frame: str = "pandas"
    ) -> Any:
        """One row for each row processed: step, row_id, time, cluster_id, distance.

        `distance` is to the cluster's center, in the units of the clustering. `time`, `row` and
        `truth` are there where the windows had them.
        """
        tables = list(self.label_tables(first_step=first_step, last_step=last_step))
        empty = {"step": "int64", "row_id": "int64", "cluster_id": "int64", "distance": "float64"}
        schema = pa.schema([(name, getattr(pa, t)()) for name, t in empty.items()])
        return as_frame(pa.concat_tables(tables) if tables else schema.empty_table(), frame)

    def label_tables(
        self, *, first_step: int = 0, last_step: int | None = None
    ) -> Iterator[pa.Table]:
        """Yield the labels as Arrow tables, part by part: for runs larger than memory."""
        return label_tables(self._store, first_step, last_step)

    def label_files(self) -> list[LabelFile]:
        """Return the committed Parquet files of labels, oldest first."""
        return self._store.label_files()

    def clusters(
        self,
        *,
        status: str | None = None,
        limit: int | None = None,
        frame: str = "pandas",
        level: str | None = None,
    ) -> Any:
        """One row for each cluster: life, size, status and last center in the source's units.

        With ``level="fine"`` one row for each subcluster; by default clusters are those of the
        level shown. With `status`, only those that are "active", "inactive" or "forgotten"; with
        `limit`, only the newest. Also the edits: `name`, `merged_into`, which differs from
        `cluster_id` if the cluster was merged, and `is_pinned`.
        """
        is_joined = level != FINE and self.is_joined
        chosen = (None, None) if is_joined else (status, limit)
        with self._store.snapshot():
            table = run_tables.clusters_table(
                self._store, self.config.features, self.cluster_state, *chosen
            )
            if is_joined:
                table = join_rows(table, self.edits, run_tables.ids_by_window(self._store))
        if is_joined:
            table = run_tables.newest_of_status(table, status, limit)
        return as_frame(with_edits(table, self.edits), frame)

    def events(
        self,
        *,
        kinds: Iterable[str] = (),
        cluster_id: int | None = None,
        first_step: int = 0,
        limit: int | None = None,
        frame: str = "pandas",
    ) -> Any:
        """One row for each event, or for the first `limit`: step, time, window, kind, ...

        Events are those of the clusters at the level shown.
        """
        wanted = tuple(kinds), cluster_id, first_step, limit
        if self.is_joined:
            names = run_tables.window_names(self._store)
            windows = (
                ({"step": one.step, "time": one.time, "name": names[one.step]}, list(one.events))
                for one in self.history(labels=False, joined=True)
            )
            table = run_tables.table_of_events(windows, *wanted)
        else:
            with self._store.snapshot():
                table = run_tables.events_table(self._store, *wanted)
        return as_frame(with_names(table, self.edits), frame)

    def history(
        self,
        *,
        labels: bool = True,
        first_step: int = 0,
        last_step: int | None = None,
        joined: bool = False,
    ) -> History:
        """Return the records of windows, by default of all; without `labels` it stays small.

        With `joined` of the clusters at the level shown, otherwise of subclusters.
        """
        history = History(feature_names=self.config.features)
        history.cluster_names = self.edits.display_names()
        wanted = len(self.config.features), labels, first_step, last_step
        with self._store.snapshot():
            records = list(run_tables.step_records(self._store, *wanted))
        if joined:
            records = list(join_records(records, self.edits.resolve_ids))
        names = [None if record.when is None else str(record.when) for record in records]
        times = read_times(names)
        for row, record in enumerate(records):
            history.add(replace(record, when=None if times is None else times[row]))
        return history

    def samples(self, *, first_step: int = 0, last_step: int | None = None) -> Iterator[Sample]:
        """Yield up to `config.sample_size` rows of every window, chosen by a hash of the number."""
        n_features = len(self.config.features)
        return run_tables.samples_of(self._store, n_features, first_step, last_step)

    @property
    def is_joined(self) -> bool:
        """Whether the clusters shown are others than those found: joined, or only the confirmed."""
        levels, model_config = self.levels, self.config.model_config
        return levels is not None and (levels.chosen != FINE or model_config.has_unconfirmed)

    def status(self) -> RunStatus:
        """Return how far the run is."""
        return status_of(self._store)

    def verify(self) -> None:
        """Read everything once and compare it with its checksums."""
        verify(self._store)

    @property
    def store(self) -> Store:
        """The files of the run, for what is stored besides the clustering."""
        return self._store

    @property
    def folder(self) -> Path:
        """Where the run lives."""
        return self._store.folder

    @property
    def memory(self) -> Memory | None:
        """What is remembered after the last committed window; None before the first."""
        return self._store.memory()

    @property
    def cluster_state(self) -> ClusterState:
        """The remembered clusters, as points of the space of `memory`."""
        memory = self.memory
        return ClusterState.empty(len(self.config.features)) if memory is None else memory.clusters

    @property
    def penalties(self) -> Penalties | None:
        """lambda, max_gap and reach, as given or chosen; None before the first window."""
        memory = self.memory
        return None if memory is None else make_plan(self.config.model_config, memory).penalties

    @property
    def position(self) -> dict[str, Any] | None:
        """Where the source stood after the last committed window."""
        value: dict[str, Any] | None = self._store.manifest("position")
        return value

    def close(self) -> None:
        """Let others write; safe to call twice."""
        self._stepper = None
        if self._joining is not None:
            self._joining.close()
            self._joining = None
        self._store.close()

    def __exit__(self, *_: object) -> None:
        """Close at the end of a ``with`` block."""
        self.close()

    def _follow_up(self, after_commit: Callable[[], None] | None) -> Callable[[], None]:
        joining = self._joining = self._joining or Compactor(self._store)

        def follow_up() -> None:
            joining.after_commit()
            if after_commit is not None:
                after_commit()

        return follow_up

    def _ready_stepper(self) -> WindowProcessor:
        if self._stepper is None:
            memory = self.memory or self._first_memory
            self._stepper = WindowProcessor(self._store, self.config, memory)
        return self._stepper


def _stable_fields(fields: dict[str, Any], is_open: bool) -> dict[str, Any]:
    """Return the fields that can no longer change."""
    return {name: fields[name] for name in fields if not (is_open and name in PARAMETERS)}


def _config_of(fields: dict[str, Any], folder: Path) -> RunConfig:
    try:
        return RunConfig.from_fields(fields)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the run {str(folder)!r} is damaged: its configuration cannot be read: {error}"
        ) from error
