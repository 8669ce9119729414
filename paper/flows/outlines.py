"""The outline of the United States, kept in the package so that maps draw without a network.

Thinned from the cartographic boundary files of the United States Census Bureau, which are in the
public domain; `usa_outline.txt` says how.
"""

from functools import cache
from importlib.resources import files

import numpy as np

from dynmeans.records.arrays import FloatArray

COAST, STATE = "coast", "state"


@cache
def usa_outline() -> dict[str, tuple[FloatArray, ...]]:
    """Return the lines of the coast and borders, and those between states.

    Returns
    -------
    dict of str to tuple of FloatArray of shape (n_points, 2)
        Longitude and latitude along each line, under "coast" and "state".

    Examples
    --------
    >>> outline = usa_outline()
    >>> sorted(outline), outline["coast"][0].shape[1]
    (['coast', 'state'], 2)
    """
    text = files("paper.flows").joinpath("usa_outline.txt").read_text(encoding="utf-8")
    lines: dict[str, list[FloatArray]] = {COAST: [], STATE: []}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        kind, _, numbers = line.partition(",")
        lines[kind].append(np.array(numbers.split(), dtype=np.float64).reshape(-1, 2))
    return {kind: tuple(parts) for kind, parts in lines.items()}
