"""WordTable: what is known of the words of a stream, and texts as unit rows (decision 0020)."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynmeans.engine.compiled import compiled
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.words.logarithm import rounded_logarithm
from dynmeans.words.split_words import split_words
from dynmeans.words.topics import WordsOfTexts

Array = npt.NDArray[Any]
WIDTH = 1024  # numbers of a vector, and signs of a word
COMPANY_UNIT = 2.0**-14  # of the whole numbers that company is added up in
MAX_WORDS = 30_000  # that are remembered
_MAX_TEXTS = 1 << 17  # of one word, before its company is halved: its sums stay in 32 bits
_BLOCK = 10_000  # texts that are looked at together
_KNOWN, _PRIOR_PAIRS, _MIN_WEIGHT, _MIN_BASE = 8, 30.0, 0.05, 1e-4
_COMMON = 1.0  # a word that weighs less stands beside any other
_HALF_KNOWN = 10.0  # texts after which the company of a word is half as long as its signs
_COLUMNS = {"seen_in": np.int64, "n_texts": np.int64, "last_seen": np.int64}


class Counted(NamedTuple):
    """The words of texts, one after the other: those of text t are starts[t] to starts[t + 1]."""

    starts: IntArray
    words: IntArray
    counts: FloatArray


@dataclass(slots=True)
class Totals:
    """What is counted of all words together."""

    n_texts: int = 0  # texts so far
    n_rests: int = 0  # of them, taken once for each word beside which another stood
    n_windows: int = 0


class WordTable:
    """Words by their signs, which a hash gives, and by the company that they have kept.

    Parameters
    ----------
    stop_words : set of str
        Words that are left out.
    most_words : int
        Words that are remembered; beyond, the rarest are forgotten after a window.
    """

    def __init__(
        self, stop_words: frozenset[str] = frozenset(), most_words: int = MAX_WORDS
    ) -> None:
        self.stop_words, self.most_words = stop_words, most_words
        self.places: dict[str, int] = {}
        self.totals = Totals()
        self.total = np.zeros(WIDTH, np.int64)  # company of all words
        self._n_words = 0  # that have rows in the tables
        self._signs = np.zeros((0, WIDTH // 8), np.uint8)
        self._company = np.zeros((0, WIDTH), np.int32)
        self._columns = {name: np.zeros(0, kind) for name, kind in _COLUMNS.items()}
        self._changed: set[str] = set()
        self._forgotten: set[str] = set()
        self.last: WordsOfTexts | None = None  # what was transformed last

    def transform(self, texts: Iterable[str | None]) -> npt.NDArray[np.float32]:
        """Learn from the texts of a window, and return a row of length 1 for each.

        A text without a word that is no stop word is a row of zeros.
        """
        listed = list(texts)
        counts = self._count(listed)
        self.last = WordsOfTexts(listed, counts.starts, counts.words, list(self.places))
        blocks = list(_blocks(counts))
        self.totals.n_windows += 1
        for block in blocks:
            self._learn(block)
        rows = [self._rows(block) for block in blocks]
        self._forget_rare()
        return np.concatenate(rows) if rows else np.zeros((0, WIDTH), np.float32)

    def map(self, texts: Iterable[str | None]) -> npt.NDArray[np.float32]:
        """Return rows without learning; a word that is new is known by its signs alone."""
        n_known = self._n_words
        counts = self._count(texts)
        rows = [self._rows(block) for block in _blocks(counts)]
        for word in list(islice(self.places, n_known, None)):
            del self.places[word]
        self._n_words = n_known
        return np.concatenate(rows) if rows else np.zeros((0, WIDTH), np.float32)

    def seen_in(self, words: Collection[str]) -> tuple[dict[str, int], int]:
        """Return how many texts so far have each of the words that are remembered, and of all."""
        seen = self._columns["seen_in"]
        found = {word: int(seen[self.places[word]]) for word in words if word in self.places}
        return found, self.totals.n_texts

    def are_common(self, words: Collection[str]) -> list[str]:
        """Return those of the words that occur in any context, as stop words do."""
        known = [word for word in words if word in self.places]
        places = np.array([self.places[word] for word in known], np.int64)
        n = self._columns["n_texts"][places].astype(np.float64)
        weights = self._weights(places, n)
        return [word for word, weight in zip(known, weights, strict=True) if weight < _COMMON]

    def _count(self, texts: Iterable[str | None]) -> Counted:
        ends = [0]
        words: list[int] = []
        counts: list[int] = []
        for text in texts:
            seen: dict[int, int] = {}
            for word in split_words(text) if text else ():
                if word not in self.stop_words:
                    place = self.places.setdefault(word, len(self.places))
                    seen[place] = seen.get(place, 0) + 1
            words += seen
            counts += seen.values()
            ends.append(len(words))
        self._make_room()
        return Counted(np.array(ends), np.array(words, np.int64), np.array(counts, np.float64))

    def _make_room(self) -> None:
        """Add rows for new words; there is room for more of them, which are zeros until then."""
        n_old, n = self._n_words, len(self.places)
        if n > len(self._signs):
            n_more = max(n, min(2 * n, self.most_words)) - len(self._signs)
            self._signs = _with_room(self._signs, n_more)
            self._company = _with_room(self._company, n_more)
            for name, column in self._columns.items():
                self._columns[name] = _with_room(column, n_more)
        for place, word in enumerate(islice(self.places, n_old, None), n_old):
            self._signs[place] = _signs_of(word)
        self._n_words = n

    def _learn(self, counts: Counted) -> None:
        """Add the rest of each text to the company of its words; rare words weigh more in it."""
        self.totals.n_texts += len(counts.starts) - 1
        seen_in, words = self._columns["seen_in"], counts.words
        np.add.at(seen_in, words, 1)
        self._columns["last_seen"][words] = self.totals.n_windows
        used = np.unique(words)
        rarity = np.zeros(len(seen_in))
        shares = (1.0 + self.totals.n_texts) / (1.0 + seen_in[used])
        rarity[used] = rounded_logarithm(shares.astype(np.float64))
        # Whole multiples of 2^-20: their sums are exact in any order.
        parts = np.rint(np.sqrt(counts.counts) * rarity[words] * 2.0**20) * 2.0**-20
        self.totals.n_rests += compiled.learn_company(counts.starts, words, parts, *self._tables())
        names = list(self.places)
        self._changed.update(names[word] for word in used.tolist())
        self._halve(used)

    def _tables(self) -> tuple[Array, Array, Array, Array]:
        return self._signs, self._company, self._columns["n_texts"], self.total

    def _halve(self, used: IntArray) -> None:
        n_texts = self._columns["n_texts"]
        for word in used[n_texts[used] >= _MAX_TEXTS].tolist():
            halved = self._company[word] >> 1
            self.total -= self._company[word] - halved
            self.totals.n_rests -= int(n_texts[word] - (n_texts[word] >> 1))
            self._company[word], n_texts[word] = halved, n_texts[word] >> 1

    def _rows(self, counts: Counted) -> npt.NDArray[np.float32]:
        used, where = np.unique(counts.words, return_inverse=True)
        n = self._columns["n_texts"][used].astype(np.float64)
        shares = np.where(n >= 2, n / (n + _HALF_KNOWN), 0.0)
        tables = self._tables()
        directions = compiled.word_directions(*tables, self.totals.n_rests, used, shares)
        parts = np.sqrt(counts.counts) * self._weights(used, n)[where]
        return compiled.text_rows(counts.starts, where.astype(np.int64), parts, directions)

    def _weights(self, used: IntArray, n: FloatArray) -> FloatArray:
        """How far the company of a word is its own: 1 for most words, little for stop words.

        `own` is the mean cosine of the rests of two texts with the word, `base` that of any two.
        """
        weights, m = np.ones(len(used)), float(self.totals.n_rests)
        known = np.flatnonzero(n >= _KNOWN)
        if not len(known) or m < 2:
            return weights
        # Exact: whole numbers below 2^53 are squared as Python integers.
        square = sum(int(value) ** 2 for value in self.total.tolist()) * COMPANY_UNIT**2
        base = max((square - m) / (m * (m - 1.0)), _MIN_BASE)
        squares = compiled.company_squares(*self._tables(), used[known])
        n = n[known]
        pairs = n * (n - 1.0) / 2.0
        own = (squares - n) / (n * (n - 1.0))
        own = (pairs * own + _PRIOR_PAIRS * 4.0 * base) / (pairs + _PRIOR_PAIRS)
        weights[known] = np.clip(own / base - 1.0, _MIN_WEIGHT, 1.0)
        return weights

    def _forget_rare(self) -> None:
        """Keep three quarters of the words, once there are too many: frequent and recent ones."""
        if len(self.places) <= self.most_words:
            return
        names = list(self.places)
        columns = self._columns["seen_in"], self._columns["last_seen"]
        keys = sorted(range(len(names)), key=lambda k: (-columns[0][k], -columns[1][k], names[k]))
        n_kept = self.most_words * 3 // 4
        kept = np.array(sorted(keys[:n_kept]), np.int64)
        gone = np.array(keys[n_kept:], np.int64)
        self.total = self.total - self._company[gone].sum(axis=0, dtype=np.int64)
        self.totals.n_rests -= int(self._columns["n_texts"][gone].sum())
        self._forgotten.update(names[k] for k in gone.tolist())
        self._changed -= self._forgotten
        self._signs, self._company = self._signs[kept], self._company[kept]
        self._columns = {name: column[kept] for name, column in self._columns.items()}
        self.places = {names[k]: place for place, k in enumerate(kept.tolist())}
        self._n_words = len(kept)

    def take_changes(self) -> tuple[list[tuple[Any, ...]], list[str]]:
        """Return the words that changed since the last call, as rows, and the forgotten ones.

        A row is the word, its counts in the order of the columns, and its company as bytes.
        """
        rows = []
        for word in sorted(self._changed & self.places.keys()):
            k = self.places[word]
            counts = (int(column[k]) for column in self._columns.values())
            rows.append((word, *counts, self._company[k].tobytes()))
        forgotten = sorted(self._forgotten - self.places.keys())
        self._changed, self._forgotten = set(), set()
        return rows, forgotten

    def header(self) -> dict[str, Any]:
        """Return what is counted of all words, as JSON values."""
        totals = self.totals
        counts = {name: getattr(totals, name) for name in ("n_texts", "n_rests", "n_windows")}
        return {**counts, "total": self.total.tolist(), "most_words": self.most_words}

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[tuple[Any, ...]],
        header: Mapping[str, Any],
        stop_words: frozenset[str] = frozenset(),
    ) -> "WordTable":
        """Read what `take_changes` and `header` gave; refuse what they cannot have given."""
        try:
            return cls._read(rows, header, stop_words)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            first = str(error).splitlines()[0]
            raise ValueError(f"the words of the texts so far are damaged: {first}") from error

    @classmethod
    def _read(
        cls, rows: Sequence[tuple[Any, ...]], header: Mapping[str, Any], stop_words: frozenset[str]
    ) -> "WordTable":
        table = cls(stop_words, int(header["most_words"]))
        table.totals = Totals(*(int(header[n]) for n in ("n_texts", "n_rests", "n_windows")))
        table.total = np.array(header["total"], np.int64)
        counts = (*astuple(table.totals), *(count for row in rows for count in row[1:-1]))
        if (
            table.most_words < 1
            or table.total.shape != (WIDTH,)
            or not all(0 <= n < 2**53 for n in counts)
        ):
            raise ValueError("a count is out of bounds")
        table.places = {row[0]: place for place, row in enumerate(rows)}
        table._make_room()
        for place, (_, *values, company) in enumerate(rows):
            table._company[place] = np.frombuffer(company, np.int32)
            for name, value in zip(_COLUMNS, values, strict=True):
                table._columns[name][place] = value
        return table


def _with_room(rows: Array, n_more: int) -> Array:
    return np.concatenate([rows, np.zeros((n_more, *rows.shape[1:]), rows.dtype)])


def _signs_of(word: str) -> Array:
    data = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest(WIDTH // 8)
    return np.frombuffer(data, np.uint8)


def _blocks(counts: Counted) -> Iterable[Counted]:
    n_texts = len(counts.starts) - 1
    for begin in range(0, n_texts, _BLOCK):
        starts = counts.starts[begin : min(begin + _BLOCK, n_texts) + 1]
        part = slice(starts[0], starts[-1])
        yield Counted(starts - starts[0], counts.words[part], counts.counts[part])
