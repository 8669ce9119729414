"""What the space of a run means to people: penalties in its unit, and a better one proposed."""

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.runs.run import Run
from dynmeans.spaces.geo import earth_features

_PROPOSAL = (
    "{} and {} seem to be degrees on the Earth: {space} {} measures kilometers, with no seam "
    "at the date line."
)


def new_cluster_distance(run: Run) -> str:
    """Return how far from every cluster a point opens a new one; empty before it is known."""
    memory, penalties = run.memory, run.penalties
    if memory is None or penalties is None:
        return ""
    return memory.space_or_raw.format_distance(penalties.new_penalty)


def suggest_space(run: Run) -> ArgumentText | None:
    """Propose `geo` where features are longitude and latitude by their names and ranges."""
    memory, names = run.memory, run.config.features
    if memory is None or memory.space_or_raw.lon_lat() is not None or not len(memory.clusters.ids):
        return None
    centers = memory.centers
    found = earth_features(names, centers.min(axis=0).tolist(), centers.max(axis=0).tolist())
    if found is None:
        return None
    lat, lon = names[found[1]], names[found[0]]
    others = ",".join(name for row, name in enumerate(names) if row not in found)
    space = f"'geo({lat},{lon}) + standard({others})'" if others else "geo"
    return ArgumentText(_PROPOSAL, lat, lon, space)
