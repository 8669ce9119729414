"""The whole description, term by term."""

from description_twin import life_model, noise
from description_twin.course_model import course
from description_twin.tracks import Tracks
from dynmeans.parameters.description_length import FINEST, SHAPES, Description
from dynmeans.parameters.tracks import Points
from dynmeans.records.arrays import FloatArray, IntArray


def describe_slowly(
    points: Points, labels: IntArray, moving: FloatArray | None = None
) -> Description:
    """Describe the points in plain NumPy: what `describe` must agree with."""
    tracks = Tracks.gather(points, labels)
    floor = FINEST * points.variance
    variance = noise.shared_variance(points, tracks, floor)
    heavy, _ = noise.student(points, tracks, floor)
    found = (noise.gaussian(points, tracks, variance), heavy, noise.own_shapes(tracks, variance))
    shape = SHAPES[found.index(max(found))]
    moves = life_model.moves_of(tracks, points.times)
    if moving is None:
        moved = life_model.walk(moves, points.n_features, variance)
    else:
        moved = course(points, tracks, moves, moving, variance)
    return Description(
        places=max(found),
        labels=life_model.shares(tracks, points.n_batches),
        paths=life_model.beginnings(points, tracks) + moved,
        lifetimes=life_model.fates(tracks, moves, points.n_batches)
        + life_model.births(tracks, points.n_batches),
        shape=shape,
    )
