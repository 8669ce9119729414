"""What a cluster is: where its rows lie, and what sets it apart."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.files.integers_if_whole import integers_if_whole
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.families import Families
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.analysis.distinctive_terms import DistinctiveTerms, distinctive_terms
from dynmeans.runs.analysis.sampled_rows import ClusterTotals, cluster_totals, moments, periods_of
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.run import Run

_N_APART = 3  # features named in a table


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """One profile for each cluster, or family; row i of every array belongs to `lives.ids[i]`.

    Means and deviations are those of the rows that the run keeps of each window, at most
    `config.sample_size`, in the units of the input.
    """

    # Identities of clusters, merged ones under the number that stays, or of families; their
    # points, and the windows that saw them.
    lifetimes: ClusterTotals
    features: tuple[str, ...]  # names of the columns of what follows
    n_kept: IntArray  # (n_clusters,); kept rows of each
    # means, deviations: (n_clusters, n_features); NaN where no row was kept.
    means: FloatArray
    deviations: FloatArray
    # What sets it apart: its mean less that of all other rows, in standard deviations (the root of
    # the mean of both variances); NaN where there are no others.
    differences: FloatArray
    # For each column that was described, the values or words that describe each cluster.
    terms: Mapping[str, DistinctiveTerms] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    periods: Sequence[float | None] = ()  # After which length each feature comes round again

    @property
    def ids(self) -> IntArray:
        """Identities of what is described."""
        return self.lifetimes.ids

    def largest_differences(self, row: int) -> list[tuple[str, float]]:
        """Return features and standardized differences of one cluster, the largest first."""
        values = self.differences[row]
        order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")
        return [(self.features[j], float(values[j])) for j in order if np.isfinite(values[j])]

    def format_values(self, row: int, values: FloatArray) -> list[str]:
        """Format values to two digits of the cluster's standard deviation."""
        spreads = self.deviations[row, : len(values)].tolist()
        shown = [_round_by(value, dev) for value, dev in zip(values.tolist(), spreads, strict=True)]
        for j, (text, period) in enumerate(zip(shown, self.periods, strict=False)):
            if period is not None and float(text) == period:  # 23.98 is 0.0, not 24.0
                shown[j] = _round_by(0.0, spreads[j])
        return shown

    def to_arrow(self) -> pa.Table:
        """One row for each: means, deviations, what sets it apart, characteristic values."""
        columns: dict[str, Any] = {
            "cluster_id": pa.array(self.ids),
            "name": pa.array([self.names.get(k) for k in self.ids.tolist()], pa.string()),
            "n_points": pa.array(integers_if_whole(self.lifetimes.n_points)),
            "n_windows": pa.array(self.lifetimes.n_windows),
            "first_window": pa.array(self.lifetimes.first_windows, pa.string()),
            "last_window": pa.array(self.lifetimes.last_windows, pa.string()),
            "n_kept": pa.array(self.n_kept),
        }
        for j, name in enumerate(self.features):
            columns[f"mean_{name}"] = pa.array(self.means[:, j])
            columns[f"deviation_{name}"] = pa.array(self.deviations[:, j])
        rows = range(len(self.ids))
        differences = [
            ", ".join(f"{n} {d:+.2g}" for n, d in self.largest_differences(row)[:_N_APART])
            for row in rows
        ]
        columns["differs"] = pa.array(differences, pa.string())
        for name, terms in self.terms.items():
            words = [", ".join(terms.values_of(k)) for k in self.ids.tolist()]
            columns[f"distinctive_{name}"] = pa.array(words, pa.string())
        return pa.table(columns)


def describe_clusters(
    run: Run,
    *,
    describe: Sequence[str] = (),
    families: Families | None = None,
    input: Any = None,
    allow_stored_sql: bool = False,
    already_read: tuple[Iterable[StepRecord], Sequence[Sample]] | None = None,
) -> Profiles:
    """Describe each cluster of a run; memory use does not grow with the run.

    Parameters
    ----------
    run : Run
        An open run; it may still be written.
    describe : sequence of str
        Further columns of the input to describe clusters by: values or words that are frequent in
        one and rare in the others. Reads the input once for each.
    families : Families, optional
        Describe these instead of clusters.
    input, allow_stored_sql
        As for `export_labels`: the present path of the rows, and whether a stored query may run.
    already_read : tuple, optional
        History and samples of the run, if they were read before.

    See Also
    --------
    export_labels : Write the labels with the rows.
    ClusterResult.describe : The same for the result of `dynmeans.cluster`.

    Examples
    --------
    >>> import tempfile
    >>> from dynmeans import Run
    >>> from dynmeans.runs import ModelConfig, RunConfig, Window
    >>> config = RunConfig(("x", "y"), ModelConfig(new_penalty=1.0, random_state=0))
    >>> with Run.create(tempfile.mkdtemp() + "/run", config) as run:
    ...     n = run.process(Window([[0.0, 1.0], [0.2, 1.0], [9.0, 1.0], [9.2, 1.1]]))
    ...     found = describe_clusters(run)
    >>> sorted(found.means[:, 0].round(3).tolist()), found.largest_differences(1)[0][0]
    ([0.1, 9.1], 'x')
    """
    if run.config.sample_size == 0:
        rule = "must be at least 1: this run stores no rows to describe clusters"
        raise InputError("sample_size", rule, got=0)
    edits = run.edits

    def resolve(ids: IntArray) -> IntArray:
        return edits.resolve_ids(ids) if families is None else families.map_labels(ids)

    records = run.history(labels=False) if already_read is None else already_read[0]
    lifetimes = cluster_totals(run, resolve, records)
    ids, periods = lifetimes.ids, periods_of(run)
    samples = run.samples() if already_read is None else already_read[1]
    counts, means, variances, differences = moments(samples, ids, resolve, periods)
    reading = {"input": input, "allow_stored_sql": allow_stored_sql}
    # The numbers of a vector mean nothing to people one by one.
    plain = [j for j, name in enumerate(run.config.features) if not is_of_vector(name)]
    return Profiles(
        lifetimes=lifetimes,
        features=tuple(run.config.features[j] for j in plain),
        n_kept=counts.astype(np.int64),
        means=means[:, plain],
        deviations=np.sqrt(variances[:, plain]),
        differences=differences[:, plain],
        terms={name: distinctive_terms(run, name, resolve, **reading) for name in describe},
        periods=tuple(periods[j] for j in plain),
        names={k: name for k in ids.tolist() if (name := edits.name_of(k))},
    )


def two_digits(value: float) -> str:
    """Write a deviation to two digits, as a plain number where that is short.

    >>> two_digits(643.2), two_digits(0.00079), two_digits(0.0)
    ('640', '0.00079', '0')
    """
    return f"{float(f'{value:.2g}'):.9g}"


def _round_by(value: float, deviation: float) -> str:
    if not 0 < deviation < 1e9 or abs(value) >= 1e9:
        return f"{value:.6g}"
    decimals = 1 - math.floor(math.log10(deviation))
    return f"{round(value, decimals) + 0.0:.{min(max(decimals, 0), 9)}f}"
