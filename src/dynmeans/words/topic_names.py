"""Names of topics: the words that most of their texts share."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dynmeans.words.split_words import split_words

MAX_CHARACTERS, MAX_WORDS = 30, 3
_MIN_LIFT = 2.0  # times as frequent here as in all other texts
_MIN_SHARE = 0.25  # of the share of the first word, for another one


@dataclass(slots=True)
class WordCounts:
    """How many texts of each topic have each word.

    Examples
    --------
    >>> counts = WordCounts()
    >>> for text in ["Rain in June", "Rain and flood", "Heavy rain"]:
    ...     counts.add(1, text)
    >>> for text in ["Cup final", "World cup", "Cup draw in June"]:
    ...     counts.add(2, text)
    >>> counts.names(frozenset({"in", "and"}))
    {1: 'rain, flood, heavy', 2: 'cup, final, world'}
    """

    words: dict[int, Counter[str]] = field(default_factory=dict)
    sizes: Counter[int] = field(default_factory=Counter)

    def add(self, topic: int, text: str) -> None:
        """Count the words of one text."""
        self.words.setdefault(topic, Counter()).update(set(split_words(text)))
        self.sizes[topic] += 1

    def names(self, stop_words: frozenset[str]) -> dict[int, str]:
        """Return a name for each topic that has a word."""
        every: Counter[str] = Counter()
        for format_count in self.words.values():
            every.update(format_count)
        n_texts = self.sizes.total()
        found = {}
        for topic, format_count in self.words.items():
            words = {word: n for word, n in format_count.items() if word not in stop_words}
            if name := _name(_shares(words, self.sizes[topic], every, n_texts)):
                found[topic] = name
        return found


def _shares(
    words: Mapping[str, int], size: int, every: Mapping[str, int], n_texts: int
) -> list[tuple[str, float]]:
    """Return the words that are more frequent here than elsewhere, the most frequent first.

    Of equals that which is rarer elsewhere, then the longest, then the first of the alphabet.
    """
    found = []
    for word, n in words.items():
        elsewhere = (every[word] - n) / max(n_texts - size, 1)
        if n / size >= _MIN_LIFT * elsewhere:
            found.append((-n, elsewhere * n_texts if size > 1 else 0, -len(word), word))
    return [(word, -n / size) for n, _, _, word in sorted(found)]


def _name(shares: Iterable[tuple[str, float]]) -> str:
    """Join as many words as there is room for, as long as many texts share them."""
    name, best, n_words = "", 0.0, 0
    for word, share in shares:
        best = best or share
        longer = f"{name}, {word}" if name else word
        if n_words == MAX_WORDS or share < _MIN_SHARE * best:
            break
        if len(longer) <= MAX_CHARACTERS:
            name, n_words = longer, n_words + 1
    return name
