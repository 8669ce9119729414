"""A trajectory to its Gaussian-process velocity features (Sec. 6.2).

For each trajectory a Gaussian process is fitted from position to North and East velocity; its
mean on a regular lattice over the area is the feature.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.trajectories import USA, Area, BoolArray, Trajectories
from paper.flows.feature_cache import content_key, load_features, save_features
from paper.flows.gp_solver import Block, block_rows, solve_block

Progress = Callable[[float, float], None]

LENGTH_SCALE = 2.5  # degrees
NOISE_RATIO = 0.01
MAX_POINTS = 64
SMALLEST_NOISE_RATIO = 1e-8  # below, a kernel matrix may not be positive definite in float64


@dataclass(frozen=True, slots=True)
class Lattice:
    """Places where the velocity is asked for: by default 10 latitudes and 20 longitudes.

    Examples
    --------
    >>> Lattice(Area(0.0, 9.0, 0.0, 19.0)).latitudes.tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    """

    area: Area = USA
    n_latitudes: int = 10
    n_longitudes: int = 20

    def __post_init__(self) -> None:
        """Refuse a lattice of less than two places along an axis."""
        for name in ("n_latitudes", "n_longitudes"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
                raise ValueError(f"{name} must be an integer of at least 2, got {count!r}.")

    @property
    def latitudes(self) -> FloatArray:
        """From South to North, in degrees."""
        return np.linspace(self.area.south, self.area.north, self.n_latitudes)

    @property
    def longitudes(self) -> FloatArray:
        """From West to East, in degrees."""
        return np.linspace(self.area.west, self.area.east, self.n_longitudes)

    @property
    def n_features(self) -> int:
        """North and East at every place."""
        return 2 * self.n_latitudes * self.n_longitudes


def gp_features(
    trajectories: Trajectories,
    lattice: Lattice | None = None,
    *,
    length_scale: npt.ArrayLike = LENGTH_SCALE,
    noise_ratio: npt.ArrayLike = NOISE_RATIO,
    max_points: int | None = MAX_POINTS,
    n_jobs: int = 2,
    cache: str | Path | None = None,
    on_progress: Progress | None = None,
) -> FloatArray:
    """Mean North and East velocity on the lattice, for each trajectory.

    Parameters
    ----------
    trajectories : Trajectories
    lattice : Lattice, optional
        Where to ask; by default 10 x 20 places over the contiguous United States.
    length_scale : float or array-like of shape (n_trajectories,)
        Distance in degrees over which velocities are alike; one for all, or one for each.
    noise_ratio : float or array-like of shape (n_trajectories,)
        Variance of the noise of a velocity, in units of the variance of the velocity itself.
        More of it smooths more.
    max_points : int, optional
        A trajectory with more points is thinned to so many, evenly; None takes all. The time
        grows with the cube of it.
    n_jobs : int
        Threads. Their number changes no bit of the result.
    cache : path, optional
        Folder where the features are kept and looked for, by the content of all that they
        depend on.
    on_progress : callable, optional
        Called with the trajectories done and their total.

    Returns
    -------
    FloatArray of shape (n_trajectories, n_features)
        In knots: the North velocities, latitude by latitude, then the East velocities. A
        trajectory with a value that is not finite has a row of NaN.

    Examples
    --------
    An aircraft flies East at 400 knots along 40 degrees North; near its way the mean says so.

    >>> n = 50
    >>> flight = Trajectories(
    ...     ["N1"], np.array([0, n]), 60.0 * np.arange(n), np.full(n, 40.0),
    ...     np.linspace(-100, -94, n), np.zeros(n), np.full(n, 400.0),
    ... )
    >>> features = gp_features(flight, Lattice(Area(40.0, 50.0, -97.0, -87.0), 2, 2))
    >>> features.round().tolist()
    [[0.0, 0.0, 0.0, 0.0, 399.0, 12.0, 0.0, 0.0]]
    """
    lattice = Lattice() if lattice is None else lattice
    lengths = _one_for_each("length_scale", length_scale, len(trajectories), 0.0)
    ratios = _one_for_each("noise_ratio", noise_ratio, len(trajectories), SMALLEST_NOISE_RATIO)
    thinned = thin_points(trajectories, max_points)
    key = ""
    if cache is not None:
        key = content_key(thinned, lattice, lengths, ratios)
        found = load_features(Path(cache), key, (len(trajectories), lattice.n_features))
        if found is not None:
            return found
    features = _all_blocks(thinned, lattice, (lengths, ratios), n_jobs, on_progress)
    if cache is not None:
        save_features(Path(cache), key, features)
    return features


def thin_points(trajectories: Trajectories, max_points: int | None) -> Trajectories:
    """Leave at most so many points of each trajectory, evenly, the first and last among them."""
    if max_points is None:
        return trajectories
    if isinstance(max_points, bool) or not isinstance(max_points, int | np.integer):
        raise TypeError(f"max_points must be an integer or None, got {max_points!r}.")
    if max_points < 2:
        raise ValueError(f"max_points must be at least 2, got {max_points!r}.")
    sizes = trajectories.sizes
    kept = np.minimum(sizes, max_points)
    starts = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    owners = np.repeat(np.arange(len(sizes)), kept)
    rank = np.arange(starts[-1]) - starts[owners]
    spacing = (sizes - 1) / np.maximum(kept - 1, 1)
    points = trajectories.starts[owners] + np.rint(rank * spacing[owners]).astype(np.int64)
    return Trajectories(
        trajectories.ids,
        starts,
        *(
            getattr(trajectories, name)[points]
            for name in ("times", "latitudes", "longitudes", "north", "east")
        ),
    )


def make_block(trajectories: Trajectories, rows: IntArray) -> tuple[Block, FloatArray]:
    """Pad these trajectories to one size; also return the mean position, taken off them."""
    sizes = trajectories.sizes[rows]
    shape = (len(rows), int(sizes.max()))
    is_point = np.arange(shape[1]) < sizes[:, None]
    points = (trajectories.starts[rows][:, None] + np.arange(shape[1]))[is_point]

    def padded(values: FloatArray) -> FloatArray:
        filled = np.zeros(shape)
        filled[is_point] = values[points]
        return filled

    latitudes, longitudes = padded(trajectories.latitudes), padded(trajectories.longitudes)
    origins = np.stack([latitudes.sum(axis=1) / sizes, longitudes.sum(axis=1) / sizes], axis=1)
    latitudes = np.where(is_point, latitudes - origins[:, :1], 0.0)
    longitudes = np.where(is_point, longitudes - origins[:, 1:], 0.0)
    velocities = np.stack([padded(trajectories.north), padded(trajectories.east)], axis=2)
    return Block(rows, sizes, latitudes, longitudes, velocities), origins


def finite_trajectories(trajectories: Trajectories) -> BoolArray:
    """Tell which trajectories have points, all of them finite."""
    is_bad = np.zeros(len(trajectories.times), dtype=bool)
    for name in ("latitudes", "longitudes", "north", "east"):
        is_bad |= ~np.isfinite(getattr(trajectories, name))
    n_bad = np.bincount(trajectories.owners[is_bad], minlength=len(trajectories))
    return np.asarray((n_bad == 0) & (trajectories.sizes > 0))


def _all_blocks(
    trajectories: Trajectories,
    lattice: Lattice,
    hyperparameters: tuple[FloatArray, FloatArray],
    n_jobs: int,
    on_progress: Progress | None,
) -> FloatArray:
    features = np.full((len(trajectories), lattice.n_features), np.nan)
    rows = np.flatnonzero(finite_trajectories(trajectories))
    blocks = [rows[part] for part in block_rows(trajectories.sizes[rows])]
    n_done = len(trajectories) - len(rows)

    def work(block: IntArray) -> int:
        features[block] = _block_features(trajectories, block, lattice, hyperparameters)
        return len(block)

    # Threads of ours take the blocks; those of BLAS would only compete with them.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(max(1, n_jobs)) as pool:
        for n_block in pool.map(work, blocks):
            n_done += n_block
            if on_progress is not None:
                on_progress(n_done, len(trajectories))
    return features


def _block_features(
    trajectories: Trajectories,
    rows: IntArray,
    lattice: Lattice,
    hyperparameters: tuple[FloatArray, FloatArray],
) -> FloatArray:
    lengths, ratios = (values[rows] for values in hyperparameters)
    block, origins = make_block(trajectories, rows)
    alphas, _ = solve_block(block, lengths, ratios)
    precision = (-0.5 / lengths**2)[:, None, None]

    def near(places: FloatArray, origin: FloatArray, positions: FloatArray) -> FloatArray:
        offsets = places[None, :, None] - origin[:, None, None] - positions[:, None, :]
        return np.asarray(np.exp(precision * offsets**2))

    # The kernel between a point and a place is a product of one factor for each axis.
    by_latitude = near(lattice.latitudes, origins[:, 0], block.latitudes)
    by_longitude = near(lattice.longitudes, origins[:, 1], block.longitudes)
    means = [
        (by_latitude * alphas[:, None, :, axis]) @ by_longitude.transpose(0, 2, 1)
        for axis in (0, 1)
    ]
    return np.stack(means, axis=1).reshape(len(rows), -1)


def _one_for_each(name: str, values: npt.ArrayLike, n: int, above: float) -> FloatArray:
    if np.ndim(values) == 0:
        return np.full(n, check_number(name, values, at_least=above, above=0))
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n,):
        raise ValueError(f"{name} must be one number or one for each of {n}, got {array.shape}.")
    if not (np.isfinite(array).all() and (array >= above).all() and (array > 0).all()):
        raise ValueError(f"{name} must be finite and at least {above:g} everywhere.")
    return array
