"""Texts as lists of words."""

import html
import re
import unicodedata

MAX_CHARACTERS = 40  # of a word: what is longer is a key or a path
_LEFT_OUT = re.compile(
    r"<[a-zA-Z/!][^<>]{0,1000}>"  # tags
    r"|https?://\S+|www\.\S+|\bhttp\S*"
    r"|(?<![\w.+-])[\w.+-]{0,64}@[\w.]+"  # names and addresses, found in one way along the text
)
# Letters and digits; also the marks of scripts whose vowels are marks, which are no letters. The
# same ranges hold punctuation and code points without a character.
_RANGES = ((0x300, 0x370), (0x591, 0x5C8), (0x64B, 0x660), (0x900, 0xE00), (0xE31, 0xE4F))
_MARKS = "".join(
    mark
    for first, end in _RANGES
    for mark in map(chr, range(first, end))
    if unicodedata.category(mark)[0] == "M"
)
_WORDS = re.compile(rf"[^\W_][\w{_MARKS}'-]*")
# Scripts that leave no space between words.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case: two letters and more, in their order.

    Tags, links, @names, plain numbers and "rt" are left out, a hashtag is a word, and of a
    contraction the longer part is kept. Chinese, Japanese and Thai are read in pairs of
    characters.

    >>> split_words("RT @ann: Iraq's <b>war</b> isn't over, 19 dead! #Sars http://t.co/x")
    ['iraq', 'war', 'isn', 'over', 'dead', 'sars']
    >>> split_words("l\u2019\u00e9lection"), split_words("\u5317\u4eac\u5927\u96e8")
    (['\u00e9lection'], ['\u5317\u4eac', '\u4eac\u5927', '\u5927\u96e8'])
    """
    plain = _LEFT_OUT.sub(" ", html.unescape(_LEFT_OUT.sub(" ", text)))
    plain = unicodedata.normalize("NFKC", plain).lower().replace("\u2019", "'")
    found: list[str] = []
    for token in _WORDS.findall(plain):
        for part in token.strip("'-").split("-"):
            word = _without_elision(part)
            if _UNSPACED.search(word):
                found += _pairs(word)
            elif _is_word(word):
                found.append(word)
    return found


def _without_elision(token: str) -> str:
    """Return the longest of the parts between apostrophes, the first of equals."""
    return max(token.split("'"), key=len) if "'" in token else token


def _is_word(word: str) -> bool:
    is_long = 2 <= len(word) <= MAX_CHARACTERS
    return is_long and word != "rt" and any(character.isalpha() for character in word)


def _pairs(word: str) -> list[str]:
    runs = _UNSPACED.findall(word)
    return [run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))]
