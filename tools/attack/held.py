"""What every attack expects: the right answer, or a refusal of one clear line."""

from collections.abc import Callable
from typing import Any

REFUSALS = (ValueError, TypeError)
# A target that uses an old name would be refused each time, and try nothing.
_UNKNOWN_NAMES = ("unexpected keyword argument", "there is no parameter")


def refused(call: Callable[[], Any], *allowed: type[BaseException]) -> tuple[bool, Any]:
    """Return whether the call refused, and what it gave if not; other errors are failures."""
    allowed = allowed or (ValueError,)
    try:
        return False, call()
    except allowed as error:
        text = str(error)
        if isinstance(error, TypeError) and any(words in text for words in _UNKNOWN_NAMES):
            raise
        if not text.strip() or "\n" in text:
            raise AssertionError(
                f"a refusal of one clear line was expected, got {text!r}"
            ) from error
        if len(text) > 5000:
            raise AssertionError(f"a refusal of {len(text)} characters: {text[:100]!r}") from error
        return True, None
