"""ClusterJob: a table or a stream of lines into a run folder, made or resumed, to its end."""

import importlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.features import feature_numbers
from dynmeans.inputs.input_error import InputError
from dynmeans.records.penalties import DEFAULT_MOTION, Penalties, penalties_with_defaults
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.after_commit import NOTHING, AfterCommit
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.deciding import UNDECIDED
from dynmeans.runs.look.status import RunStatus
from dynmeans.runs.reading.columns import match_features
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.sources.reading_options import AS_USUAL, ReadingOptions
from dynmeans.runs.reading.sources.remote_files import is_remote, shown_remote
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows
from dynmeans.runs.run import OnWindow, Run
from dynmeans.runs.stopping import StoppedError, stopped
from dynmeans.runs.store.schema import DATABASE
from dynmeans.runs.store.store import check_may_create
from dynmeans.runs.streams.addresses import is_address, open_stream, parse_address

if TYPE_CHECKING:
    from dynmeans.runs.choosing import OnRefusal

LIVE = "-"
# From the rows of the source, if they are known, those read before, and the names of the features,
# to what sees each window.
Progress = Callable[[int | None, int, tuple[str, ...]], AbstractContextManager[OnWindow | None]]


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """What one call did."""

    status: RunStatus
    n_windows: int
    n_rows: int
    n_repeated: int
    n_duplicates: int
    seconds: float
    is_resumed: bool
    suggestion: Suggestion | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    is_stopped: bool = False


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """A source, how it is cut, how it is clustered, and where the run goes.

    Attributes
    ----------
    table : str or table
        A path or a table as `Source` takes it, ``-`` for `lines`, or the address of a stream.
    out : Path
        Folder of the run.
    options : WindowOptions
        How rows become windows.
    penalties : dict of str to float, or Penalties
        Those that were given, by name; or all of them as one value.
    settings : dict of str to Any
        Further fields of `RunConfig`.
    query, database_table : str, optional
        As of `Source`.
    reading : ReadingOptions
        How files are written, and which rows are wanted.
    revival : str
        The revival rule.
    motion : str, optional
        Whether clusters keep a course; by default they do not, unless `suggest` finds they do.
    moving : tuple of str, optional
        Names of the features that keep a course; all by default.
    suggest : bool
        Whether the penalties that were not given are chosen on the first windows.
    n_clusters : float, optional
        About how many clusters a window holds, for the suggestion.
    lines : iterable of bytes, optional
        A live source.
    on_suggestion : callable, optional
        Called with what was chosen, before the first step.
    on_refusal : callable, optional
        Called with a suggestion that is not followed, the batches it was made on and the steps of
        time between them, before the error: to show what was tried.
    while_suggesting : callable
        Returns a context that is open while the choice is made, to show how far it is.
    after_commit : AfterCommit
        What is done with windows once they are committed.
    stop : threading.Event
        Once set, the job ends after the current window.
    until_idle : float, optional
        Seconds without a message after which a stream counts as ended.
    """

    table: Any
    out: Path
    options: WindowOptions
    penalties: dict[str, float] | Penalties
    settings: dict[str, Any]
    query: str | None = None
    database_table: str | None = None
    reading: ReadingOptions = AS_USUAL
    revival: str = "paper"
    motion: str | None = None
    moving: tuple[str, ...] | None = None
    suggest: bool = False
    n_clusters: float | None = None
    lines: Iterable[bytes] = ()
    on_suggestion: Callable[[Suggestion], None] | None = None
    on_refusal: "OnRefusal | None" = None
    while_suggesting: Callable[[], AbstractContextManager[None]] = nullcontext
    after_commit: AfterCommit = NOTHING
    stop: threading.Event = field(default_factory=threading.Event)
    until_idle: float | None = None

    def start(
        self,
        *,
        resume: bool | None = None,
        overwrite: bool = False,
        n_threads: int | None = None,
        max_clusters: int | None = None,
        progress: Progress = lambda total, done, features: nullcontext(),
    ) -> ClusterResult:
        """Make the run, or resume it, until the source ends."""
        self._check()
        is_there = self._is_there(resume, overwrite)
        if not is_there:
            self._check_replacement(overwrite)
            check_may_create(self.out, overwrite)  # before rows are read and parameters chosen
        begin = time.monotonic()
        with self.open_source() as source, self._run(source, is_there, overwrite) as opened:
            run, windows, suggestion = opened
            before = run.status()
            total = None if source is None else windows.n_rows
            done = (run.position or {}).get("rows_read", 0)
            with progress(total, done, run.config.features) as on_window:
                is_stopped = self._take_all(
                    run,
                    windows,
                    on_window=on_window,
                    n_threads=n_threads,
                    max_clusters=max_clusters,
                    commit_seconds=0.0 if source is None else 2.0,
                )
            status = replace(run.status(), is_running=False)  # as soon as this block is left
        missing: Mapping[str, int] = getattr(windows, "missing", {})
        if status.n_dropped and not (status.n_rows or is_stopped or self.options.hold_last):
            raise InputError(
                "",
                "every row of the input lacks a value: {}",
                ", ".join(f"{n:,} lack {name!r}" for name, n in missing.items() if n),
                hint="Check that these columns hold numbers, and how they are written.",
            )
        return ClusterResult(
            status=status,
            n_windows=status.n_windows - before.n_windows,
            n_rows=status.n_rows - before.n_rows,
            n_repeated=getattr(windows, "n_repeated", 0),
            n_duplicates=0 if source is None else source.n_duplicates,
            seconds=time.monotonic() - begin,
            is_resumed=is_there,
            suggestion=suggestion,
            missing=missing,
            is_stopped=is_stopped,
        )

    def _take_all(self, run: Run, windows: Any, **options: Any) -> bool:
        """Take all windows in; say whether the job was stopped on the way."""
        with self.after_commit.following(run, self.stop) as after_commit:
            try:
                if self._is_stream:
                    run.process(windows, after_commit=after_commit, **options)
                    windows.settle()
                else:
                    run.follow(windows, stop=self.stop, after_commit=after_commit, **options)
            except StoppedError:
                return True
            return False

    @property
    def _is_path(self) -> bool:
        return isinstance(self.table, str | os.PathLike)

    @property
    def _is_stream(self) -> bool:
        return is_address(self.table)

    @property
    def _is_live(self) -> bool:
        return self._is_stream or (self._is_path and os.fspath(self.table) == LIVE)

    @property
    def _named(self) -> dict[str, float]:
        return {} if isinstance(self.penalties, Penalties) else self.penalties

    def _check(self) -> None:
        is_whole = isinstance(self.penalties, Penalties)
        if self.suggest and (is_whole or not self._named.keys() <= {"max_gap", "reach"}):
            raise InputError("suggest", "goes with {max_gap} and {reach}, and no other penalty")
        if self.n_clusters is not None and not self.suggest:
            raise InputError("n_clusters", "goes with {suggest=True}")
        if not self.suggest and not is_whole and "new_penalty" not in self._named:
            raise InputError(
                "new_penalty",
                "is needed: the squared distance beyond which a point starts a new cluster",
                hint="Or let {suggest=True} choose it.",
            )
        rows = Path(self.table) if self._is_path else None
        if rows and rows.is_dir() and self.out.resolve().is_relative_to(rows.resolve()):
            raise InputError(
                "out",
                "must not lie in the folder of the rows, {!r}: the run's own files would be read "
                "as rows",
                self.table,
            )
        if self.reading != AS_USUAL and self._is_live:
            names = [name for name in self.reading.to_source_fields()] or ["network"]
            raise InputError(names[0], "is for files, not for live sources")
        patterns = [name for name in self.options.features if set(name) & set("*?[")]
        if self._is_live and patterns:
            rule = "must be names where rows come one by one, not a pattern such as {!r}"
            raise InputError("features", rule, patterns[0])
        if self.options.unique_ids and not self._is_stream:
            raise InputError(
                "unique_ids",
                "works only with the address of a stream (redis://, kafka://, mqtt://, "
                "postgresql://)",
            )

    def _is_there(self, resume: bool | None, overwrite: bool) -> bool:
        """Say whether there is a run to resume; one without a window is made again."""
        exists = (self.out / DATABASE).exists() and not overwrite
        exists = exists and (resume is True or not self._is_empty())
        if resume and not exists:
            told = "{resume=True}: there is no run {!r} to resume."
            raise FileNotFoundError(ArgumentText(told, str(self.out)))
        if resume is False and exists:
            told = "{!r} holds a run already; {overwrite=True} replaces it."
            raise FileExistsError(ArgumentText(told, str(self.out)))
        return exists

    def _check_replacement(self, overwrite: bool) -> None:
        """Refuse where an old run would be gone before it is known what replaces it."""
        is_chosen_late = overwrite and self._is_stream and self.suggest
        if is_chosen_late and (self.out / DATABASE).exists() and not self._is_empty():
            raise InputError(
                "overwrite",
                "does not go with {suggest=True} on a stream: the run {!r} would be lost before "
                "the choice is made",
                str(self.out),
                hint="Use another folder, or remove this one.",
            )

    def _is_empty(self) -> bool:
        with Run.open(self.out) as run:
            return run.is_empty

    def open_source(self) -> AbstractContextManager[Source | None]:
        """Open the table to read it; there is none to open for a live source."""
        if self._is_live:
            return nullcontext()
        return Source(
            self.table,
            query=self.query,
            database_table=self.database_table,
            text_column=self.options.text_column,
            reading=self.reading,
        )

    def _windows(self, source: Source | None, position: dict[str, Any] | None) -> Any:
        if source is None:
            return LiveWindows(self.lines, self.options, position)
        return Windows(source, self.options, position)

    def _stream_windows(self, run: Run) -> Any:
        # Loads what only a stream needs.
        module = importlib.import_module("dynmeans.runs.streams.watermark")
        stream = open_stream(self.table, self.options.columns, self.stop)
        return module.StreamWindows(
            stream, self.options, run, stop=self.stop, until_idle=self.until_idle
        )

    @contextmanager
    def _run(
        self, source: Source | None, is_there: bool, overwrite: bool
    ) -> Iterator[tuple[Run, Any, Suggestion | None]]:
        """Open or make the run; a source that cannot be read makes none."""
        if is_there:
            config = self._config(source, self._stored_or_given_penalties(source))
            with Run.open(self.out, config) as run:
                run.lock()  # before the position is read: nobody may move it
                if run.is_undecided:
                    yield run, *self._decided(run)
                elif self._is_stream:
                    yield run, self._stream_windows(run), None
                else:
                    yield run, self._windows(source, run.position), None
            return
        if self._is_stream and self.suggest:
            # Rows must be kept where their place does not: the run is made before the choice.
            undecided = self._config(source, UNDECIDED)
            with Run.create(self.out, undecided, overwrite=overwrite) as run:
                run.leave_undecided()
                yield run, *self._decided(run)
            return
        windows, found = self._windows(source, None), None
        if self.suggest:
            windows, found = self._suggested(windows, source)
            penalties = found.penalties.with_revival(self.revival)
        else:
            penalties = self._given_penalties(source)
        config = self._config(source, penalties)
        with Run.create(self.out, config, overwrite=overwrite) as run:
            yield run, self._stream_windows(run) if self._is_stream else windows, found

    def _decided(self, run: Run) -> tuple[Any, Suggestion | None]:
        """Choose on the first windows of a stream; return all of them, and the choice."""
        windows, found = self._stream_windows(run), None
        if not self.suggest:
            run.decide(self._config(None, self._given_penalties(None)))
            return windows, None
        try:
            windows, found = self._suggested(windows, None)
        except StoppedError:
            return stopped(), None
        run.decide(self._config(None, found.penalties.with_revival(self.revival)))
        return windows, found

    def _config(self, source: Source | None, penalties: Penalties) -> RunConfig:
        table = os.fspath(self.table) if self._is_path else None
        if is_address(table):
            table = str(parse_address(self.table))  # without its secrets
        elif table is not None and is_remote(table):
            table = shown_remote(table)
        elif table is not None and table != LIVE:
            table = os.path.abspath(table)
        reading = {"sql": self.query, "table": self.database_table}
        reading |= self.reading.to_source_fields()
        fields = self.options.to_source_fields(table) | reading
        return RunConfig(self._features(source), penalties, source=fields, **self.settings)

    def _features(self, source: Source | None) -> tuple[str, ...]:
        if source is not None:
            return match_features(self.options.features, source.columns, is_text_allowed=True)
        return tuple(name.strip() for text in self.options.features for name in text.split(","))

    def _moving_features(self, source: Source | None) -> tuple[int, ...] | None:
        features = self._features(source)
        return feature_numbers(self.moving, len(features), features)

    def _given_penalties(self, source: Source | None) -> Penalties:
        given, moving = self.penalties, self._moving_features(source)
        if isinstance(given, Penalties):
            is_told = self.motion is not None or moving is not None
            return given if not is_told else given.with_motion(self.motion or given.motion, moving)
        return penalties_with_defaults(
            **given,
            revival=self.revival,
            motion=self.motion or DEFAULT_MOTION,
            moving=moving,
        )

    def _stored_or_given_penalties(self, source: Source | None) -> Penalties:
        """What was suggested then is kept."""
        with Run.open(self.out) as run:
            is_kept = self.suggest or run.is_undecided
            return run.config.penalties if is_kept else self._given_penalties(source)

    def _suggested(self, windows: Any, source: Source | None) -> tuple[Any, Suggestion]:
        """Choose on the first windows; return the choice, and all windows to resume with."""
        # Loads what only a suggestion needs.
        first_windows = importlib.import_module("dynmeans.runs.choosing")
        ahead, found = first_windows.choose(
            windows,
            is_live=source is None,
            while_choosing=self.while_suggesting,
            on_refusal=self.on_refusal,
            standardize=self.settings.get("standardize", 0),
            n_init=self.settings.get("n_init", 3),
            max_gap=self._named.get("max_gap"),
            reach=self._named.get("reach"),
            n_clusters=self.n_clusters,
            motion=self.motion,
            moving=self._moving_features(source),
        )
        if self.on_suggestion is not None:
            self.on_suggestion(found)
        return ahead, found
