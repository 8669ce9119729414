"""ReportData: all a page shows, as arrays; nothing here knows how it is packed or drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dynmeans.inputs.numbers import check_count, check_number
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.families import Families
from dynmeans.report.family_levels import FamilyLevels, family_levels
from dynmeans.report.recluster_settings import ReclusterSettings
from dynmeans.runs.analysis.carried_rows import CarriedRows

TIME_AXIS = -1
NO_SLOT = -1


@dataclass(frozen=True, slots=True)
class Axis:
    """A coordinate in which points and centers can be drawn: a feature, or a principal axis.

    One with a `period` comes round again, and is drawn from its `seam` on; values are written as
    numbers from `start`.
    """

    name: str
    kind: str
    period: float | None = None
    seam: float = 0.0
    start: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class BatchColumns:
    """One row for each batch."""

    steps: IntArray  # Number of the batch, from 0
    # When it came: seconds since 1970 if `is_dated`, otherwise the history's time.
    times: FloatArray
    # Minutes by which a clock at the data's place is ahead of UTC; 0 if not `is_dated`.
    utc_offsets: IntArray
    clocks: FloatArray  # Steps of time taken in, its own included
    costs: FloatArray  # L_t
    # n_points, n_seen, n_remembered: points in the batch, clusters with points in it, clusters in
    # memory after it.
    n_points: IntArray
    n_seen: IntArray
    n_remembered: IntArray
    is_dated: bool  # Whether the times are dates
    names: tuple[str, ...] | None  # What to call the batches in place of their times


@dataclass(frozen=True, slots=True, eq=False)
class ClusterColumns:
    """One row for each cluster shown and batch it was seen in; `sizes` rows for each batch.

    `velocities` are distances in a step of time; None where clusters keep no course.
    """

    sizes: IntArray
    ids: IntArray
    counts: FloatArray
    places: FloatArray  # (n_rows, n_axes)
    velocities: FloatArray | None = None  # (n_rows, n_axes)


@dataclass(frozen=True, slots=True, eq=False)
class PointColumns:
    """One row for each point drawn; `sizes` rows for each batch.

    `slots` is the cluster row of its batch that a point belongs to, -1 if to none shown.
    """

    sizes: IntArray
    slots: IntArray
    places: FloatArray  # (n_rows, n_axes)
    origins: IntArray  # Which of the points given for its batch each is


@dataclass(frozen=True, slots=True, eq=False)
class EventColumns:
    """One row for each event but ``moved``; `sizes` rows for each batch.

    `kinds` are rows of `records.events.KINDS`; `others` is -1, `gaps` and `displacements` are
    NaN where an event has none.
    """

    sizes: IntArray
    kinds: IntArray
    ids: IntArray
    others: IntArray
    gaps: FloatArray
    displacements: FloatArray


@dataclass(frozen=True, slots=True)
class Score:
    """A score, with its meaning in a few words."""

    name: str
    value: float
    meaning: str


class Warned(NamedTuple):
    """What may be wrong with the clusters, and the arguments that a sentence about it advises.

    `short` is the text without the sentences that name arguments; empty if all of them do.
    """

    text: str
    advises: Mapping[str, str]
    short: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Backdrop:
    """Lines, such as coasts, that lie under the points where two axes are drawn."""

    # x, y: the axes.
    x: int
    y: int
    lines: tuple[FloatArray, ...]  # (n_places, 2); along x and y


@dataclass(frozen=True, slots=True, eq=False)
class ReportData:
    """Everything a report shows; see `report_data`."""

    title: str  # Heading of the page
    axes: tuple[Axis, ...]  # The coordinates in which places are given
    view: tuple[int, int]  # The two axes drawn at first; -1 is time
    # batches, clusters, points, events: columns, batch after batch
    batches: BatchColumns
    clusters: ClusterColumns
    points: PointColumns
    events: EventColumns
    n_clusters: int  # Clusters in all, shown or not
    parameters: tuple[tuple[str, str], ...]  # How the clusters were found
    scores: tuple[Score, ...]  # How well, where the truth is known
    notes: tuple[str, ...]  # What the page leaves out, and by which rule
    summary: tuple[str, ...] = ()  # What happened, in sentences for the top of the page
    warnings: tuple[Warned, ...] = ()
    y_down: bool = False  # Whether the vertical axis is drawn downward, as pixels are counted
    # Points, batches and returns of the whole history, shown or not
    totals: tuple[int, int, int] | None = None
    # What clusters are called beside their numbers; those without are numbers alone
    cluster_names: Mapping[int, str] = field(default_factory=dict)
    # The cluster that each merged one is shown as
    merged: Mapping[int, int] = field(default_factory=dict)
    # A forgotten cluster, one born in its place, and the steps between: perhaps the same
    suggested_matches: Sequence[tuple[int, int, float]] = ()
    # Clusters that are confirmed, however small or short-lived
    pinned: frozenset[int] = frozenset()
    backdrop: Backdrop | None = None
    families: FamilyLevels | None = None  # Which clusters belong together, at every level
    # min_cluster_size, min_batches: clusters that held fewer points, or were seen in fewer batches,
    # are shown as unconfirmed
    min_cluster_size: float = 1.0
    min_batches: int = 1
    lon_lat: tuple[int, int] | None = None  # The axes that are longitude and latitude, in degrees
    unit: str = ""  # What a distance is measured in; empty for the unit of the data
    # What sets clusters apart, a sentence each
    descriptions: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    # Three answers, fine, default and coarse, each with the cluster of each subcluster; the columns
    # above are those of subclusters
    levels: Mapping[str, Any] | None = None
    # Rows in all, of noise and left out, and unconfirmed clusters, at the level shown first
    counts: Mapping[str, int] | None = None
    # Calls that cluster the rows again; see `copied_calls`
    calls: Mapping[str, Any] | None = None
    matrix: FloatArray | None = None  # (n_features, n_axes); from features to axes
    rows: CarriedRows | None = None  # What is known of each point beside its place
    # What decided the clusters; with it, readers can try other settings on the page
    trial: ReclusterSettings | None = None

    def with_families(self, families: Families) -> "ReportData":
        """Return the same report, with a slider through the levels of these families."""
        return replace(self, families=family_levels(families, np.unique(self.clusters.ids)))

    def with_recluster(self, trial: ReclusterSettings | None) -> "ReportData":
        """Return the same report, with a panel to try other settings than these."""
        return replace(self, trial=trial)

    def with_confirmed(self, *, min_cluster_size: float = 1, min_batches: int = 1) -> "ReportData":
        """Return the same report, with smaller or shorter-lived clusters as unconfirmed."""
        return replace(
            self,
            min_cluster_size=check_number("min_cluster_size", min_cluster_size, at_least=0),
            min_batches=check_count("min_batches", min_batches),
        )

    def with_descriptions(self, descriptions: Mapping[int, Iterable[str]]) -> "ReportData":
        """Return the same report, with sentences about clusters that are shown and searched."""
        texts_by_id = {int(k): tuple(map(str, texts)) for k, texts in descriptions.items()}
        return replace(self, descriptions=texts_by_id)

    def with_names(self, names: Mapping[int, str]) -> "ReportData":
        """Return the same report, with clusters called by these names."""
        return replace(self, cluster_names={int(k): str(name) for k, name in names.items()})

    def with_backdrop(self, x: str, y: str, lines: Iterable[FloatArray]) -> "ReportData":
        """Return the same report, with lines under the points where axes x and y are drawn."""
        arrays = tuple(np.asarray(line, dtype=np.float64) for line in lines)
        for line in arrays:
            if line.ndim != 2 or line.shape[1] != 2 or not np.isfinite(line).all():
                raise ValueError(
                    "lines must be finite arrays of shape (n_places, 2), got one of shape "
                    f"{line.shape}."
                )
        return replace(self, backdrop=Backdrop(self._axis("x", x), self._axis("y", y), arrays))

    def with_initial_axes(self, x: str, y: str, *, y_down: bool | None = None) -> "ReportData":
        """Return the same report, with other axes drawn at first, by name; "time" is one too.

        `y_down`: whether y is drawn downward, as pixels are counted; None keeps what names and
        ranges propose.
        """
        down = self.y_down if y_down is None else y_down
        return replace(self, view=(self._axis("x", x), self._axis("y", y)), y_down=down)

    def _axis(self, argument: str, name: str) -> int:
        names = [axis.name for axis in self.axes]
        if name in names:
            return names.index(name)
        if name == "time":
            return TIME_AXIS
        raise ValueError(f"{argument} must be one of {', '.join(names)} or time, got {name!r}.")
