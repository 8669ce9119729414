"""Every space by its name: here a new one is listed, or found by its entry point."""

from importlib.metadata import entry_points
from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.old_names import suggest_value
from dynmeans.spaces.cosine import Cosine, Words
from dynmeans.spaces.cyclic import Cyclic
from dynmeans.spaces.geo import Geo
from dynmeans.spaces.landmarks import Landmarks
from dynmeans.spaces.mixed import Group, Mixed, read_groups
from dynmeans.spaces.raw import Raw
from dynmeans.spaces.space import Space
from dynmeans.spaces.standard import Auto, Robust, Standard

# Other packages add theirs to this group of entry points.
ENTRY_POINTS = "dynmeans.spaces"
SPACES: dict[str, type[Space]] = {
    space.name: space
    for space in (Raw, Standard, Robust, Auto, Geo, Cyclic, Cosine, Words, Landmarks, Mixed)
}


def find_space(space: object) -> Space:
    """Return the space of a name, or the space itself.

    A name may have a parameter, ``cyclic:24``; several make a mixed space,
    ``0.1*geo(lat,lon) + cyclic:24(hour)``.

    >>> find_space("standard").unit, find_space("cyclic:24").period
    ('standard deviations', 24.0)
    """
    if isinstance(space, Space):
        return space
    if isinstance(space, str):
        if "(" in space:
            return read_groups(space, find_space)
        name, _, parameter = space.partition(":")
        kind = _kind(name)
        if kind is not None:
            return kind.from_text(parameter)
    hint = suggest_value(space, SPACES)
    raise InputError(
        "space", f"must be one of {', '.join(SPACES)}, or a Space", got=space, hint=hint
    )


def space_from_json(value: Any) -> Space:
    """Read what `Space.to_json` gave, or the name of a space."""
    if isinstance(value, str):
        return find_space(value)
    if value["name"] == Mixed.name:
        groups = [
            Group(space_from_json(g["space"]), tuple(g["features"]), g["weight"])
            for g in value["groups"]
        ]
        return Mixed(tuple(groups))
    kind = _kind(value["name"])
    if kind is None:
        raise InputError(
            "space", "is not known here: install the package that has it", got=value["name"]
        )
    return kind.from_json(value)


def _kind(name: str) -> type[Space] | None:
    if name in SPACES:
        return SPACES[name]
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        found = entry.load()
        if isinstance(found, type) and issubclass(found, Space) and found.name == name:
            return found
    return None
