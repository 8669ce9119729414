"""The words of a run of texts, and its windows of texts as windows of vectors."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dynmeans.runs.reading.window import Window
from dynmeans.runs.store.commit import Commit
from dynmeans.runs.store.schema import WORD_TABLE
from dynmeans.runs.store.store import Store
from dynmeans.words.stop_words import stop_words
from dynmeans.words.word_table import WIDTH, WordTable


def vector_names(column: str) -> tuple[str, ...]:
    """Return a name for each number of the vectors of a column of text."""
    return tuple(f"{column} vector[{j}]" for j in range(WIDTH))


def table_of(store: Store, source: Mapping[str, Any]) -> WordTable:
    """Return the words of a run as of its last commit."""
    left_out = stop_words(source.get("language", "en"), source.get("stop_words", ()))
    header = store.manifest(WORD_TABLE)
    if header is None:
        return WordTable(left_out)
    rows = [tuple(row)[:-1] for row in store.rows("words", "ORDER BY word")]
    return WordTable.from_rows(rows, header, left_out)


class Texts:
    """The words of a run; kept with its memory, so that it resumes to the bit."""

    def __init__(self, store: Store, source: Mapping[str, Any]) -> None:
        self._table = table_of(store, source)

    def as_vectors(self, window: Window) -> Window:
        """Return the window with vectors in place of texts; zeros for a text without a word."""
        if window.texts is None:
            return window
        vectors = self._table.transform(window.texts)
        return replace(window, points=vectors, texts=None, is_validated=True)

    def add_to(self, commit: Commit) -> None:
        """Put the words that changed into a commit."""
        commit.words, commit.forgotten_words = self._table.take_changes()
        n_words = len(self._table.places)
        commit.manifest[WORD_TABLE] = {**self._table.header(), "n_words": n_words}
