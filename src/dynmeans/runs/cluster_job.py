"""ClusterJob: a table or a stream into a run folder, made or resumed, to its end."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dynmeans.engine.batch import Batch
from dynmeans.families.levels import FINE
from dynmeans.follow.defaults import TEXTS, VECTORS, defaults_of
from dynmeans.follow.memory import Memory
from dynmeans.follow.methods import DETECTIONS, OURS
from dynmeans.follow.recipe import Recipe
from dynmeans.follow.usual_choice import usual_choice
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import checked_range
from dynmeans.inputs.plural import counted
from dynmeans.parameters.hint import Hint
from dynmeans.parameters.single_objects import CLEAR, share_of_objects
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.after_commit import NOTHING, AfterCommit
from dynmeans.runs.choosing import ReadAhead, begun, looks_ahead, raising
from dynmeans.runs.configuration import N_KEPT, RunConfig
from dynmeans.runs.input import Input
from dynmeans.runs.levels import LevelsInTime, write_levels
from dynmeans.runs.look.links import link_words, links_of_run
from dynmeans.runs.look.other_scales import scales_in_words, scales_of_run
from dynmeans.runs.look.space_words import new_beyond, proposed_space
from dynmeans.runs.look.status import RunStatus
from dynmeans.runs.look.telling_values import name_by_words
from dynmeans.runs.look.topics import group_run, stop_word_note
from dynmeans.runs.reading.columns import match_features
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
from dynmeans.runs.streams.watermark import StreamWindows
from dynmeans.runs.texts import vector_names, vectors_of

# From the rows of the source, if they are known, those read before, and the names of the features,
# to what sees each window.
Progress = Callable[[int | None, int, tuple[str, ...]], AbstractContextManager[OnWindow | None]]


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """What one call did; `new_beyond` is lambda as a distance, in the unit of the space."""

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
    new_beyond: str = ""
    stop_words: ArgumentText | None = None  # What to do about topics that words of grammar name
    notes: tuple[ArgumentText, ...] = ()  # What the user may want to know, and do about it


@dataclass(frozen=True, slots=True)
class Shown:
    """Who is told how far a job is; nobody by default."""

    # Opened around the work; what it gives sees every window.
    progress: Progress = lambda total, done, features: nullcontext()
    # Opened while parameters are chosen on the first windows.
    while_choosing: Callable[[], AbstractContextManager[None]] = nullcontext
    # Called with what was chosen, before the first step.
    on_choice: Callable[[Suggestion], None] | None = None


QUIETLY = Shown()


class _Begun(NamedTuple):
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
    recipe: Recipe  # How windows are clustered
    out: Path  # Folder of the run
    after: AfterCommit = NOTHING  # What is done with windows once they are committed
    # Of `space` and `search`, those that nobody gave: where rows are vectors, they suit these
    of_vectors: Sequence[str] = ()
    describe: str | None = None  # Column whose values or words name the clusters
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
        shown: Shown = QUIETLY,
    ) -> ClusterResult:
        """Make the run, or resume it, until the source ends; once `stop` is set, until a window."""
        self.input.check(self.windows, self.out)
        is_there = self._is_there(resume, overwrite)
        if not is_there:
            self._check_replacement(overwrite)
            check_may_create(self.out, overwrite)  # before rows are read and parameters chosen
        work = _Work(self, stop or threading.Event(), shown, time.monotonic())
        with self.open_source() as source, work.opened(source, is_there, overwrite) as opened:
            done = work.done(source, *opened, n_threads=n_threads, is_resumed=is_there)
            if done.suggestion is not None and done.suggestion.doubts:
                told = [[doubt.template, *doubt.values] for doubt in done.suggestion.doubts]
                opened[0].store.note({"doubts": told})
            done = self._with_levels(opened[0], done)
            self._name(opened[0], source, done)
            return done

    def _with_levels(self, run: Run, done: ClusterResult) -> ClusterResult:
        """Find the three levels, on all there is, and count at the one that is shown."""
        if not run.config.recipe.families or not done.status.n_windows:
            return done
        hint = run.config.recipe.n_clusters
        write_levels(run.store, chosen=self.level, noise=self.noise, hint=hint)
        return replace(done, status=replace(run.status(), is_running=False))

    def _name(self, run: Run, source: Source | None, done: ClusterResult) -> None:
        """Name clusters by the words of a column, where one was named for that."""
        if not done.n_windows:
            return
        if self.windows.text is not None:
            group_run(run)
        column = self.describe or self.windows.text
        if column is None or column == self.windows.text:
            return
        if source is None:
            raise InputError("describe", "is for files and frames")
        name_by_words(run, column, source)

    def choose(self) -> tuple[Suggestion, int]:
        """Choose penalties on the first windows, without a run; also count the rows left out."""
        choices: list[Suggestion] = []
        with self.open_source() as source:
            config = self.config(source)
            ahead = _ahead(self.input, _windows(self, source, None))
            if config.recipe.is_auto:
                begun(config, ahead.first, choices.append)
            else:
                choices.append(_usual(config, ahead.first))
        return choices[0], sum(window.n_dropped for window in ahead.first)

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
        recipe = self.recipe
        if self.windows.text is not None:
            features = vector_names(self.windows.text)
            recipe = self._with_defaults(recipe, TEXTS)
        elif source is None:
            features = tuple(name.strip() for text in wanted for name in text.split(","))
        else:
            others = self.windows.others
            columns = match_features(wanted, source.named, besides=others, is_text_allowed=True)
            vectors = source.vectors(columns)
            features = tuple(one for name in columns for one in vectors.get(name, [name]))
            if self.of_vectors and len(vectors) == len(columns):
                recipe = self._with_defaults(recipe, VECTORS)
        kept = {"input": self.input.name, **fields}
        recipe = replace(recipe, families=recipe.families or self._is_joined(recipe))
        return RunConfig(features, recipe, kept, self.sample_size)

    def _is_joined(self, recipe: Recipe) -> bool:
        """Say whether evidence is gathered for joining; texts have levels of their own."""
        if self.windows.text is not None or recipe.method != OURS:
            if self.level not in (None, FINE):
                rule = "is for clusters of {method='dynmeans'} in columns of numbers"
                raise InputError("level", rule, got=self.level)
            return False
        return self.level not in (None, FINE) or (self.level is None and recipe.is_open)

    def may_be_detections(self, recipe: Recipe) -> bool:
        """Say whether nothing was asked for that rows which are objects do not have."""
        is_free = self.level is None and recipe.n_clusters is None and recipe.method == OURS
        is_free &= self.windows.text is None and recipe.space == "raw"
        return is_free and recipe.penalties == Recipe().penalties

    def _with_defaults(self, recipe: Recipe, kind: str) -> Recipe:
        usual = defaults_of("cluster", kind)
        # Another clusterer makes no search.
        unused = {"search", "n_init"} if recipe.method != OURS else set()
        names = [name for name in self.of_vectors if name not in unused]
        return replace(recipe, **{name: usual[name] for name in names})

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
        is_chosen_late = overwrite and self.input.is_stream and self.recipe.is_auto
        if is_chosen_late and (self.out / DATABASE).exists() and not self._is_empty():
            raise InputError(
                "overwrite",
                "needs {new_penalty} on a stream: the run {!r} would be lost before penalties are "
                "chosen",
                str(self.out),
                hint="Use another folder, or remove this one.",
            )

    def _is_empty(self) -> bool:
        with Run.open(self.out) as run:
            return run.store.is_empty


def _usual(config: RunConfig, windows: Sequence[Window]) -> Suggestion:
    """Count clusters at the usual penalty of the space, and at a coarser and a finer one."""
    if config.recipe.penalties.new_penalty is not None:
        raise InputError("new_penalty", "is given, so there is nothing to choose")
    as_vectors = vectors_of(config.source)
    seen = [as_vectors(window) for window in windows]
    batches = [Batch(window.points, window.weights) for window in seen]
    return usual_choice(config.recipe, batches, [window.elapsed for window in windows])


def _windows(job: ClusterJob, source: Source | None, position: Mapping[str, Any] | None) -> Any:
    if source is None:
        return LiveWindows(job.input.lines, job.windows, position)
    return Windows(source, job.windows, position)


def _ahead(source: Input, windows: Any) -> ReadAhead:
    ahead = ReadAhead(windows, is_live=source.is_live)
    if not ahead.first:
        rule = "the input holds no rows to choose on: it is empty, or every row lacks a value"
        raise InputError("", rule)
    return ahead


@dataclass(slots=True)
class _Work:
    """One call of a job."""

    job: ClusterJob
    stop: threading.Event
    shown: Shown
    begin: float

    @contextmanager
    def opened(
        self, source: Source | None, is_there: bool, overwrite: bool
    ) -> Iterator[tuple[Run, _Begun]]:
        """Open or make the run; a source that cannot be read makes none."""
        job, config = self.job, self.job.config(source)
        if not (is_there or job.input.is_stream):
            begun = self._begun(config, _windows(self.job, source, None))
            config = begun.config or config
            with Run.create(job.out, config, overwrite=overwrite) as run:
                run.begin(begun.memory)
                yield run, begun
            return
        # A stream needs its run at once: messages are kept there that their place does not keep.
        opened = Run.open if is_there else partial(Run.create, overwrite=overwrite)
        if is_there:
            config = _as_chosen(config, job.out)
        with opened(job.out, config) as run:
            run.lock()  # before the position is read: nobody may move it
            windows = self._stream(run) if job.input.is_stream else None
            begun = _Begun(windows or _windows(self.job, source, run.position))
            if not run.is_begun:
                try:
                    begun = self._begun(config, begun.windows)
                except StoppedError:
                    begun = _Begun(raising(StoppedError()))
                run.begin(begun.memory)
            yield run, begun

    def _stream(self, run: Run) -> StreamWindows:
        options, source = self.job.windows, self.job.input
        stream = open_stream(source.rows, options.columns, self.stop)
        return StreamWindows(stream, options, run, stop=self.stop, until_idle=source.until_idle)

    def _begun(self, config: RunConfig, windows: Any) -> _Begun:
        """Look at the first windows, where the recipe leaves something open."""
        if not looks_ahead(config.recipe):
            return _Begun(windows)
        choices: list[Suggestion] = []
        with self.shown.while_choosing() if config.recipe.is_auto else nullcontext():
            ahead = _ahead(self.job.input, windows)
            share = 0.0
            if not self.job.input.is_stream and self.job.may_be_detections(config.recipe):
                share = share_of_objects([window.points for window in ahead.first])
            if share > CLEAR:
                config = _of_detections(config)
            memory = begun(config, ahead.first, choices.append)
        if share > CLEAR:
            choices = [replace(one, doubts=(_objects(share), *one.doubts)) for one in choices]
        for found in choices:
            if not found.is_followed and ahead.error is not None:
                raise ahead.error
            if self.shown.on_choice is not None:
                self.shown.on_choice(found)
        return _Begun(ahead, memory, choices[0] if choices else None, config)

    def done(
        self,
        source: Source | None,
        run: Run,
        begun: _Begun,
        *,
        n_threads: int | None,
        is_resumed: bool,
    ) -> ClusterResult:
        """Take all windows in, and say what was done."""
        windows, before = begun.windows, run.status()
        total = None if source is None else windows.n_rows
        done = (run.position or {}).get("rows_read", 0)
        with self.shown.progress(total, done, run.config.features) as on_window:
            commit_seconds = 0.0 if source is None else 2.0
            options = {"on_window": on_window, "n_threads": n_threads}
            is_stopped = self._take_all(run, windows, commit_seconds=commit_seconds, **options)
        status = replace(run.status(), is_running=False)  # as soon as this block is left
        missing: Mapping[str, int] = getattr(windows, "missing", {})
        if status.n_dropped and not (status.n_rows or is_stopped or self.job.windows.hold_last):
            raise InputError(
                "",
                "every row of the input lacks a value: {}",
                ", ".join(f"{n:,} lack {name!r}" for name, n in missing.items() if n),
                hint="Check that these columns hold numbers, and how they are written.",
            )
        stop_words = stop_word_note(run)
        return ClusterResult(
            status=status,
            n_windows=status.n_windows - before.n_windows,
            n_rows=status.n_rows - before.n_rows,
            n_repeated=getattr(windows, "n_repeated", 0),
            seconds=time.monotonic() - self.begin,
            is_resumed=is_resumed,
            suggestion=begun.choice,
            missing=missing,
            unread=getattr(windows, "unread", ""),
            is_stopped=is_stopped,
            new_beyond=new_beyond(run),
            stop_words=stop_words,
            notes=tuple(filter(None, (stop_words, *_notes(run, begun.choice)))),
        )

    def _take_all(self, run: Run, windows: Any, **options: Any) -> bool:
        """Take all windows in; say whether the job was stopped on the way."""
        with self.job.after.following(run, self.stop) as send:
            levels = LevelsInTime(run.store, run.config.recipe.n_clusters)

            def after_commit() -> None:
                if run.config.recipe.families:
                    levels.after_commit()
                send()

            try:
                if self.job.input.is_stream:
                    run.process(windows, after_commit=after_commit, **options)
                    windows.settle()
                else:
                    run.follow(windows, stop=self.stop, after_commit=after_commit, **options)
            except StoppedError:
                return True
            return False


def _of_detections(config: RunConfig) -> RunConfig:
    recipe = replace(config.recipe, method=DETECTIONS, families=False)
    return replace(config, recipe=recipe)


def _as_chosen(config: RunConfig, folder: Path) -> RunConfig:
    """Return the configuration with the method that the run chose when it was made."""
    with Run.open(folder) as run:
        is_chosen = run.is_begun and run.config.recipe.method == DETECTIONS
    return _of_detections(config) if is_chosen and config.recipe.method == OURS else config


def _objects(share: float) -> ArgumentText:
    return ArgumentText(
        "{:.0%} of the rows are nearer to a row of the next window than to any of their own, so "
        "every row is taken for an object of its own, as with {method='detections'}. "
        "{level='default'} clusters rows instead.",
        share,
    )


def _notes(run: Run, choice: Suggestion | None) -> Iterator[ArgumentText | None]:
    """Say what was not found as it was asked for or told, and what else it might be."""
    yield proposed_space(run)
    if n_wordless := run.status().n_wordless:
        yield ArgumentText(f"{counted(n_wordless, 'row')} without a word: noise, with label -1.")
    # A cluster was forgotten: others may be the same.
    if (penalties := run.penalties) and run.status().n_identities > run.state.n_clusters:
        yield link_words(links_of_run(run), penalties.max_gap)
    yield scales_in_words(scales_of_run(run))
    found, recipe = n_per_window(run.store), run.config.recipe
    is_text = bool(run.config.source.get("text"))
    if recipe.n_clusters is not None and not (recipe.families or is_text):
        yield Hint(*checked_range("n_clusters", recipe.n_clusters), False).told(found)
    elif choice is not None:
        yield choice.told_beside(found, run.status().n_windows)
