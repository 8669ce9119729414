"""What every attack expects: the right answer, or a refusal of one clear line."""

from collections.abc import Callable
from typing import Any

REFUSALS = (ValueError, TypeError)


def refused(call: Callable[[], Any], *allowed: type[BaseException]) -> tuple[bool, Any]:
    """Return whether the call refused, and what it gave if not; other errors are failures."""
    allowed = allowed or (ValueError,)
    try:
        return False, call()
    except allowed as error:
        text = str(error)
        if not text.strip() or "\n" in text:
            raise AssertionError(
                f"a refusal of one clear line was expected, got {text!r}"
            ) from error
        if len(text) > 5000:
            raise AssertionError(f"a refusal of {len(text)} characters: {text[:100]!r}") from error
        return True, None
