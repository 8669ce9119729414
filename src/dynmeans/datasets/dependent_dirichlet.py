"""Streams from the model itself: the dependent Dirichlet process mixture of Section 2 and 3."""

from dataclasses import dataclass, field

import numpy as np

from dynmeans.inputs.numbers import check_count
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.mixture import MixtureParameters
from dynmeans.records.stream import LabeledStream

_NEGLIGIBLE = 1e-9  # weight of all atoms that are left out of a Dirichlet process


def dependent_dirichlet(
    parameters: MixtureParameters,
    n_steps: int = 100,
    n_points: int = 75,
    *,
    n_features: int = 2,
    rng: np.random.Generator,
) -> LabeledStream:
    """Draw a stream from the dependent Dirichlet process mixture of Gaussians.

    Between two steps every cluster dies with probability 1 - q (subsampling), the others move by
    N(0, xi I) (transition), and the clusters of a new Dirichlet process are mixed in
    (superposition): shares c_D and c_F ~ Dirichlet(q m, alpha) of the old and the new, where m is
    the mass of the step before, alpha (1 - q^t) / (1 - q). In every step the points choose their
    clusters by weight and scatter around them by N(0, sigma I).

    Parameters
    ----------
    parameters : MixtureParameters
        alpha, q, sigma, xi, phi and rho.
    n_steps, n_points : int
        Number of batches, and points of each.
    n_features : int
        Dimension.
    rng : numpy.random.Generator
        Source of all randomness.

    Returns
    -------
    LabeledStream
        IDs are numbered in the order in which clusters first have points; a cluster may have no
        points in a step and return later.

    See Also
    --------
    DDPMixture : Fits the model.
    dynmeans.datasets.moving_gaussians : The synthetic data of the paper.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> model = MixtureParameters(survival=0.9, noise_variance=0.01, prior_variance=25.0)
    >>> stream = dependent_dirichlet(model, 3, 10, rng=np.random.default_rng(0))
    >>> len(stream), stream.batches[0].shape, int(stream.labels[0][0])
    (3, (10, 2), 0)
    """
    n_steps, n_points = check_count("n_steps", n_steps), check_count("n_points", n_points)
    n_features = check_count("n_features", n_features)
    measure = _Measure(parameters, n_features, rng)
    stream = LabeledStream([], [], [], [])
    names: dict[int, int] = {}
    for _ in range(n_steps):
        measure.advance()
        _observe(measure, stream, names, n_points)
    return stream


@dataclass(slots=True)
class _Measure:
    """D_t: weighted atoms, and the mass of the measure it was drawn by."""

    parameters: MixtureParameters
    n_features: int
    rng: np.random.Generator
    atoms: FloatArray = field(init=False)  # theta
    shares: FloatArray = field(init=False)  # pi, which sum to 1
    names: IntArray = field(init=False)
    n_born: int = 0
    mass: float = 0.0

    def __post_init__(self) -> None:
        self.atoms = np.empty((0, self.n_features))
        self.shares, self.names = np.empty(0), np.empty(0, dtype=np.int64)

    def advance(self) -> None:
        """Draw D_t given D_{t-1}; before the first step nothing is there."""
        p, rng = self.parameters, self.rng
        survives = rng.random(len(self.shares)) < p.survival
        moves = np.sqrt(p.motion_variance) * rng.normal(size=(survives.sum(), self.n_features))
        old, old_mass = self.shares[survives], p.survival * self.mass
        new = _break_stick(p.concentration, rng)
        born = p.prior_mean_of(self.n_features) + np.sqrt(p.prior_variance) * rng.normal(
            size=(len(new), self.n_features)
        )
        new_share = rng.beta(p.concentration, old_mass) if len(old) else 1.0
        old = old * ((1.0 - new_share) / old.sum()) if len(old) else old
        self.atoms = np.vstack([self.atoms[survives] + moves, born])
        self.shares = np.append(old, new * new_share)
        self.names = np.append(self.names[survives], self.n_born + np.arange(len(new)))
        self.n_born += len(new)
        self.mass = old_mass + p.concentration
        self._drop_negligible()

    def _drop_negligible(self) -> None:
        is_kept = self.shares > _NEGLIGIBLE / max(len(self.shares), 1)
        self.atoms, self.names = self.atoms[is_kept], self.names[is_kept]
        self.shares = self.shares[is_kept] / self.shares[is_kept].sum()


def _break_stick(concentration: float, rng: np.random.Generator) -> FloatArray:
    """Weights of a Dirichlet process, to the last that is not negligible (Sethuraman, 1994)."""
    weights, left = [], 1.0
    while left > _NEGLIGIBLE:
        weights.append(left * rng.beta(1.0, concentration))
        left -= weights[-1]
    return np.array(weights) / sum(weights)


def _observe(
    measure: _Measure, stream: LabeledStream, names: dict[int, int], n_points: int
) -> None:
    """Append one batch drawn from the present mixture."""
    rng, sigma = measure.rng, measure.parameters.noise_variance
    chosen = rng.choice(len(measure.shares), size=n_points, p=measure.shares)
    noise = np.sqrt(sigma) * rng.normal(size=(n_points, measure.n_features))
    labels = np.array([names.setdefault(k, len(names)) for k in measure.names[chosen].tolist()])
    ids, first = np.unique(labels, return_index=True)
    stream.batches.append(measure.atoms[chosen] + noise)
    stream.labels.append(labels)
    stream.ids.append(ids)
    stream.centers.append(measure.atoms[chosen[first]])
