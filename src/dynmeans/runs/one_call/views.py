"""Pages and figures of a run: made by packages above this one, which register them by name."""

from importlib.metadata import entry_points
from typing import Any

GROUP = "dynmeans.views"


def view(name: str) -> Any:
    """Return the function that an installed package registered for a view of a run."""
    found = list(entry_points(group=GROUP, name=name))
    if not found:
        raise ModuleNotFoundError(
            f"no installed package registers the view {name!r} in the group {GROUP!r}: install "
            "dynmeans again, so that its own are listed."
        )
    return found[0].load()
