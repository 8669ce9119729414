"""ClusterResult: what `dynmeans.cluster` found, in the form in which the rows came."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.cluster_function.input_rows import read_column, read_examples
from dynmeans.cluster_function.input_tables import LABEL, InputTable, with_dates
from dynmeans.cluster_function.levels import LevelsShown, levels_shown
from dynmeans.cluster_function.notebook import (
    display,
    display_figure,
    display_widget,
    summary_table,
    to_iframe,
)
from dynmeans.cluster_function.scratch import ScratchFolder
from dynmeans.cluster_function.summary import dropped_rows_message, summary_lines
from dynmeans.cluster_function.view import ReportView
from dynmeans.families.levels import FINE
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.old_names import suggest_attribute
from dynmeans.records.arrays import IntArray
from dynmeans.records.families import Families
from dynmeans.records.history import History
from dynmeans.records.penalties import Penalties
from dynmeans.runs.analysis.label_view import confirmed_of_run, view_of_run
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.analysis.row_scores import confidences, predict_rows
from dynmeans.runs.analysis.run_families import families_of_run
from dynmeans.runs.analysis.status import RunStatus
from dynmeans.runs.analysis.suggested_matches import SuggestedMatch, suggested_matches_of_run
from dynmeans.runs.analysis.summary import summarize_run
from dynmeans.runs.analysis.topics import topic_table, topic_words
from dynmeans.runs.cluster_job import ClusterJob, JobResult
from dynmeans.runs.export.export_labels import export_labels
from dynmeans.runs.export.geojson import write_geojson
from dynmeans.runs.run import Run

_ASK = "Call dynmeans.cluster(..., families=True)."


class ClusterResult:
    """Result of `dynmeans.cluster`: the rows of a frame with the IDs of their clusters.

    Tables are read from the run folder on first access.

    Attributes
    ----------
    folder : Path
        The run folder, which all commands accept too. A temporary one, if `run_folder` was not
        given, is removed with this object.
    suggestion : Suggestion or None
        The choice of penalties, if they were not given.

    See Also
    --------
    dynmeans.cluster : Makes this object.
    Run : The run folder, opened.

    Examples
    --------
    >>> import dynmeans, numpy as np, pandas as pd
    >>> frame = pd.DataFrame({"day": [0, 0, 1, 1], "x": [0.0, 9.0, 0.2, 9.1]})
    >>> result = dynmeans.cluster(frame, window_column="day", features=["x"], new_penalty=4.0)
    >>> result.labels.tolist()
    [0, 1, 0, 1]
    >>> result.clusters[["cluster_id", "n_points", "status"]].values.tolist()
    [[0, 2, 'active'], [1, 2, 'active']]
    """

    def __init__(
        self,
        job: ClusterJob,
        origin: InputTable,
        done: JobResult,
        scratch: ScratchFolder,
    ) -> None:
        self.folder: Path = job.out
        self.suggestion = done.suggestion
        self._job, self._origin, self._done = job, origin, done
        self._scratch, self._status = scratch, done.status
        self._is_kept = not self.folder.is_relative_to(scratch.path)

    def __getattr__(self, name: str) -> Any:
        """Name the present attribute if an old one is read."""
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(f"{message}.{suggest_attribute(name)}")

    @property
    def status(self) -> RunStatus:
        """The numbers of the run."""
        return self._status

    @property
    def missing_counts(self) -> Mapping[str, int]:
        """Number of dropped rows without a value, by column."""
        return {name: n for name, n in self._done.missing.items() if n}

    @cached_property
    def penalties(self) -> Penalties:
        """lambda, max_gap and reach, as given or chosen."""
        with self.open_run() as run:
            found = run.penalties
        assert found is not None, "a run without a window raises before"
        return found

    @cached_property
    def families(self) -> Families | None:
        """Clusters that belong together; None unless `families` was requested."""
        if not self._job.model_config.families:
            return None
        with self.open_run() as run:
            return families_of_run(run)

    @property
    def confirmed_labels(self) -> Any:
        """`labels` with -1 for identities below `min_cluster_size` or `min_batches`."""
        with self.open_run() as run:
            ids, shown = confirmed_of_run(run), run.edits.resolve_ids
        return self._labels(lambda found: np.where(np.isin(shown(found), ids), shown(found), -1))

    @cached_property
    def labels(self) -> Any:
        """Cluster of every row, null where it was left out: a series on the frame's own index.

        Noise is -1.

        Of texts with `n_clusters` the identity of its group, and -1 for a text without a word.
        A series of polars or an Arrow array for those; for a path or a relation a pandas series by
        number of row, or by `id`.
        """
        with self.open_run() as run:
            return self._labels(run.edits.resolve_ids)

    @cached_property
    def subcluster_labels(self) -> Any:
        """As `labels`, the subcluster of every row, as it was found."""
        return self._labels(lambda found: found)

    @property
    def levels(self) -> LevelsShown | None:
        """Three answers side by side, "fine", "default" and "coarse"; None without any."""
        with self.open_run() as run:
            return levels_shown(run)

    def choose_level(self, name: str) -> None:
        """Show another of `levels`; stored in the run, and edits stay."""
        with self.open_run() as run:
            run.choose_level(name)
            self._status = run.status()
        self._forget_views()

    def merge(self, cluster_id: int, other_id: int, *, author: str | None = None) -> None:
        """Show two clusters as one, with the first ID; stored in the run with author and time."""
        with self.open_run() as run:
            run.merge_clusters(cluster_id, other_id, author=author)
        self._forget_views()

    def split(self, cluster_id: int, *, author: str | None = None) -> None:
        """Show the subclusters of a cluster separately; stored in the run with author and time."""
        with self.open_run() as run:
            run.split_cluster(cluster_id, author=author)
        self._forget_views()

    @cached_property
    def distances(self) -> Any:
        """Distance of every row to the center of its subcluster, in the unit of the space.

        In the form of `labels`; null where a row was left out.
        """
        return self._by_row("distance", self._read_column("distance"))

    @cached_property
    def confidence(self) -> Any:
        """How clearly every row is in its cluster, between 0 and 1, in the form of `labels`.

        1 less the distance to the own center over that to the nearest center of another cluster in
        the same window: 1 at the center, 0 on the border, and 0 for noise. It compares distances
        and is no probability. The rows are read again.
        """
        with self.open_run() as run:
            return self._by_row("confidence", confidences(run, self._job))

    def predict(self, rows: Any) -> IntArray:
        """Return the cluster that each new row would join now; -1 where it would start a new one.

        Nothing is changed.

        Parameters
        ----------
        rows : data frame, or array of shape (n_rows, n_features)
            A frame with the columns that were clustered; or only their values, in the same order.
            Of texts a frame with their column, or a list.
        """
        vector = self._job.windows.features[0] if len(self._job.windows.features) == 1 else None
        with self.open_run() as run:
            is_vector = vector is not None and vector not in run.config.features
            return predict_rows(run, rows, vector if is_vector else None)

    def examples(self, cluster_id: int, n: int = 5) -> Any:
        """Return the rows most typical of a cluster, then those nearest to its border.

        Parameters
        ----------
        cluster_id : int
            The cluster.
        n : int
            Rows of each kind.

        Returns
        -------
        data frame
            The rows of the input, with `row`, their numbers, `kind`, which is "typical" or
            "border", `distance` and `confidence`.
        """
        labels, distances, confidence = (
            np.asarray(one, dtype=np.float64)
            for one in (self.labels, self.distances, self.confidence)
        )
        return self._origin.frame(
            read_examples(self._job, cluster_id, n, labels, distances, confidence)
        )

    def _labels(self, shown: Callable[[IntArray], IntArray]) -> Any:
        return self._by_row(LABEL, self._read_column("cluster_id", shown))

    def _read_column(
        self, name: str, shown: Callable[[Any], Any] = lambda values: values
    ) -> Iterator[tuple[IntArray, Any]]:
        """Yield numbers of rows and what the run keeps of each, part by part."""
        row = "row_id" if self._job.windows.id is None else "row"
        with self.open_run() as run:
            for table in run.label_tables():
                yield table[row].to_numpy(), shown(table[name].to_numpy())

    def _by_row(self, name: str, parts: Iterator[tuple[IntArray, Any]]) -> Any:
        """Return one value for each row, in the library of the rows; null where there is none."""
        assert self._done.status.position is not None
        n_rows = self._done.status.position["rows_read"]
        kind = np.int64 if name == LABEL else np.float64
        values, is_known = np.full(n_rows, -1, dtype=kind), np.zeros(n_rows, dtype=bool)
        for rows, found in parts:
            is_ours = rows < n_rows  # another call may have added rows to the folder
            values[rows[is_ours]], is_known[rows[is_ours]] = found[is_ours], True
        key = self._job.windows.id
        is_unnamed = self._origin.library == "pandas" and self._origin.index is None
        keys = read_column(self._job, key) if key is not None and is_unnamed else None
        return self._origin.column(name, values, is_known, keys)

    @cached_property
    def clusters(self) -> Any:
        """One row for each cluster: life, size, status and last center."""
        with self.open_run() as run:
            return self._frame(run.clusters(frame="arrow"))

    @cached_property
    def subclusters(self) -> Any:
        """As `clusters`, one row for each subcluster; `merged_into` is its cluster."""
        with self.open_run() as run:
            return self._frame(run.clusters(frame="arrow", level=FINE))

    @property
    def topics(self) -> Any:
        """Clusters of texts as a reader looks at them, the largest first: one row for each.

        Those of fewer than ten texts are one row at the end, "small topics", with the identity -1.
        At the default level they belong to the nearest larger topic, and there is no such row.
        """
        with self.open_run() as run:
            return self._frame(topic_table(run))

    @property
    def words_per_window(self) -> Any:
        """New words of each topic of texts, by window, the most characteristic first.

        A window in which a topic has one text is left out.
        """
        with self.open_run() as run:
            return self._frame(topic_words(run))

    @cached_property
    def events(self) -> Any:
        """One row for each event: when, what, and to which cluster."""
        with self.open_run() as run:
            return self._frame(run.events(frame="arrow"))

    @cached_property
    def history(self) -> History:
        """The record of every window."""
        with self.open_run() as run:
            return run.history(joined=True)

    @property
    def suggested_matches(self) -> list[SuggestedMatch]:
        """Clusters born where a forgotten one had been, which may be the same.

        `run().merge_clusters(link.cluster_id, link.other_id)` shows the two as one.
        """
        with self.open_run() as run:
            return suggested_matches_of_run(run)

    def _forget_views(self) -> None:
        views = ("clusters", "subclusters", "events", "history", "labels", "confidence")
        for cached in views:
            self.__dict__.pop(cached, None)

    def open_run(self) -> Run:
        """Open the run folder, for all that `Run` can do; use it in a ``with`` block."""
        return Run.open(self.folder)

    def describe(self, *columns: str, families: bool = False) -> Any:
        """Describe each cluster in a row: means, standard deviations, distinctive features.

        Parameters
        ----------
        *columns : str
            Further columns of the input to describe clusters by: values or words that distinguish
            each from the others, as ``distinctive_...``.
        families : bool
            Whether to describe families instead of clusters, if these were requested.

        Returns
        -------
        data frame
            In the library that the rows came in.
        """
        if families and self.families is None:
            raise InputError("families", "requires families=True in cluster()", hint=_ASK)
        with self.open_run() as run:
            found = describe_clusters(
                run,
                describe=columns,
                families=self.families if families else None,
                **self._reading(),
            )
        return self._frame(found.to_arrow())

    def name_cluster(self, cluster_id: int, name: str, *, author: str | None = None) -> None:
        """Give a cluster a name, shown wherever it is; stored in the run with author and time."""
        with self.open_run() as run:
            run.name_cluster(cluster_id, name, author=author)
        self._forget_views()

    def summary(self) -> str:
        """Return what was found, how, and what happened: one sentence per line."""
        with self.open_run() as run:
            return "\n".join(dict.fromkeys([*self._lines(), *summarize_run(run)]))

    def write_labels(self, path: str | os.PathLike[str]) -> Path:
        """Write the rows with `cluster_id`: .parquet, .csv, or .jsonl; memory stays flat."""
        with self.open_run() as run:
            export_labels(
                run,
                path,
                input=self._job.input.rows,
                allow_stored_sql=True,
                view=view_of_run(run),
            )
        return Path(path)

    def write_geojson(self, path: str | os.PathLike[str]) -> Path:
        """Write the tracks of clusters on a map as GeoJSON, cut at the date line."""
        with self.open_run() as run:
            return write_geojson(run, path)

    def report(
        self,
        path: str | os.PathLike[str] = "report.html",
        title: str | None = None,
        *,
        describe: str | Sequence[str] = (),
    ) -> Path:
        """Write the page that plays the clusters: one file, for any browser.

        `describe` names columns whose values or words describe each cluster; by default the
        text.
        """
        from dynmeans.report.from_run import write_run_page

        with self.open_run() as run:
            return write_run_page(run, path, **self._page_options(run, title, describe))

    def show(
        self, height: int = 760, title: str | None = None, *, describe: str | Sequence[str] = ()
    ) -> ReportView:
        """Show the report in a notebook.

        Returns
        -------
        ReportView
            `selected` has what is chosen on the page, `select(...)` chooses; needs
            ``dynmeans[notebook]``.
        """
        from dynmeans.report import render_report
        from dynmeans.report.from_run import run_report

        with self.open_run() as run:
            data = run_report(run, **self._page_options(run, title, describe))
        page = render_report(data)
        widget = display_widget(page, height)
        if widget is None:
            display(to_iframe(page, height))
        numbers = np.empty(0, dtype=np.int64) if data.rows is None else data.rows.numbers
        return ReportView(widget, numbers, self._rows_of)

    def _rows_of(self, cluster_ids: list[int]) -> IntArray:
        """Return the numbers of all rows of these clusters."""
        key = "row_id" if self._job.windows.id is None else "row"
        with self.open_run() as run:
            tables = [(t[key].to_numpy(), t["cluster_id"].to_numpy()) for t in run.label_tables()]
        return np.sort(np.concatenate([rows[np.isin(ids, cluster_ids)] for rows, ids in tables]))

    def plot(
        self, kind: str = "all", *, ax: Any = None, figsize: tuple[float, float] | None = None
    ) -> Any:
        """Draw tracks, the timeline of lives and numbers of clusters; or one of them.

        Of many clusters the largest are drawn, and the title says how many there are.

        Parameters
        ----------
        kind : {"all", "tracks", "timeline", "numbers", "tree"}
            What to draw; "tree" shows how subclusters join, with the level shown as a line.
        ax : matplotlib.axes.Axes, optional
            Where to draw one kind, by default the tracks; otherwise a new figure.
        figsize : pair of float, optional
            Width and height of a new figure, in inches.
        """
        from dynmeans.plots.figures import ShownFigure
        from dynmeans.plots.run_figure import run_figure

        with self.open_run() as run:
            figure = run_figure(run, kind, ax=ax, figsize=figsize)
        if ax is None and isinstance(figure, ShownFigure):
            figure.is_shown = display_figure(figure)
        return figure

    def __repr__(self) -> str:
        """Return what was found, in a few lines."""
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        """Show a notebook what was found, and the largest clusters."""
        with self.open_run() as run:
            return summary_table(self._lines(), run.clusters(frame="arrow"))

    def _lines(self) -> list[str]:
        chosen = self.penalties, self.suggestion, self._done.new_cluster_distance
        lines = summary_lines(self.status, self._job.windows, *chosen)
        more = (*self._done.notes, self.dropped_rows_message())
        return lines + [str(text) for text in more if text]

    def dropped_rows_message(self) -> str:
        """Return how many rows have no label, and why; nothing if there are none."""
        counts = self.status.n_dropped_rows, self.missing_counts
        return dropped_rows_message(*counts, self._job.windows.time, self._done.unread)

    def _frame(self, table: pa.Table) -> Any:
        """Return a table in the library of the rows, windows as dates."""
        return self._origin.frame(with_dates(table, self._zone))

    @cached_property
    def _zone(self) -> str | None:
        """The zone of dates; None where those of the frame have none."""
        windows, table = self._job.windows, self._origin.table
        if windows.timezone != "UTC":
            return windows.timezone
        kind = table.schema.field(windows.time).type if windows.time in _names_of(table) else None
        return "UTC" if getattr(kind, "tz", None) else None

    def _reading(self) -> dict[str, Any]:
        return {"input": self._job.input.rows, "allow_stored_sql": True}

    def _page_options(
        self, run: Run, title: str | None, describe: str | Sequence[str]
    ) -> dict[str, Any]:
        """Return how the page is made: its rows and its heading."""
        from dynmeans.report.from_run import title_of_columns

        is_named = isinstance(self._job.input.rows, str) or self._is_kept
        heading = title or (None if is_named else title_of_columns(run))
        columns = [describe] if isinstance(describe, str) else list(describe)
        described = columns or list(filter(None, [self._job.name_by]))
        shown = {"input": self._job.input.rows, "title": heading, "allow_stored_sql": True}
        return {**shown, "describe": described}


def _names_of(table: Any) -> list[str]:
    return list(table.schema.names) if hasattr(table, "schema") else []
