"""Names of the topics of a run of texts, and their groups if a number was set."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.families.levels import DEFAULT, LEVELS, Level
from dynmeans.follow.clusterers import DYNMEANS
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.numbers import check_range
from dynmeans.records.arrays import IntArray
from dynmeans.runs.edits import WORDS
from dynmeans.runs.levels import store_levels
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import ids_by_window, window_names, words_seen_in
from dynmeans.runs.store.schema import WORD_TABLE
from dynmeans.runs.texts import table_of, topics_of
from dynmeans.spaces.named import find_space
from dynmeans.words.stop_words import ENGLISH
from dynmeans.words.topic_groups import set_far_apart, topic_levels
from dynmeans.words.topic_names import topic_name
from dynmeans.words.topics import Topic

_MIN_TEXTS = 10  # of a topic that is listed with the other small ones
_LARGEST = 12  # topics that are looked at for stop words
_LAST = 3  # windows whose words a page shows
SMALL = "small topics"


def name_groups(run: Run, roots: Mapping[int, int]) -> dict[int, str]:
    """Name groups of clusters by words that most of their texts share.

    `roots` has for each cluster the one that its group is shown as.
    """
    words, sizes = dict[int, Counter[str]](), Counter[int]()
    for k, topic in topics_of(run.store).items():
        root = roots.get(k, k)
        words.setdefault(root, Counter()).update(topic.words)
        sizes[root] += topic.n_texts
    seen_in = words_seen_in(run.store)
    n_all = (run.store.manifest(WORD_TABLE) or {"n_texts": 0})["n_texts"]
    named = {k: topic_name(words[k], sizes[k], seen_in, n_all) for k in words}
    return {k: name for k, name in named.items() if name}


def stop_word_note(run: Run) -> ArgumentText | None:
    """Return which of the largest topics are named by stop words.

    One topic named only by listed ones is enough, or two by words that occur in any context.
    """
    if not run.config.source.get("text"):
        return None
    topics = topics_of(run.store)
    largest = sorted(topics, key=lambda k: (-topics[k].n_texts, k))[:_LARGEST]
    named = [topics[k].name.split(", ") for k in largest if topics[k].n_texts >= _MIN_TEXTS]
    first = [words[0] for words in named]
    listed = {words[0] for words in named if ENGLISH.issuperset(words)}
    in_any = set(table_of(run.store, run.config.source).are_common(first))
    common = [word for word in dict.fromkeys(first) if word in listed | in_any]
    if not listed and len(common) < 2:
        return None
    return ArgumentText(
        f"{len(common)} of the {len(first)} largest topics are named by words that occur in any "
        "context, such as stop words: {}. Remove them with {language=...} or "
        "{stop_words=...}.",
        ", ".join(common),
    )


def has_topic_levels(run: Run) -> bool:
    """Return whether the levels of a run are found from directions: of texts and vectors."""
    config = run.config.model_config
    if config.families or config.method != DYNMEANS or not config.is_open:
        return bool(run.config.source.get("text"))
    return find_space(config.space).centers == "sphere"


def find_topic_levels(run: Run, chosen: str | None = None) -> None:
    """Keep three answers of a run of texts or vectors; name the groups of texts that are shown.

    With `n_clusters` the default one has about so many groups. Labels stay as they are.
    """
    run.lock()
    rows = list(run.store.rows("clusters", "ORDER BY cluster_id"))
    is_text, wanted = bool(run.config.source.get("text")), run.config.model_config.n_clusters
    penalties = run.penalties
    if penalties is None:
        return
    options: dict[str, Any] = {}
    if wanted is not None:
        options["n_groups"] = max(round(sum(check_range("n_clusters", wanted)) / 2), 1)
    if not is_text:
        options["least_cosine"] = 1.0 - penalties.new_penalty / 2.0
    ids = np.array([row["cluster_id"] for row in rows], dtype=np.int64)
    sizes = np.array([row["n_points"] for row in rows])
    centers = np.stack([np.frombuffer(row["center"]) for row in rows]) if rows else np.empty((0, 1))
    if rows and run.memory is not None:
        centers = run.memory.space_or_raw.to_points(centers)
    found_levels, rest = topic_levels(centers, sizes, **options), None
    if is_text and wanted is not None and rows:
        least_cosine = 1.0 - penalties.new_penalty / 2.0
        rest = set_far_apart(found_levels, centers, sizes, least_cosine)
    order = np.argsort(-sizes, kind="stable")[::-1]  # the largest of a group is written last
    windows = [seen for _, seen in ids_by_window(run.store)]
    levels = []
    for name, groups in sorted(found_levels.items(), key=_rank):
        roots = np.empty(groups.max(initial=-1) + 1, dtype=np.int64)
        roots[groups[order]] = ids[order]
        found = roots[groups]
        n_seen = [len(np.unique(found[np.searchsorted(ids, seen)])) for seen in windows]
        levels.append(Level(name, ids, found, float(np.mean(n_seen)), 0.0))
    store_levels(run.store, levels, chosen)
    if is_text:
        shown = run.groups.merged
        names = name_groups(run, {k: shown.get(k, k) for k in ids.tolist()})
        if rest is not None and (chosen is None or chosen == DEFAULT):
            far = ids[found_levels["default"] == rest]
            names[shown.get(int(far[0]), int(far[0]))] = SMALL
        run.store.note({WORDS: {str(k): name for k, name in names.items()}})


def _rank(level: tuple[str, IntArray]) -> int:
    return LEVELS.index(level[0])


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
    listed.sort(key=lambda t: edits.name_of(int(topics[t])) == SMALL)  # stable: the last
    members = [np.flatnonzero(places == t) for t in listed]
    shown = topics[listed].tolist()
    names = [edits.name_of(k) for k in shown]
    if len(listed) < len(topics):
        members.append(np.flatnonzero(sizes[places] < _MIN_TEXTS))
        shown, names = [*shown, -1], [*names, SMALL]
    texts = topics_of(run.store, set(shown))
    shown_topics = [texts.get(k, Topic()) for k in shown]
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
    columns["typical"] = pa.array([one.typical or None for one in shown_topics], pa.string())
    columns["recent"] = pa.array([one.recent for one in shown_topics], pa.list_(pa.string()))
    return pa.table(columns)


def topic_lines(run: Run) -> dict[int, list[str]]:
    """Return what a page shows of each topic: typical and latest texts, words of last windows."""
    windows, recent = window_names(run.store), dict[int, list[str]]()
    for row in run.store.rows("topic_words", "ORDER BY cluster_id, step"):
        window = windows.get(row["step"]) or f"window {row['step']}"
        recent.setdefault(row["cluster_id"], []).append(f"{window[:10]} {row['words']}")
    lines = dict[int, list[str]]()
    for k, topic in topics_of(run.store).items():
        if topic.n_texts < _MIN_TEXTS:
            continue
        lines[k] = [f"typical: {topic.typical}", *(f"latest: {text}" for text in topic.recent[:1])]
        if k in recent:
            lines[k].append(f"new words: {'; '.join(recent[k][-_LAST:])}")
    return lines


def topic_words(run: Run) -> pa.Table:
    """Return the words that are new in each topic, window by window: one row for each of both."""
    windows, edits = window_names(run.store), run.edits
    rows = list(run.store.rows("topic_words", "ORDER BY cluster_id, step"))
    ids = [row["cluster_id"] for row in rows]
    columns = {
        "cluster_id": pa.array(ids, pa.int64()),
        "name": pa.array(map(edits.name_of, ids), pa.string()),
        "step": pa.array([row["step"] for row in rows], pa.int64()),
        "window": pa.array([windows.get(row["step"]) for row in rows], pa.string()),
        "words": pa.array([row["words"] for row in rows], pa.string()),
    }
    return pa.table(columns)
