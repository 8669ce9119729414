"""Names of the topics of a run of texts, and their groups where a number was asked for."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dynmeans.inputs.numbers import check_range
from dynmeans.records.arrays import IntArray
from dynmeans.runs.edits import GROUPS, WORDS
from dynmeans.runs.export.labeled_rows import labeled_rows
from dynmeans.runs.reading.columns import quote_name
from dynmeans.runs.reading.sources.sandboxed_duckdb import source_errors
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import window_names
from dynmeans.words.stop_words import stop_words
from dynmeans.words.topic_groups import group_topics
from dynmeans.words.topic_names import WordCounts

_MAX_NAMES = 5_000
_MIN_TEXTS = 10  # of a topic that is listed with the other small ones
SMALL = "small topics"


def name_topics(run: Run, column: str, source: Source) -> None:
    """Name the clusters of a run by words that most of their texts share."""
    counts, shown = WordCounts(), run.edits.resolve_ids
    with source_errors():
        for batch in labeled_rows(source, run, quote_name(column)):
            ids = batch.column(2).fill_null(-1).to_numpy(zero_copy_only=False)
            _count(counts, batch.column(0).to_pylist(), ids, shown)
    fields = run.config.source
    names = counts.names(stop_words(fields.get("language", "en"), fields.get("stop_words", ())))
    largest = sorted(names, key=lambda k: (-counts.sizes[k], k))[:_MAX_NAMES]
    run.lock()
    run.store.note({WORDS: {str(k): names[k] for k in largest}})


def _count(
    counts: WordCounts,
    texts: list[str | None],
    ids: IntArray,
    shown: Callable[[IntArray], IntArray],
) -> None:
    for text, k in zip(texts, shown(ids).tolist(), strict=True):
        if text and k >= 0:
            counts.add(k, text)


def group_run(run: Run) -> None:
    """Show clusters in about as many groups as the run was asked for; labels stay as they are."""
    wanted = run.config.model_config.n_clusters
    run.lock()
    if wanted is None or run.config.model_config.families:
        return
    low, high = check_range("n_clusters", wanted)
    rows = list(run.store.rows("clusters", "ORDER BY cluster_id"))
    ids = np.array([row["cluster_id"] for row in rows])
    sizes = np.array([row["n_points"] for row in rows])
    centers = np.stack([np.frombuffer(row["center"]) for row in rows])
    groups = group_topics(centers, sizes, round((low + high) / 2))
    order = np.argsort(-sizes, kind="stable")
    roots = {int(g): int(ids[i]) for i, g in zip(order[::-1], groups[order[::-1]], strict=True)}
    merged = {str(k): roots[int(g)] for k, g in zip(ids.tolist(), groups, strict=True)}
    run.store.note({GROUPS: {k: root for k, root in merged.items() if int(k) != root}})


def topic_table(run: Run) -> pa.Table:
    """Return one row for each topic, the largest first; those of few texts are one row, the last.

    Merged clusters count as one.
    """
    edits, rows = run.edits, list(run.store.rows("clusters", "ORDER BY cluster_id"))
    ids = edits.resolve_ids(np.array([row["cluster_id"] for row in rows], dtype=np.int64))
    n_texts = np.array([row["n_points"] for row in rows], dtype=np.float64)
    topics, places = np.unique(ids, return_inverse=True)
    sizes = np.bincount(places, n_texts, len(topics))
    listed = [t for t in np.lexsort((topics, -sizes)) if sizes[t] >= _MIN_TEXTS]
    members = [np.flatnonzero(places == t) for t in listed]
    shown = topics[listed].tolist()
    names = [edits.name_of(k) for k in shown]
    if len(listed) < len(topics):
        members.append(np.flatnonzero(sizes[places] < _MIN_TEXTS))
        shown, names = [*shown, -1], [*names, SMALL]
    columns: dict[str, pa.Array] = {
        "cluster_id": pa.array(shown, pa.int64()),
        "name": pa.array(names, pa.string()),
        "n_texts": pa.array([float(n_texts[m].sum()) for m in members], pa.float64()),
        "n_clusters": pa.array([len(m) for m in members], pa.int64()),
    }
    windows = window_names(run.store)
    for name, choose in (("first", min), ("last", max)):
        steps = [choose(rows[i][f"{name}_step"] for i in m) for m in members]
        columns[f"{name}_window"] = pa.array([windows.get(step) for step in steps], pa.string())
    return pa.table(columns)
