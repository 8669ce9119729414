"""What the space of a run means to people: penalties in its unit, and a better one proposed."""

import math

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.runs.run import Run
from dynmeans.spaces.geo import earth_features
from dynmeans.spaces.mixed import Mixed

_ALL_BUT = 0.01  # of the spread that is left for the other groups
_PROPOSAL = (
    "{} and {} look like degrees on the Earth: {space} {} counts kilometers, with no seam at "
    "the date line."
)


def new_beyond(run: Run) -> str:
    """Say how far from every cluster a point opens a new one; empty before it is known."""
    memory, penalties = run.memory, run.penalties
    if memory is None or penalties is None:
        return ""
    return memory.known_space.tell(penalties.new_penalty)


def proposed_weight(run: Run) -> ArgumentText | None:
    """Propose a weight where one group of a mixed space has nearly all of the spread."""
    memory = run.memory
    space = None if memory is None else memory.known_space
    if not isinstance(space, Mixed) or memory is None or len(memory.clusters.ids) < 2:
        return None
    spreads, at = [], 0
    for group in space.groups:
        n = group.space.n_coordinates(len(group.features))
        spreads.append(float(memory.clusters.centers[:, at : at + n].var(axis=0).sum()))
        at += n
    row = spreads.index(max(spreads))
    rest = sum(spreads) - spreads[row]
    if rest > _ALL_BUT * spreads[row]:
        return None
    group, text = space.groups[row], str(run.config.recipe.space)
    weight = group.weight * math.sqrt(max(rest, _ALL_BUT**2 * spreads[row]) / spreads[row])
    name = f"{group.space.name}("
    if group.weight == 1.0 and name in text:
        text = text.replace(name, f"{weight:.1g}*{name}")
    return ArgumentText(
        "{} has {:.4g} % of the spread of the clusters, so that the others hardly count. A weight, "
        f"as in {{space={text!r}}}, brings them together.",
        f"{name}{','.join(run.config.features[int(j)] for j in group.features)})",
        100.0 * spreads[row] / sum(spreads),
    )


def proposed_space(run: Run) -> ArgumentText | None:
    """Propose `geo` where features are longitude and latitude by their names and ranges."""
    memory, names = run.memory, run.config.features
    if memory is None or memory.known_space.lon_lat() is not None or not len(memory.clusters.ids):
        return None
    centers = memory.centers
    found = earth_features(names, centers.min(axis=0).tolist(), centers.max(axis=0).tolist())
    if found is None:
        return None
    lat, lon = names[found[1]], names[found[0]]
    others = ",".join(name for row, name in enumerate(names) if row not in found)
    space = f"'geo({lat},{lon}) + standard({others})'" if others else "geo"
    return ArgumentText(_PROPOSAL, lat, lon, space)
