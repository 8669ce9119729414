"""What users type may be a mistyped address with a password: it is not repeated in messages."""

import re
from collections.abc import Iterable
from pathlib import PurePath

NOT_SHOWN = "(not shown, for it may hold a password)"
_MAY_HOLD = re.compile(
    r"://|@|\?[^?]*[=&]|(passw|passphrase|pwd|secret|token)\w*\s*=", re.IGNORECASE
)


def may_hold_secret(text: str) -> bool:
    """Return whether a text looks like an address, whatever is wrong with it.

    >>> may_hold_secret("redis:me:pw@host/0"), may_hold_secret("year=2024/rows-?.csv")
    (True, False)
    """
    return _MAY_HOLD.search(text) is not None


def quote_safely(text: str) -> str:
    """Quote a text for a message, unless it may hold a secret."""
    return NOT_SHOWN if may_hold_secret(text) else repr(text)


def without_words(message: str, words: Iterable[str]) -> str:
    """Return a message without those words of a command that may hold secrets."""
    found = set[str]()
    for word in words:
        name, _, value = word.partition("=") if word.startswith("-") else ("", "", word)
        found.update(one for one in (word, name, value) if may_hold_secret(one))
    for one in sorted(found, key=len, reverse=True):
        plain = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in one)
        path = str(PurePath(one))  # of redis://... it is redis:/...
        for form in (one, plain, repr(one)[1:-1], " ".join(one.split()), path, repr(path)[1:-1]):
            message = message.replace(form, "***")
    return message
