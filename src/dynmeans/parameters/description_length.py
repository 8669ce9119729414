"""How long a description of the stream gets with the help of a clustering: shorter is better.

A clustering that is too fine spends words on labels, births and moves; one that is too coarse
spends them on the places of points. The length is -log of one joint probability of points and
labels, so that nothing is weighed by hand (decision 0300).
"""

from dataclasses import dataclass

from dynmeans.engine.compiled import compiled
from dynmeans.parameters.tracks import Points
from dynmeans.records.arrays import FloatArray, IntArray

SHAPES = ("gaussian", "student", "own")
# Shortest spread, as a variance in units of that of all points: no finer than one part in 3e4.
FINEST = 1e-9


@dataclass(frozen=True, slots=True)
class Description:
    """The parts of one description, each a log-probability in nats."""

    places: float  # Points around the means of their cells, under the shape of noise that fits best
    labels: float  # Which point belongs to which cluster
    paths: float  # Where clusters begin, and how they move
    lifetimes: float  # Births, breaks and ends
    shape: str  # {"gaussian", "student", "own"}; the shape of noise that fits best

    @property
    def length(self) -> float:
        """-log(probability) of everything, in nats."""
        return -(self.places + self.labels + self.paths + self.lifetimes)


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
        FINEST * points.variance,
        moving,
        labels,
    )
    return Description(places, named, paths, lived, SHAPES[shape])
