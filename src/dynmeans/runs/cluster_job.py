"""ClusterJob: a table or a stream into a run folder, made or resumed, to its end."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.families.levels import FINE
from dynmeans.follow.clusterers import DETECTIONS, DYNMEANS
from dynmeans.follow.defaults import TEXTS, VECTORS, defaults_of
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig
from dynmeans.follow.usual_choice import usual_choice
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.format_count import format_count
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_range
from dynmeans.parameters.hint import Hint
from dynmeans.parameters.single_objects import CLEAR, note_single_objects, share_of_objects
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.after_commit import NOTHING, AfterCommit
from dynmeans.runs.analysis.distinctive_terms import name_clusters_by_terms
from dynmeans.runs.analysis.scale_sensitivity import (
    format_scale_sensitivity,
    scale_sensitivity_of_run,
)
from dynmeans.runs.analysis.space_messages import new_cluster_distance, suggest_space
from dynmeans.runs.analysis.status import RunStatus
from dynmeans.runs.analysis.suggested_matches import note_suggested_matches
from dynmeans.runs.analysis.topics import find_topic_levels, has_topic_levels, stop_word_note
from dynmeans.runs.configuration import N_KEPT, RunConfig
from dynmeans.runs.input import Input
from dynmeans.runs.levels import LevelsInTime, write_levels
from dynmeans.runs.reading.columns import match_features
from dynmeans.runs.reading.empty_columns import note_empty_columns, split_off_empty_columns
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import Window, WindowOptions
from dynmeans.runs.reading.windows import Windows
from dynmeans.runs.run import OnWindow, Run
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.store.run_tables import n_per_window
from dynmeans.runs.store.schema import DATABASE
from dynmeans.runs.store.store import check_may_create
from dynmeans.runs.streams.addresses import open_stream
from dynmeans.runs.streams.stream_windows import StreamWindows
from dynmeans.runs.texts import vector_names, vectors_of
from dynmeans.runs.warm_up import (
    BufferedWindows,
    initial_memory,
    needs_warm_up,
    raise_on_first_read,
)
from dynmeans.spaces.named import find_space

# From the rows of the source, if they are known, those read before, and the names of the features,
# to what sees each window.
Progress = Callable[[int | None, int, tuple[str, ...]], AbstractContextManager[OnWindow | None]]


@dataclass(frozen=True, slots=True)
class JobResult:
    """What one call did; `new_cluster_distance` is sqrt(lambda) with the unit of the space."""

    status: RunStatus
    n_windows: int
    n_rows: int
    n_repeated: int
    seconds: float
    is_resumed: bool
    suggestion: Suggestion | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    unread: str = ""  # A time that could not be read
    is_stopped: bool = False
    new_cluster_distance: str = ""
    stop_words: ArgumentText | None = None  # What to do about topics that words of grammar name
    missed_number: ArgumentText | None = None  # What to do where `n_clusters` was not met
    empty_columns: ArgumentText | None = None  # Features without any value, left out
    notes: tuple[ArgumentText, ...] = ()  # What the user may want to know, and do about it


@dataclass(frozen=True, slots=True)
class JobCallbacks:
    """Callbacks on the progress of a job; none by default."""

    # Opened around the work; what it gives sees every window.
    progress: Progress = lambda total, done, features: nullcontext()
    # Opened while parameters are chosen on the first windows.
    while_choosing: Callable[[], AbstractContextManager[None]] = nullcontext
    # Called with what was chosen, before the first step.
    on_suggestion: Callable[[Suggestion], None] | None = None


NO_CALLBACKS = JobCallbacks()


class _PreparedSource(NamedTuple):
    """All windows of a source, and what was learned from the first."""

    windows: Any
    memory: Memory | None = None
    choice: Suggestion | None = None
    config: RunConfig | None = None  # where the first windows speak for another method


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """A source, how it is cut, how it is clustered, where the run goes, and what follows."""

    input: Input  # Where rows come from
    windows: WindowOptions  # How rows become windows
    model_config: ModelConfig  # How windows are clustered
    out: Path  # Folder of the run
    after: AfterCommit = NOTHING  # What is done with windows once they are committed
    # Of `space` and `search`, those that was not given: where rows are vectors, they suit these
    unset_fields: Sequence[str] = ()
    name_by: str | None = None  # Column whose values or words name the clusters
    sample_size: int = N_KEPT  # Rows of each window that the run keeps
    # "fine", "default" or "coarse": which clusters are shown. None: those shown so far; of a new
    # run the default ones where penalties are chosen, and where they are given those as found.
    level: str | None = None
    noise: float | None = None  # Most rows that may be noise, as a share

    def start(
        self,
        *,
        resume: bool | None = None,
        overwrite: bool = False,
        n_threads: int | None = None,
        stop: threading.Event | None = None,
        shown: JobCallbacks = NO_CALLBACKS,
    ) -> JobResult:
        """Make the run, or resume it, until the source ends; once `stop` is set, until a window."""
        self.input.check(self.windows, self.out)
        kept, empty = split_off_empty_columns(self.input.rows, self.windows, self.open_source)
        if empty:
            fewer = replace(self, windows=replace(self.windows, features=kept))
            done = fewer.start(
                resume=resume, overwrite=overwrite, n_threads=n_threads, stop=stop, shown=shown
            )
            left_out = note_empty_columns(empty)
            return replace(done, empty_columns=left_out, notes=(left_out, *done.notes))
        is_there = self._should_resume(resume, overwrite)
        if not is_there:
            self._check_replacement(overwrite)
            check_may_create(self.out, overwrite)  # before rows are read and parameters chosen
        work = _JobRun(self, stop or threading.Event(), shown, time.monotonic())
        with self.open_source() as source, work.open_run(source, is_there, overwrite) as opened:
            done = work.done(source, *opened, n_threads=n_threads, is_resumed=is_there)
            if done.suggestion is not None and done.suggestion.warnings:
                told = [[doubt.template, *doubt.values] for doubt in done.suggestion.warnings]
                opened[0].store.note({"warnings": told})
            done = _with_matches(opened[0], self._with_levels(opened[0], done))
            self._name(opened[0], source, done)
            return done

    def _with_levels(self, run: Run, done: JobResult) -> JobResult:
        """Find the three levels, on all there is, and count at the one that is shown."""
        if not done.status.n_windows:
            return done
        if has_topic_levels(run):
            find_topic_levels(run, self.level)
            return replace(done, status=replace(run.status(), is_running=False))
        if not run.config.model_config.families:
            return done
        hint = run.config.model_config.n_clusters
        write_levels(run.store, chosen=self.level, noise=self.noise, hint=hint)
        note = None
        if hint is not None:
            counts = [len(record.ids) for record in run.history(labels=False, joined=True)]
            asked = Hint(*check_range("n_clusters", hint), is_joined=True)
            note = asked.compare(float(np.mean(counts)))
        notes = done.notes if note is None else (*done.notes, note)
        status = replace(run.status(), is_running=False)
        return replace(done, status=status, notes=notes, missed_number=note)

    def _name(self, run: Run, source: Source | None, done: JobResult) -> None:
        """Name clusters by the words of a column, where one was named for that."""
        if not done.n_windows:
            return
        column = self.name_by or self.windows.text
        if column is None or column == self.windows.text:
            return
        if source is None:
            raise InputError("describe", "is for files and frames")
        name_clusters_by_terms(run, column, source)

    def choose(self) -> tuple[Suggestion, int]:
        """Choose penalties on the first windows, without a run; also count the rows left out."""
        choices: list[Suggestion] = []
        with self.open_source() as source:
            config = self.config(source)
            ahead = _ahead(self.input, _windows(self, source, None))
            if config.model_config.is_auto:
                initial_memory(config, ahead.first, choices.append)
            else:
                choices.append(_usual(config, ahead.first))
        return choices[0], sum(window.n_dropped_rows for window in ahead.first)

    def open_source(self) -> AbstractContextManager[Source | None]:
        """Open the table to read it; there is none to open for a live source."""
        if self.input.is_live:
            return nullcontext()
        column = self.windows.text_column
        return Source(self.input.rows, reading=self.input.reading, text_column=column)

    def config(self, source: Source | None) -> RunConfig:
        """Return the configuration of the run."""
        wanted = self.windows.features
        fields = {**self.windows.to_fields(), **self.input.reading.to_fields()}
        model_config = self.model_config
        if self.windows.text is not None:
            features = vector_names(self.windows.text)
            model_config = self._with_defaults(model_config, TEXTS)
        elif source is None:
            features = tuple(name.strip() for text in wanted for name in text.split(","))
        else:
            others = self.windows.others
            columns = match_features(wanted, source.named, besides=others, is_text_allowed=True)
            vectors = source.vectors(columns)
            features = tuple(one for name in columns for one in vectors.get(name, [name]))
            if self.unset_fields and len(vectors) == len(columns):
                model_config = self._with_defaults(model_config, VECTORS)
        kept = {"input": self.input.name, **fields}
        model_config = replace(
            model_config, families=model_config.families or self._is_joined(model_config)
        )
        return RunConfig(features, model_config, kept, self.sample_size)

    def _is_joined(self, model_config: ModelConfig) -> bool:
        """Return whether evidence is gathered for joining; texts have levels of their own."""
        if model_config.method != DYNMEANS and self.level not in (None, FINE):
            rule = "is for clusters of {method='dynmeans'}"
            raise InputError("level", rule, got=self.level)
        if self.windows.text is not None or model_config.method != DYNMEANS:
            return False
        if model_config.is_open and find_space(model_config.space).centers == "sphere":
            return False
        return self.level not in (None, FINE) or (self.level is None and model_config.is_open)

    def may_be_detections(self, model_config: ModelConfig) -> bool:
        """Return whether no option was set that detections do not support."""
        is_free = (
            self.level is None
            and model_config.n_clusters is None
            and model_config.method == DYNMEANS
        )
        is_free &= self.windows.text is None and model_config.space == "raw"
        return is_free and model_config.penalties == ModelConfig().penalties

    def _with_defaults(self, model_config: ModelConfig, kind: str) -> ModelConfig:
        usual = defaults_of("cluster", kind)
        # Another clusterer makes no search.
        unused = {"search", "n_init"} if model_config.method != DYNMEANS else set()
        names = [name for name in self.unset_fields if name not in unused]
        return replace(model_config, **{name: usual[name] for name in names})

    def _should_resume(self, resume: bool | None, overwrite: bool) -> bool:
        """Return whether there is a run to resume; one without a window is made again."""
        exists = (self.out / DATABASE).exists() and not overwrite
        exists = exists and (resume is True or not self._is_empty())
        if resume and not exists:
            message = "{resume=True}: there is no run {!r} to resume."
            raise FileNotFoundError(ArgumentText(message, str(self.out)))
        if resume is False and exists:
            message = "{!r} already contains a run; {overwrite=True} replaces it."
            raise FileExistsError(ArgumentText(message, str(self.out)))
        return exists

    def _check_replacement(self, overwrite: bool) -> None:
        """Refuse where an old run would be gone before it is known what replaces it."""
        is_chosen_late = overwrite and self.input.is_stream and self.model_config.is_auto
        if is_chosen_late and (self.out / DATABASE).exists() and not self._is_empty():
            raise InputError(
                "overwrite",
                "requires {new_penalty} on a stream: otherwise the existing run {!r} would be "
                "deleted before parameters are chosen",
                str(self.out),
                hint="Use another folder, or remove this one.",
            )

    def _is_empty(self) -> bool:
        with Run.open(self.out) as run:
            return run.store.is_empty


def _usual(config: RunConfig, windows: Sequence[Window]) -> Suggestion:
    """Count clusters at the usual penalty of the space, and at a coarser and a finer one."""
    if config.model_config.penalties.new_penalty is not None:
        raise InputError("new_penalty", "is given, so there is nothing to choose")
    as_vectors = vectors_of(config.source)
    seen = [as_vectors(window) for window in windows]
    batches = [Batch(window.points, window.weights) for window in seen]
    return usual_choice(config.model_config, batches, [window.elapsed for window in windows])


def _windows(job: ClusterJob, source: Source | None, position: Mapping[str, Any] | None) -> Any:
    if source is None:
        return LiveWindows(job.input.lines, job.windows, position)
    return Windows(source, job.windows, position)


def _ahead(source: Input, windows: Any) -> BufferedWindows:
    ahead = BufferedWindows(windows, is_live=source.is_live)
    if not ahead.first:
        _check_lacking(getattr(windows, "missing", {}))
        rule = "the input holds no rows to choose on: it is empty, or every row lacks a value"
        raise InputError("", rule)
    return ahead


def _check_lacking(missing: Mapping[str, int]) -> None:
    """Refuse an input of which every row was left out, and name the columns that it lacks."""
    lacking = ", ".join(f"{n:,} lack {name!r}" for name, n in missing.items() if n)
    if lacking:
        hint = "Check that these columns hold numbers, and how they are written."
        raise InputError("", "every row of the input lacks a value: {}", lacking, hint=hint)


@dataclass(slots=True)
class _JobRun:
    """One call of a job."""

    job: ClusterJob
    stop: threading.Event
    shown: JobCallbacks
    begin: float

    @contextmanager
    def open_run(
        self, source: Source | None, is_there: bool, overwrite: bool
    ) -> Iterator[tuple[Run, _PreparedSource]]:
        """Open or make the run; a source that cannot be read makes none."""
        job, config = self.job, self.job.config(source)
        if not (is_there or job.input.is_stream):
            prepared = self._prepare(config, _windows(self.job, source, None))
            config = prepared.config or config
            with Run.create(job.out, config, overwrite=overwrite) as run:
                run.set_initial_memory(prepared.memory)
                yield run, prepared
            return
        # A stream needs its run at once: messages are kept there that their place does not keep.
        open_or_create = Run.open if is_there else partial(Run.create, overwrite=overwrite)
        if is_there:
            config = _as_chosen(config, job.out)
        with open_or_create(job.out, config) as run:
            run.lock()  # before the position is read: nobody may move it
            windows = self._stream(run) if job.input.is_stream else None
            prepared = _PreparedSource(windows or _windows(self.job, source, run.position))
            if not run.has_windows:
                try:
                    prepared = self._prepare(config, prepared.windows)
                except StoppedError:
                    prepared = _PreparedSource(raise_on_first_read(StoppedError()))
                run.set_initial_memory(prepared.memory)
            yield run, prepared

    def _stream(self, run: Run) -> StreamWindows:
        options, source = self.job.windows, self.job.input
        stream = open_stream(source.rows, options.columns, self.stop)
        return StreamWindows(stream, options, run, stop=self.stop, idle_timeout=source.idle_timeout)

    def _prepare(self, config: RunConfig, windows: Any) -> _PreparedSource:
        """Look at the first windows, where the model configuration leaves something open."""
        if not needs_warm_up(config.model_config):
            return _PreparedSource(windows)
        choices: list[Suggestion] = []
        with self.shown.while_choosing() if config.model_config.is_auto else nullcontext():
            ahead = _ahead(self.job.input, windows)
            share = 0.0
            if not self.job.input.is_stream and self.job.may_be_detections(config.model_config):
                share = share_of_objects([window.points for window in ahead.first])
            if share > CLEAR:
                config = _of_detections(config)
            memory = initial_memory(config, ahead.first, choices.append)
        if share > CLEAR:
            choices = [
                replace(one, warnings=(note_single_objects(share), *one.warnings))
                for one in choices
            ]
        for found in choices:
            if not found.has_lasting_clusters and ahead.error is not None:
                raise ahead.error
            if self.shown.on_suggestion is not None:
                self.shown.on_suggestion(found)
        return _PreparedSource(ahead, memory, choices[0] if choices else None, config)

    def done(
        self,
        source: Source | None,
        run: Run,
        prepared: _PreparedSource,
        *,
        n_threads: int | None,
        is_resumed: bool,
    ) -> JobResult:
        """Process all windows and return the result."""
        windows, before = prepared.windows, run.status()
        total = None if source is None else windows.n_rows
        done = (run.position or {}).get("rows_read", 0)
        with self.shown.progress(total, done, run.config.features) as on_window:
            commit_seconds = 0.0 if source is None else 2.0
            options = {"on_window": on_window, "n_threads": n_threads}
            is_stopped = self._take_all(run, windows, commit_seconds=commit_seconds, **options)
        status = replace(run.status(), is_running=False)  # as soon as this block is left
        missing: Mapping[str, int] = getattr(windows, "missing", {})
        if status.n_dropped_rows and not (
            status.n_rows or is_stopped or self.job.windows.keep_last_open
        ):
            _check_lacking(missing)
        stop_words = stop_word_note(run)
        return JobResult(
            status=status,
            n_windows=status.n_windows - before.n_windows,
            n_rows=status.n_rows - before.n_rows,
            n_repeated=getattr(windows, "n_repeated", 0),
            seconds=time.monotonic() - self.begin,
            is_resumed=is_resumed,
            suggestion=prepared.choice,
            missing=missing,
            unread=getattr(windows, "unread", ""),
            is_stopped=is_stopped,
            new_cluster_distance=new_cluster_distance(run),
            stop_words=stop_words,
            notes=tuple(filter(None, (stop_words, *_notes(run, prepared.choice)))),
        )

    def _take_all(self, run: Run, windows: Any, **options: Any) -> bool:
        """Take all windows in; return whether the job was stopped on the way."""
        with self.job.after.make_hook(run, self.stop) as send:
            model_config = run.config.model_config
            is_due = model_config.families
            levels = LevelsInTime(partial(write_levels, run.store, hint=model_config.n_clusters))
            if has_topic_levels(run):
                is_due = self.job.input.is_live or self.job.input.is_stream
                levels = LevelsInTime(partial(find_topic_levels, run))

            def after_commit() -> None:
                if is_due:
                    levels.after_commit()
                send()

            try:
                if self.job.input.is_stream:
                    run.process(windows, after_commit=after_commit, **options)
                    windows.settle()
                else:
                    run.process_all(windows, stop=self.stop, after_commit=after_commit, **options)
            except StoppedError:
                return True
            return False


def _of_detections(config: RunConfig) -> RunConfig:
    model_config = replace(config.model_config, method=DETECTIONS, families=False)
    return replace(config, model_config=model_config)


def _as_chosen(config: RunConfig, folder: Path) -> RunConfig:
    """Return the configuration with the method that the run chose when it was made."""
    with Run.open(folder) as run:
        is_chosen = run.has_windows and run.config.model_config.method == DETECTIONS
    return (
        _of_detections(config) if is_chosen and config.model_config.method == DYNMEANS else config
    )


def _with_matches(run: Run, done: JobResult) -> JobResult:
    """Add the suggested matches of the clusters that are shown, once their level is known."""
    n_remembered = run.cluster_state.n_clusters
    if (penalties := run.penalties) is None or run.status().n_subclusters <= n_remembered:
        return done
    note = note_suggested_matches(run, penalties.max_gap)
    return done if note is None else replace(done, notes=(*done.notes, note))


def _notes(run: Run, choice: Suggestion | None) -> Iterator[ArgumentText | None]:
    """Return notes on columns or options that were not found, with suggestions."""
    yield suggest_space(run)
    if n_wordless := run.status().n_wordless:
        yield ArgumentText(
            f"{format_count(n_wordless, 'row')} without a word: noise, with label -1."
        )
    yield format_scale_sensitivity(scale_sensitivity_of_run(run))
    found, model_config = n_per_window(run.store), run.config.model_config
    is_grouped = model_config.families or has_topic_levels(run)
    if model_config.n_clusters is not None and not is_grouped:
        yield Hint(*check_range("n_clusters", model_config.n_clusters), False).render(found)
    elif choice is not None:
        yield choice.compare_n_clusters(found, run.status().n_windows)
