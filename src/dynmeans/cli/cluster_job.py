"""What `dynmeans cluster` does, once its options are read."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import typer

from dynmeans.cli.output import print_json
from dynmeans.inputs.features import feature_numbers
from dynmeans.inputs.plural import counted
from dynmeans.records.penalties import DEFAULT_MOTION, Penalties, penalties_with_defaults
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.columns import match_features
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.sources import Source
from dynmeans.runs.reading.window_options import WindowOptions
from dynmeans.runs.reading.windows import Windows
from dynmeans.runs.run import Run
from dynmeans.runs.status import RunStatus
from dynmeans.runs.store.schema import DATABASE

LIVE = "-"


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """What one call of the command did."""

    status: RunStatus
    n_batches: int
    n_rows: int
    n_repeated: int
    seconds: float
    is_resumed: bool
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """A table, how it is cut, how it is clustered, and where the run goes."""

    table: str
    out: Path
    options: WindowOptions
    reading: dict[str, str | None]
    penalties: dict[str, float]
    revival: str
    motion: str | None
    moving: tuple[str, ...] | None
    settings: dict[str, Any]
    is_suggested: bool
    is_quiet: bool = False

    def start(self, *, resume: bool | None, overwrite: bool, threads: int | None) -> ClusterResult:
        """Make the run, or go on with it, until the source ends."""
        self._check()
        exists = (self.out / DATABASE).exists() and not overwrite
        exists = exists and (resume is True or not self._is_empty())
        if resume and not exists:
            raise FileNotFoundError(f"--resume: there is no run {str(self.out)!r} to go on with.")
        if resume is False and exists:
            raise FileExistsError(
                f"{str(self.out)!r} holds a run already; --overwrite replaces it."
            )
        begin = time.monotonic()
        with self._source() as source, self._run(source, exists, overwrite) as opened:
            run, windows, doubts = opened
            before = run.status()
            total = windows.n_rows if isinstance(windows, Windows) else None
            done = windows.position.get("rows_read", 0)
            with _view(total, done, self.is_quiet) as on_batch:
                n_batches = run.follow(
                    windows,
                    on_batch=on_batch,
                    n_threads=threads,
                    commit_seconds=0.0 if source is None else 2.0,
                )
            status = replace(run.status(), is_running=False)  # as soon as this block is left
        return ClusterResult(
            status=status,
            n_batches=n_batches,
            n_rows=status.n_rows - before.n_rows,
            n_repeated=windows.n_repeated if isinstance(windows, LiveWindows) else 0,
            seconds=time.monotonic() - begin,
            is_resumed=exists,
            doubts=doubts,
        )

    def _check(self) -> None:
        if self.is_suggested and not self.penalties.keys() <= {"max_gap", "reach"}:
            raise ValueError("--suggest goes with --max-gap and --reach, and no other penalty.")
        if not self.is_suggested and "new_penalty" not in self.penalties:
            raise ValueError(
                "--new-penalty is needed: the squared distance beyond which a point starts a new "
                "cluster. Or let --suggest choose it."
            )
        if Path(self.table).is_dir() and self.out.resolve().is_relative_to(
            Path(self.table).resolve()
        ):
            raise ValueError(
                f"--out must not lie in the folder of the rows, {self.table!r}: the run's own "
                "files would be read as rows."
            )
        if self.is_suggested and self.table == LIVE:
            raise ValueError("--suggest needs rows it can read twice, not standard input.")

    def _source(self) -> AbstractContextManager[Source | None]:
        if self.table == LIVE:
            return nullcontext()
        return Source(
            self.table,
            query=self.reading["sql"],
            database_table=self.reading["table"],
            text_column=self.options.text_column,
        )

    def _windows(
        self, source: Source | None, position: dict[str, Any] | None
    ) -> Windows | LiveWindows:
        if source is None:
            return LiveWindows(sys.stdin.buffer, self.options, position)
        return Windows(source, self.options, position)

    @contextmanager
    def _run(
        self, source: Source | None, exists: bool, overwrite: bool
    ) -> Iterator[tuple[Run, Windows | LiveWindows, tuple[str, ...]]]:
        """Open or make the run; a source that cannot be read makes none."""
        if exists:
            config = self._config(source, self._stored_or_given_penalties(source))
            run = Run.open(self.out, config)
            with run:
                yield run, self._windows(source, run.position), ()
            return
        windows = self._windows(source, None)
        found = self._suggested(source) if self.is_suggested else None
        config = self._config(
            source, self._chosen(found) if found else self._given_penalties(source)
        )
        with Run.create(self.out, config, overwrite=overwrite or self._is_empty()) as run:
            yield run, windows, found.doubts if found else ()

    def _is_empty(self) -> bool:
        """Say whether there is a run without a window: one that failed before its first commit."""
        if not (self.out / DATABASE).exists():
            return False
        with Run.open(self.out) as run:
            return run.status().n_batches == 0

    def _stored_or_given_penalties(self, source: Source | None) -> Penalties:
        """What was suggested then is what goes on now."""
        if not self.is_suggested:
            return self._given_penalties(source)
        with Run.open(self.out) as run:
            return run.config.penalties

    def _config(self, source: Source | None, penalties: Penalties) -> RunConfig:
        table = LIVE if source is None else os.path.abspath(self.table)
        fields = self.options.to_source_fields(table) | self.reading
        return RunConfig(self._features(source), penalties, source=fields, **self.settings)

    def _features(self, source: Source | None) -> tuple[str, ...]:
        if source is not None:
            return match_features(self.options.features, source.columns, is_text_allowed=True)
        return tuple(name.strip() for text in self.options.features for name in text.split(","))

    def _moving_features(self, source: Source | None) -> tuple[int, ...] | None:
        features = self._features(source)
        return feature_numbers(self.moving, len(features), features)

    def _given_penalties(self, source: Source | None) -> Penalties:
        return penalties_with_defaults(
            **self.penalties,
            revival=self.revival,
            motion=self.motion or DEFAULT_MOTION,
            moving=self._moving_features(source),
        )

    def _chosen(self, found: Suggestion) -> Penalties:
        return found.penalties.with_revival(self.revival)

    def _suggested(self, source: Source | None) -> Suggestion:
        from dynmeans.cli.suggestion_job import (
            in_options,
            suggest_on_first_windows,
            tell_doubts,
        )

        assert source is not None
        found = suggest_on_first_windows(
            source,
            self.options,
            standardise=self.settings["standardise"],
            n_init=self.settings["n_init"],
            max_gap=self.penalties.get("max_gap"),
            reach=self.penalties.get("reach"),
            motion=self.motion,
            moving=self._moving_features(source),
        )
        if not self.is_quiet:
            sys.stderr.write(f"dynmeans: {in_options(found.explanation)}\n")
            tell_doubts(found)
        return found


def _view(total: int | None, done: int, quiet: bool) -> AbstractContextManager[Any]:
    """Show a terminal how far the run is; load what draws it only then."""
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from dynmeans.cli.live_view import live_view

    return live_view(total, done)


def show_result(result: ClusterResult, *, as_json: bool, quiet: bool, errors: TextIO) -> None:
    """Say what was done: one JSON object, or a line for people and logs."""
    status = result.status
    if as_json:
        print_json(
            {
                **asdict(status),
                "is_resumed": result.is_resumed,
                "new_batches": result.n_batches,
                "new_rows": result.n_rows,
                "repeated_rows": result.n_repeated,
                "seconds": round(result.seconds, 3),
                "doubts": list(result.doubts),
            }
        )
        return
    if quiet:
        return
    if result.is_resumed and result.n_batches == 0 and status.is_finished:
        typer.echo(f"already complete: {counted(status.n_batches, 'window')}. Run: {status.folder}")
        return
    rate = result.n_rows / result.seconds if result.seconds > 0 else 0.0
    began = "went on: " if result.is_resumed else ""
    typer.echo(
        f"{began}{counted(result.n_batches, 'window')}, {counted(result.n_rows, 'row')} in "
        f"{result.seconds:.1f} s ({rate:,.0f} rows/s); {counted(status.n_clusters, 'cluster')} "
        f"now, {status.n_identities:,} in all. Run: {status.folder}"
    )
    if status.n_dropped or status.n_late or result.n_repeated:
        errors.write(
            f"dynmeans: {counted(status.n_dropped, 'row')} dropped for a missing value, "
            f"{status.n_late:,} too late, {result.n_repeated:,} taken in before.\n"
        )
