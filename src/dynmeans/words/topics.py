"""Topics as a reader sees them: their words, a name, a typical text and the most recent ones."""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.words.topic_names import new_words, topic_name

_MAX_WORDS = 40  # of a topic that are counted
_MAX_RECENT = 3  # texts
_MAX_CHARACTERS = 200  # of a text
_GROWTH = 1.5  # times the texts that a topic had when it was named: then it is named again

SeenIn = Callable[[Collection[str]], tuple[Mapping[str, int], int]]  # texts with a word, all texts


class WordsOfTexts(NamedTuple):
    """Texts, and the words of each: those of text t are words[starts[t] to starts[t + 1]]."""

    texts: Sequence[str | None]
    starts: IntArray
    words: IntArray
    names: Sequence[str]  # of the words


@dataclass(slots=True)
class Topic:
    """What is kept of the texts of one cluster."""

    n_texts: int = 0
    words: dict[str, int] = field(default_factory=dict)  # texts that have each
    name: str = ""
    named_at: int = 0  # Texts it had then
    nearest: float = math.inf  # Distance of the typical text to the center
    typical: str = ""
    recent: list[str] = field(default_factory=list)  # The last one first

    def to_row(self) -> tuple[Any, ...]:
        """Return plain values, as the database of a run keeps them."""
        words, recent = json.dumps(self.words), json.dumps(self.recent)
        return self.n_texts, words, self.name, self.named_at, self.nearest, self.typical, recent

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "Topic":
        """Read what `to_row` gave."""
        n_texts, words, name, named_at, nearest, typical, recent = row
        texts = json.loads(recent)
        return cls(n_texts, json.loads(words), name, named_at, nearest, typical, texts)

    def take_in(self, words: Mapping[str, int], texts: Sequence[str], distances: FloatArray) -> str:
        """Count one window of the topic, in the order of its texts; return what is new in it."""
        # Of words that are not counted, none was in more texts than the rarest that is.
        n_rarest = min(self.words.values()) if len(self.words) == _MAX_WORDS else 0
        known = self.words, self.n_texts, n_rarest
        words_text = new_words(words, len(texts), *known) if len(texts) > 1 else ""
        counts = {word: self.words.get(word, 0) + n for word, n in words.items()}
        self.words = _most_frequent(self.words | counts)
        self.n_texts += len(texts)
        nearest = min(zip(distances.tolist(), texts, strict=True))
        if nearest < (self.nearest, self.typical):
            self.nearest, self.typical = nearest[0], _shorten(nearest[1])
        latest = dict.fromkeys(map(_shorten, reversed(texts[-_MAX_RECENT:])))
        self.recent = list(dict.fromkeys([*latest, *self.recent]))[:_MAX_RECENT]
        return words_text

    def rename(self, seen_in: SeenIn) -> None:
        """Name the topic once it has grown enough; the same words keep their order."""
        if self.n_texts < _GROWTH * self.named_at:
            return
        self.named_at = self.n_texts
        name = topic_name(self.words, self.n_texts, *seen_in(self.words))
        if set(name.split(", ")) != set(self.name.split(", ")):
            self.name = name


class Topics:
    """The topics that are remembered, by the identity of their cluster.

    Examples
    --------
    >>> topics = Topics()
    >>> texts = WordsOfTexts(["Rain, rain", "Heavy rain"], np.array([0, 1, 3]), np.array([0, 1, 0]),
    ...                      ["rain", "heavy"])
    >>> def seen_in(words): return dict.fromkeys(words, 2), 9
    >>> topics.add(np.array([7, 7]), texts, np.array([0.5, 0.1]), seen_in)
    {7: 'rain'}
    >>> topics.by_id[7].typical, topics.by_id[7].words
    ('Heavy rain', {'rain': 2, 'heavy': 1})
    """

    def __init__(self, by_id: Mapping[int, Topic] | None = None) -> None:
        self.by_id = dict(by_id or {})

    def add(
        self, labels: IntArray, texts: WordsOfTexts, distances: FloatArray, seen_in: SeenIn
    ) -> dict[int, str]:
        """Count the texts of a window; return the words of each topic that are new in it."""
        by_topic = {}
        for k, rows, words in _by_topic(labels, texts):
            topic = self.by_id.setdefault(k, Topic())
            own = [str(texts.texts[row]) for row in rows.tolist()]
            by_topic[k] = topic.take_in(words, own, distances[rows])
            topic.rename(seen_in)
        return by_topic

    def keep(self, ids: IntArray) -> None:
        """Forget topics whose clusters are forgotten."""
        self.by_id = {k: self.by_id[k] for k in ids.tolist() if k in self.by_id}


def _by_topic(
    labels: IntArray, texts: WordsOfTexts
) -> Iterator[tuple[int, IntArray, dict[str, int]]]:
    """Yield each identity, its rows, and how many of its texts have each of its words."""
    ids, places = np.unique(labels, return_inverse=True)
    order = np.argsort(places, kind="stable")
    begins = np.searchsorted(places[order], np.arange(len(ids) + 1))
    n_words = max(len(texts.names), 1)
    keys = np.repeat(places, np.diff(texts.starts)) * n_words + texts.words
    pairs, counts = np.unique(keys, return_counts=True)
    bounds = np.searchsorted(pairs, n_words * np.arange(len(ids) + 1))
    for place, k in enumerate(ids.tolist()):
        if k < 0:
            continue
        part = slice(bounds[place], bounds[place + 1])
        found = zip((pairs[part] % n_words).tolist(), counts[part].tolist(), strict=True)
        words = _most_frequent({texts.names[word]: n for word, n in found})
        yield k, order[begins[place] : begins[place + 1]], words


def _most_frequent(words: Mapping[str, int]) -> dict[str, int]:
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    return dict(ranked[:_MAX_WORDS])


def _shorten(text: str) -> str:
    """Return a text on one line, cut; a lone surrogate, which no file can hold, is a mark."""
    plain = " ".join(text[: 4 * _MAX_CHARACTERS].encode("utf-8", "replace").decode().split())
    return plain if len(plain) <= _MAX_CHARACTERS else f"{plain[: _MAX_CHARACTERS - 1]}\u2026"
