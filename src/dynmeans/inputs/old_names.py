"""Old names of arguments: an error names the new one. To be removed with the next release."""

import difflib
from collections.abc import Sequence

OLD_NAMES = {
    "batch": "window_column",
    "beside": "compare_with",
    "count": "rows_per_window",
    "describe": "name_by",
    "hold_last": "keep_last_open",
    "keep": "label_retention",
    "lateness": "allowed_lateness",
    "min_life": "min_batches",
    "moving": "moving_features",
    "out": "run_folder",
    "picture": "plot",
    "recipe": "model_config",
    "trust": "allow_stored_sql",
    "unique_ids": "deduplicate",
    "until_idle": "idle_timeout",
    "who": "author",
}


def suggest_name(name: str, known: Sequence[str]) -> str:
    """Return a sentence that names the argument that was probably meant, or all of them.

    >>> suggest_name("min_life", ["new_penalty", "min_batches"])
    "Did you mean 'min_batches'?"
    """
    near = [new for old, new in OLD_NAMES.items() if old == name and new in known]
    near = near or difflib.get_close_matches(name, known, 1)
    return f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
