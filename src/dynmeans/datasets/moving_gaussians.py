"""The synthetic experiment's data: moving Gaussian clusters with true identities (Sec. 6.1)."""

from dataclasses import dataclass, field

import numpy as np

from dynmeans.inputs.fields import one_of
from dynmeans.inputs.numbers import check_count, check_number
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.stream import LabeledStream

NOISES = ("isotropic", "radial")
MOTION_MODELS = ("random_walk", "constant_velocity")


def moving_gaussians(
    n_steps: int = 100,
    n_clusters: int = 5,
    *,
    rng: np.random.Generator,
    points_per_cluster: int = 15,
    n_features: int = 2,
    spread: float = 0.05,
    motion: float = 0.05,
    death: float = 0.05,
    birth: float | None = None,
    vanish: float = 0.0,
    max_hidden: int = 5,
    noise: str = "isotropic",
    motion_model: str = "random_walk",
) -> LabeledStream:
    """Make a stream of clusters that move, die and are born; the defaults are the paper's.

    Parameters
    ----------
    n_steps : int
        Number of batches.
    n_clusters : int
        Clusters at the start, uniform on the unit square (or cube). Their centers move freely
        and may leave it.
    rng : numpy.random.Generator
        Source of all randomness.
    points_per_cluster : int
        Points of each visible cluster in every batch.
    n_features : int
        Dimension.
    spread, motion : float
        Size of the noise of points around their center, and of a center's move per step.
    death : float
        Probability that a cluster dies between two steps.
    birth : float, optional
        Probability that one is born between two steps. By default the number of clusters is
        fixed: a death is followed by a birth.
    vanish : float
        Probability that an active cluster loses its points. It moves on, cannot die meanwhile, and
        returns with the same label.
    max_hidden : int
        It is absent for 1 to `max_hidden` steps, uniformly.
    noise : {"isotropic", "radial"}
        Standard deviation per axis, as in the paper; or a length from N(0, s) in a uniform
        direction, as in the authors' example.
    motion_model : {"random_walk", "constant_velocity"}
        Each move is drawn independently; or each center has a velocity of that size, and turns back
        at the borders of the unit square.

    See Also
    --------
    dynmeans.datasets.dependent_dirichlet : Draw a stream from the model.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> stream = moving_gaussians(n_steps=3, n_clusters=4, rng=np.random.default_rng(0))
    >>> len(stream), stream.batches[0].shape, stream.ids[0]
    (3, (60, 2), array([0, 1, 2, 3]))
    """
    _check(n_steps=n_steps, points_per_cluster=points_per_cluster, n_features=n_features)
    _check(max_hidden=max_hidden, n_clusters=n_clusters)
    for name, probability in (("death", death), ("birth", birth), ("vanish", vanish)):
        if probability is not None and not 0 <= probability <= 1:
            raise ValueError(f"{name} must be a probability from 0 to 1, got {probability!r}.")
    spread = check_number("spread", spread, at_least=0)
    motion = check_number("motion", motion, at_least=0)
    one_of("noise", noise, NOISES)
    one_of("motion_model", motion_model, MOTION_MODELS)
    world = _World(n_features, noise, rng, motion if motion_model == "constant_velocity" else None)
    world.create(n_clusters)
    stream = LabeledStream([], [], [], [])
    for step in range(n_steps):
        if step > 0:
            n_dead = world.let_die(death)
            world.move(motion)
            n_born = n_dead if birth is None else int(rng.random() < birth)
            world.create(n_born)
            world.hide(vanish, max_hidden)
        _observe(world, stream, points_per_cluster, spread)
    return stream


@dataclass(slots=True)
class _World:
    """The clusters alive at one moment, hidden ones included."""

    n_features: int
    noise: str
    rng: np.random.Generator
    speed: float | None  # of clusters that keep a course
    ids: IntArray = field(init=False)
    centers: FloatArray = field(init=False)
    hidden_for: IntArray = field(init=False)
    velocities: FloatArray = field(init=False)
    next_id: int = 0

    def __post_init__(self) -> None:
        self.ids = np.empty(0, dtype=np.int64)
        self.centers = self.velocities = np.empty((0, self.n_features))
        self.hidden_for = np.empty(0, dtype=np.int64)

    def create(self, n_new: int) -> None:
        self.ids = np.append(self.ids, self.next_id + np.arange(n_new))
        self.centers = np.vstack([self.centers, self.rng.random((n_new, self.n_features))])
        self.hidden_for = np.append(self.hidden_for, np.zeros(n_new, dtype=np.int64))
        if self.speed is not None:
            new = self.scatter(n_new, self.speed)
            self.velocities = np.vstack([self.velocities, new])
        self.next_id += n_new

    def let_die(self, death: float) -> int:
        survives = (self.rng.random(len(self.ids)) >= death) | (self.hidden_for > 0)
        self.ids = self.ids[survives]
        self.centers = self.centers[survives]
        self.hidden_for = self.hidden_for[survives]
        if self.speed is not None:
            self.velocities = self.velocities[survives]
        return int(np.count_nonzero(~survives))

    def move(self, motion: float) -> None:
        if self.speed is not None:
            self.centers = self.centers + self.velocities
            is_out = (self.centers < 0) & (self.velocities < 0)
            is_out |= (self.centers > 1) & (self.velocities > 0)
            self.velocities = np.where(is_out, -self.velocities, self.velocities)
            return
        self.centers = self.centers + self.scatter(len(self.centers), motion)

    def hide(self, vanish: float, max_hidden: int) -> None:
        is_visible = self.hidden_for == 0
        leaves = is_visible & (self.rng.random(len(self.ids)) < vanish)
        duration = self.rng.integers(1, max_hidden + 1, size=len(self.ids))
        self.hidden_for = np.where(leaves, duration, np.maximum(self.hidden_for - 1, 0))

    def scatter(self, n_points: int, size: float) -> FloatArray:
        """Draw displacements of the chosen kind of noise."""
        gaussian = self.rng.normal(size=(n_points, self.n_features))
        if self.noise == "isotropic":
            return np.asarray(size * gaussian)
        lengths = self.rng.normal(scale=size, size=(n_points, 1))
        return np.asarray(lengths * gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True))


def _observe(world: _World, stream: LabeledStream, points_per_cluster: int, spread: float) -> None:
    """Append one batch of the visible clusters' points, in random row order."""
    is_visible = world.hidden_for == 0
    ids, centers = world.ids[is_visible], world.centers[is_visible]
    n_points = len(ids) * points_per_cluster
    shuffled = world.rng.permutation(n_points)
    points = centers.repeat(points_per_cluster, axis=0) + world.scatter(n_points, spread)
    stream.batches.append(points[shuffled])
    stream.labels.append(ids.repeat(points_per_cluster)[shuffled])
    stream.ids.append(ids)
    stream.centers.append(centers)


def _check(**counts: int) -> None:
    for name, count in counts.items():
        check_count(name, count)
