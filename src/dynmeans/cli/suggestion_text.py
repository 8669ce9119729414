"""What was suggested, in the words of the command line."""

import sys

from dynmeans.cli.flags import with_flags
from dynmeans.cli.output import printable
from dynmeans.records.suggestion import Suggestion


def explanation_lines(found: Suggestion) -> list[str]:
    """Speak of parameters as `cluster` takes them, for which they are chosen."""
    return [with_flags(sentence, ["cluster"]) for sentence in found.sentences]


def warn(found: Suggestion) -> None:
    """Warn where the choice should not be trusted."""
    sys.stdout.flush()  # what the warnings are about comes first
    for doubt in found.doubts:
        sys.stderr.write(f"dynmeans: warning: {printable(with_flags(doubt, ['cluster']))}\n")
