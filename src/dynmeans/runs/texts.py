"""The words of a run of texts, and its windows of texts as windows of vectors."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dynmeans.follow.memory import Memory
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store.commit import Commit
from dynmeans.runs.store.schema import WORD_TABLE
from dynmeans.runs.store.store import Store
from dynmeans.words.stop_words import stop_words
from dynmeans.words.topics import Topic, Topics
from dynmeans.words.word_table import WIDTH, WordTable


def vector_names(column: str) -> tuple[str, ...]:
    """Return a name for each number of the vectors of a column of text."""
    return tuple(f"{column} vector[{j}]" for j in range(WIDTH))


def _stop_words_of(source: Mapping[str, Any]) -> frozenset[str]:
    return stop_words(source.get("language", "en"), source.get("stop_words", ()))


def table_of(store: Store, source: Mapping[str, Any]) -> WordTable:
    """Return the words of a run as of its last commit."""
    header = store.manifest(WORD_TABLE)
    if header is None:
        return WordTable(_stop_words_of(source))
    rows = [tuple(row)[:-1] for row in store.rows("words", "ORDER BY word")]
    return WordTable.from_rows(rows, header, _stop_words_of(source))


def vectors_of(source: Mapping[str, Any]) -> Callable[[Window], Window]:
    """Return what makes windows of vectors of windows of texts, from the first one on."""
    return partial(_as_vectors, WordTable(_stop_words_of(source)))


def _as_vectors(table: WordTable, window: Window) -> Window:
    """Return the window with vectors instead of texts; zeros for a text without a word."""
    if window.texts is None:
        return window
    vectors = table.transform(window.texts)
    return replace(window, points=vectors, texts=None, is_validated=True)


def topics_of(store: Store, ids: Collection[int] | None = None) -> dict[int, Topic]:
    """Return the topics of a run as of its last commit, of all clusters or of some."""
    rows = (tuple(row)[:-1] for row in store.rows("topics", "ORDER BY cluster_id"))
    return {k: Topic.from_row(rest) for k, *rest in rows if ids is None or k in ids}


class Texts:
    """Words and topics of a run; kept with its memory, so that it resumes to the bit."""

    def __init__(self, store: Store, source: Mapping[str, Any], memory: Memory | None) -> None:
        self._table = table_of(store, source)
        known = set() if memory is None else set(memory.clusters.ids.tolist())
        self._topics = Topics(topics_of(store, known) if known else None)

    def as_vectors(self, window: Window) -> Window:
        """Return the window with vectors instead of texts."""
        return _as_vectors(self._table, window)

    def add_to(
        self, commit: Commit, record: StepRecord, distances: FloatArray, ids: IntArray
    ) -> None:
        """Put what the last window changed into a commit; `ids` are those of known clusters."""
        texts, self._table.last = self._table.last, None
        if texts is None:  # a window of vectors
            return
        message = self._topics.add(record.labels, texts, distances, self._table.seen_in)
        commit.topics |= {k: (k, *self._topics.by_id[k].to_row()) for k in message}
        commit.topic_words += [(record.step, k, words) for k, words in message.items() if words]
        self._topics.keep(ids)
        changed, forgotten = self._table.take_changes()
        for word in forgotten:
            commit.words.pop(word, None)
        commit.forgotten_words.update(forgotten)
        commit.words |= {row[0]: row for row in changed}
        n_words = len(self._table.places)
        commit.manifest[WORD_TABLE] = {**self._table.header(), "n_words": n_words}
