"""The seed of each key: the same whatever other keys there are, and in whatever order."""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.records.group_states import Key

_N_SEEDS = 2**32
_SEPARATOR = "\x1f"  # ends a part of a key of several columns


def key_seed(seed: int, key: Key) -> int:
    """Return the `random_state` with which an estimator gives the labels of one key.

    It is a checksum of the key as text, begun with `seed` (decision 0511).

    See Also
    --------
    fit_groups : Clusters every key with this seed.

    Examples
    --------
    >>> key_seed(0, "pump-7"), key_seed(1, "pump-7"), key_seed(0, ("north", 7))
    (2398649267, 1168418838, 3945521188)
    """
    return int(seeds_of_keys(seed, [key])[0])


def seeds_of_keys(seed: int, keys: Sequence[Key]) -> npt.NDArray[np.uint32]:
    """Return the seeds of many keys, all of one kind."""
    has_parts = bool(keys) and isinstance(keys[0], tuple)
    texts = (_SEPARATOR.join(map(str, key)) for key in keys) if has_parts else map(str, keys)  # type: ignore[arg-type]
    sums = (zlib.crc32(text.encode(), seed) for text in texts)
    return np.fromiter(sums, np.uint32, len(keys))


def draw_key_seed(random_state: Any) -> int:
    """Return the seed of a configuration; draw one if it is None or a generator."""
    if random_state is None:
        return int(np.random.default_rng().integers(_N_SEEDS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_N_SEEDS, dtype=np.uint32))
    return int(random_state)
