"""Hostile texts: rows of length 1 or none, in any order, across restarts; names without markup.

`word-tables` forges what a run keeps of words: refused, or rows that are finite.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans import DynamicMeans
from dynmeans.words.split_words import MAX_CHARACTERS, split_words
from dynmeans.words.topic_names import topic_name
from dynmeans.words.word_table import WordTable

_WORDS = (
    "storm", "flood", "Regen", "война", "北京大雨", "ไทย", "हिन्दी", "שלום", "don't",
    "covid-19", "#tag", "@me", "a@b.com", "http://x.y/z?q=<b>", "<script>alert(1)</script>",
    "<b", "&lt;img&gt;", "&#0;", "&#x110000;", "\x00", "\x1b[31m", "\u202e", "\ud800",
    "\ufeff", "🦊", "NULL", "'; --", "1,200", "-3e5", "ﬃ", "İ", "ß", "e\u0301", "--", "''''",
    "_x_", "x" * 50, "\u0e4e", "<!--", "]]>",
)  # fmt: skip


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a few windows of texts."""
    yield _attack_tables if name == "word-tables" else _attack


def _attack(rng: random.Random) -> int:
    windows = [[_text(rng) for _ in range(rng.randrange(1, 12))] for _ in range(rng.randint(1, 3))]
    most = rng.choice([30_000, 20])
    whole, broken = WordTable(most_words=most), WordTable(most_words=most)
    model = DynamicMeans(space="words", random_state=0)
    topics: dict[int, list[set[str]]] = {}
    for texts in windows:
        rows = whole.transform(texts)
        order = rng.sample(range(len(texts)), len(texts))
        moved = broken.transform([texts[k] for k in order])
        assert np.array_equal(rows[order], moved), "rows depend on their order, or on a restart"
        has_word = rows.any(axis=1)
        lengths = np.linalg.norm(rows.astype(float), axis=1)
        assert np.allclose(lengths, has_word, atol=1e-5), "a row is neither of length 1 nor zeros"
        for text, is_there in zip(texts, has_word, strict=True):
            words = split_words(text) if text else []
            assert bool(words) == is_there, f"{text!r} has words and no row, or a row and no words"
            assert all(len(word) <= MAX_CHARACTERS for word in words), f"{words} of {text!r}"
        if has_word.any():
            labels = model.partial_fit(rows[has_word]).labels_
            for text, label in zip(np.array(texts, object)[has_word], labels, strict=True):
                topics.setdefault(int(label), []).append({*split_words(text)})
        broken = _again(broken)
    every = [words for texts in topics.values() for words in texts]
    seen_in = Counter(word for words in every for word in words)
    for found in topics.values():
        counts = Counter(word for words in found for word in words)
        name = topic_name(counts, len(found), seen_in, len(every))
        assert name.isprintable(), f"the name {name!r} commands a terminal"
        assert not {*name} & {*'<>&"/'}, f"the name {name!r} has markup"
    return len(windows)


def _again(table: WordTable) -> WordTable:
    """Store the table and read it, as a run does after a stop."""
    table._changed |= table.places.keys()  # all of it, as if in the first commit
    rows, _ = table.take_changes()
    return WordTable.from_rows(sorted(rows), json.loads(json.dumps(table.header())))


def _text(rng: random.Random) -> str | None:
    if rng.random() < 0.05:
        return rng.choice([None, "", *TEXTS])
    words = rng.choices(_WORDS, k=rng.choice([1, 3, 8, 40]))
    if rng.random() < 0.2:
        words.append("".join(chr(rng.randrange(sys.maxunicode)) for _ in range(rng.randint(1, 20))))
    text = rng.choice([" ", " ", "", "\n", ", "]).join(words)
    if rng.random() < 0.2:
        text = damaged(text.encode("utf-8", "replace"), rng, []).decode("utf-8", "replace")
    return text * rng.choice([1, 1, 1, 500]) if rng.random() < 0.05 else text


_TEXTS = ["rain and snow", "wind and snow", "goal in the match", "team and goal", "rain"] * 3


def _attack_tables(rng: random.Random) -> None:
    """Change one number, word or length of a table of words."""
    table = WordTable()
    table.transform(_TEXTS)
    rows, header = table.take_changes()[0], table.header()
    for _ in range(rng.randint(1, 2)):
        if rng.random() < 0.5:
            header[rng.choice(list(header))] = rng.choice([*INTEGERS, *FLOATS, *TEXTS, None, []])
        else:
            k = rng.randrange(len(rows))
            row: list[Any] = list(rows[k])
            place = rng.randrange(len(row))
            wild = rng.choice([*INTEGERS, *FLOATS, *TEXTS, None])
            row[place] = damaged(row[place], rng, []) if place == len(row) - 1 else wild
            rows[k] = tuple(row)
    is_refused, read = refused(lambda: WordTable.from_rows(rows, header))
    if is_refused:
        return
    is_refused, found = refused(lambda: read.transform(_TEXTS))
    assert is_refused or np.isfinite(found).all(), "rows are finite"
