"""How long a description of the stream gets with the help of a clustering: shorter is better.

A clustering that is too fine spends words on labels, births and moves; one that is too coarse
spends them on the places of points. The length is -log of one joint probability of points and
labels, so that nothing is weighed by hand (decision 0300).
"""

from dataclasses import dataclass

from dynmeans.engine.compiled import compiled
from dynmeans.parameters import life_model, noise
from dynmeans.parameters.course_model import course
from dynmeans.parameters.overlap import overlap
from dynmeans.parameters.tracks import Points, Tracks
from dynmeans.records.arrays import FloatArray, IntArray

SHAPES = ("gaussian", "student", "own")
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


def describe(points: Points, labels: IntArray, moving: FloatArray | None = None) -> Description:
    """Describe the points with the help of these labels, one for each row; compiled.

    `moving` is 1 for each feature that keeps a course, else 0; None where clusters keep none.
    """
    if len(labels) and labels.min() < 0:
        raise ValueError(f"labels must be 0 or more, got {labels.min()}: every row has a cluster.")
    places, named, paths, lived, shape = compiled.describe(
        points.rows,
        points.weights,
        points.starts,
        points.times,
        points.mean,
        points.axes,
        points.axis_variances,
        _FINEST * points.variance,
        moving,
        labels,
    )
    return Description(places, named, paths, lived, SHAPES[shape])


def describe_slowly(
    points: Points, labels: IntArray, moving: FloatArray | None = None
) -> Description:
    """Describe the points in plain NumPy: what `describe` must agree with."""
    tracks = Tracks.gather(points, labels)
    floor = _FINEST * points.variance
    variance = noise.shared_variance(points, tracks, floor)
    heavy, scale = noise.student(points, tracks, floor)
    found = (noise.gaussian(points, tracks, variance), heavy, noise.own_shapes(tracks, variance))
    shape = SHAPES[found.index(max(found))]
    spread = (scale, noise.DEGREES) if shape == "student" else (variance, 0.0)
    moves = life_model.moves_of(tracks, points.times)
    if moving is None:
        moved = life_model.walk(moves, points.n_features, variance)
    else:
        moved = course(points, tracks, moves, moving, variance)
    return Description(
        places=max(found),
        labels=life_model.shares(tracks, points.n_batches) + overlap(points, tracks, *spread),
        paths=life_model.beginnings(points, tracks) + moved,
        lives=life_model.fates(tracks, moves, points.n_batches)
        + life_model.births(tracks, points.n_batches),
        shape=shape,
    )
