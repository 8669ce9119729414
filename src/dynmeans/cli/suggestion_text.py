"""What was suggested, in the words of the command line."""

import re
import sys

from dynmeans.cli.flags import with_flags
from dynmeans.cli.output import printable
from dynmeans.records.suggestion import Suggestion


def explanation_lines(found: Suggestion) -> list[str]:
    """Speak of parameters as `cluster` takes them, for which they are chosen."""
    return [in_windows(with_flags(sentence, ["cluster"])) for sentence in found.sentences]


def warn(found: Suggestion) -> None:
    """Warn where the choice should not be trusted."""
    sys.stdout.flush()  # what the warnings are about comes first
    for doubt in found.doubts:
        told = in_windows(with_flags(doubt, ["cluster"]))
        sys.stderr.write(f"dynmeans: warning: {printable(told)}\n")


def in_windows(text: str) -> str:
    """Call batches what they are here: the windows that rows are cut into."""
    return re.sub(r"\bbatch(es)?\b", lambda found: "windows" if found[1] else "window", text)
