"""Names of topics: the words that most of their texts share."""

import math
from collections.abc import Iterable, Mapping

MAX_CHARACTERS, MAX_WORDS = 30, 3
_MIN_LIFT = 2.0  # times as frequent here as in all other texts, or as before
_MIN_SHARE = 0.25  # of the share of the first word, for another one


def topic_name(
    words: Mapping[str, int], n_texts: int, seen_in: Mapping[str, int], n_all: int
) -> str:
    """Name a topic of this many texts, of which `words` counts those that have each word.

    A word of the name is at least twice as frequent here as in the other of all `n_all` texts, of
    which `seen_in` have it. Of equally frequent words that which is rarer elsewhere comes first,
    then the longest, then the first of the alphabet.

    >>> words = {"rain": 3, "june": 1, "flood": 1}
    >>> topic_name(words, 3, {"rain": 3, "june": 2, "flood": 1}, 6)
    'rain, flood'
    """
    found = []
    for word, n in words.items():
        elsewhere = max(seen_in.get(word, n) - n, 0) / max(n_all - n_texts, 1)
        if n / n_texts >= _MIN_LIFT * elsewhere:
            found.append((-n, elsewhere if n_texts > 1 else 0.0, -len(word), word))
    found.sort()
    return _join_words((word, -n / n_texts) for n, _, _, word in found)


def new_words(
    words: Mapping[str, int],
    n_texts: int,
    before: Mapping[str, int],
    n_before: int,
    n_unlisted: int = 0,
) -> str:
    """Name what is new in the texts of a window: words that the topic had less of before.

    A new word is at least twice as frequent as before. One that is not in `before` may have been
    in `n_unlisted` texts.

    >>> new_words({"iraq": 9, "looting": 5, "war": 4}, 10, {"iraq": 80, "war": 60}, 90)
    'looting'
    """
    scores = {}
    for word, n in words.items():
        n_seen = before.get(word, n_unlisted)
        usual = (n_seen + 1.0) / (n_before + 2.0) if n_before else 1.0 / n_texts
        if n > 1 and n / n_texts >= _MIN_LIFT * usual:
            scores[word] = n / n_texts * math.log(n / n_texts / usual)
    ranked = sorted(scores, key=lambda word: (-scores[word], word))
    return _join_words((word, scores[word]) for word in ranked)


def _join_words(words: Iterable[tuple[str, float]]) -> str:
    """Join as many words as there is room for, as long as they matter compared with the first."""
    name, best, n_words = "", 0.0, 0
    for word, value in words:
        best = best or value
        longer = f"{name}, {word}" if name else word
        if n_words == MAX_WORDS or value < _MIN_SHARE * best:
            break
        if len(longer) <= MAX_CHARACTERS:
            name, n_words = longer, n_words + 1
    return name
