"""Parameters chosen on the first windows of a table, for `suggest` and for `cluster --suggest`."""

import sys
from typing import Any

from dynmeans.cli.first_windows import first_windows
from dynmeans.cli.flags import with_flags
from dynmeans.parameters.suggest import suggest_details
from dynmeans.records.suggestion import Suggestion
from dynmeans.runs.reading.scaling import Scaling
from dynmeans.runs.reading.sources import Source
from dynmeans.runs.reading.window_options import WindowOptions
from dynmeans.runs.reading.windows import Windows


def suggest_on_first_windows(
    source: Source,
    options: WindowOptions,
    *,
    standardise: int,
    n_windows: int | None = None,
    **settings: Any,
) -> Suggestion:
    """Choose on the first windows, standardised as the run will do it."""
    first = first_windows(Windows(source, options), n_windows)
    if not first:
        raise ValueError("the input holds no rows to choose on.")
    points = [batch.points for batch in first]
    if standardise:
        scaling = Scaling.learned(points[:standardise])
        points = [scaling.apply(rows) for rows in points]
    return suggest_details(
        points,
        elapsed=[batch.elapsed for batch in first],
        sample_weight=[batch.weights for batch in first],
        **settings,
    )


def in_options(sentence: str) -> str:
    """Speak of parameters as `cluster` takes them, for which they are chosen."""
    return with_flags(sentence, ["cluster"])


def tell_doubts(found: Suggestion) -> None:
    """Warn where the choice should not be trusted."""
    sys.stdout.flush()  # what the warnings are about comes first
    for doubt in found.doubts:
        sys.stderr.write(f"dynmeans: warning: {in_options(doubt)}\n")
