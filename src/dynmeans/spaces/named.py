"""Every space by its name: here a new one is listed."""

from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.spaces.raw import RAW, Raw
from dynmeans.spaces.space import Space
from dynmeans.spaces.standard import Auto, Standard

SPACES: dict[str, type[Space]] = {space.name: space for space in (Raw, Standard, Auto)}


def find_space(space: object) -> Space:
    """Return the space of a name, or the space itself.

    Examples
    --------
    >>> find_space("standard").unit
    'standard deviations'
    """
    if isinstance(space, Space):
        return space
    if isinstance(space, str) and space in SPACES:
        return RAW if space == RAW.name else SPACES[space]()
    raise InputError("space", f"must be one of {', '.join(SPACES)}, or a Space", got=space)


def space_from_json(value: Any) -> Space:
    """Read what `Space.to_json` gave, or the name of a space."""
    if isinstance(value, str):
        return find_space(value)
    found = find_space(value["name"])
    return found if found is RAW else type(found).from_json(value)
