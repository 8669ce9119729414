"""How long a description of the stream gets with the help of a clustering: shorter is better.

A clustering that is too fine spends words on labels, births and moves; one that is too coarse
spends them on the places of points. The length is -log of one joint probability of points and
labels, so that nothing is weighed by hand (decision 0300).
"""

from dataclasses import dataclass

from dynmeans.records.arrays import IntArray
from dynmeans.suggestion import lives, noise
from dynmeans.suggestion.overlap import overlap
from dynmeans.suggestion.tracks import Points, Tracks

# Shortest spread, as a variance in units of that of all points: no finer than one part in 3e4.
_FINEST = 1e-9


@dataclass(frozen=True, slots=True)
class Description:
    """The parts of one description, each a log-probability in nats.

    Attributes
    ----------
    places : float
        Points around the means of their cells, under the shape of noise that fits best.
    labels : float
        Which point belongs to which cluster, less what overlapping clusters leave open.
    paths : float
        Where clusters begin, and how they move.
    lives : float
        Births, breaks and ends.
    shape : {"gaussian", "student", "own"}
        The shape of noise that fits best.
    """

    places: float
    labels: float
    paths: float
    lives: float
    shape: str

    @property
    def length(self) -> float:
        """-log(probability) of everything, in nats."""
        return -(self.places + self.labels + self.paths + self.lives)


def describe(points: Points, labels: list[IntArray]) -> Description:
    """Describe the points with the help of these labels, one array for each batch."""
    tracks = Tracks.sort(points, labels)
    floor = _FINEST * points.variance
    variance = noise.shared_variance(tracks, floor)
    heavy, scale = noise.student(tracks, floor)
    candidates = {
        "gaussian": noise.gaussian(tracks, variance),
        "student": heavy,
        "own": noise.own_shapes(tracks, variance),
    }
    shape = max(candidates, key=lambda name: candidates[name])
    has_tails = shape == "student"
    n_batches, n_features = len(points.batches), len(points.mean)
    moves = lives.moves_of(tracks, points.times)
    return Description(
        places=candidates[shape],
        labels=lives.shares(tracks, n_batches)
        + overlap(points, tracks, scale if has_tails else variance, has_tails=has_tails),
        paths=lives.beginnings(points, tracks) + lives.walk(moves, n_features, variance),
        lives=lives.fates(tracks, moves, n_batches) + lives.births(tracks, n_batches),
        shape=shape,
    )
