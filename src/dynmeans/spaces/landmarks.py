"""landmarks: shapes that no center describes, by a diffusion map learned once (decision 0334)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count, check_finite_array, check_number
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.space import Space

_BLOCK = 4096  # rows whose similarities are held at a time
_MAX_ROWS = 4000  # first rows that landmarks are chosen from
_ROUNDS = 10  # of Lloyd's algorithm
_MIN_SHARE = 0.2  # of the usual number of rows: landmarks with fewer are outliers, and bridges
_NEIGHBOR = 3  # whose distance is the unit of widths
_WIDTHS = (0.3, 0.37, 0.45, 0.55, 0.7, 1.0)
_MAX_GROUPS = 20
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks(Space):
    """Points by similarities to landmarks, for shapes that no center describes.

    Rows that chains of near landmarks join lie at one place, on a sphere: rings, crescents,
    whatever is connected; a row that is like no landmark lies in the middle.

    Parameters
    ----------
    n_landmarks : int
        Landmarks to keep: k-means centers of the first rows, without those that hold few.
    width : float, optional
        Distance at which a similarity has fallen to exp(-1/2); by default the one at which
        landmarks fall apart into groups most clearly.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> around = rng.uniform(0, 2 * np.pi, 300)
    >>> ring = np.stack([np.cos(around), np.sin(around)], axis=1) * np.repeat([1, 4], 150)[:, None]
    >>> points = Landmarks(n_landmarks=60).fit(ring).to_points(ring)
    >>> points.shape, bool(np.linalg.norm(points[0] - points[149]) < 0.1)
    ((300, 2), True)
    >>> bool(np.linalg.norm(points[0] - points[150]) > 1.4)
    True
    """

    name: ClassVar[str] = "landmarks"
    supports_velocity: ClassVar[bool] = False

    n_landmarks: int = 200
    width: Any = None
    rows: Any = None
    root: Any = None  # from similarities to coordinates, a row for each of these

    def __post_init__(self) -> None:
        """Check what was given."""
        check_count("n_landmarks", self.n_landmarks)
        if self.width is not None:
            check_number("width", self.width, above=0)
        if self.root is not None:
            check_number("width", self.width, above=0)
            for name in ("rows", "root"):
                array = check_finite_array(name, getattr(self, name), 2)
                object.__setattr__(self, name, array)
            if len(self.rows) != self.root.shape[1]:
                rule = "must have a column for each of {} landmarks; there are {}"
                raise InputError("root", rule, len(self.rows), self.root.shape[1])

    @classmethod
    def from_text(cls, text: str) -> "Landmarks":
        """Read the number of landmarks and the width: ``landmarks:60`` or ``landmarks:60,0.4``."""
        numbers = [part for part in text.split(",") if part]
        try:
            n_landmarks = int(numbers[0]) if numbers else 200
            return cls(n_landmarks, float(numbers[1]) if numbers[1:] else None)
        except ValueError as error:
            rule = "'landmarks' takes how many, and a width, as in landmarks:60,0.4"
            raise InputError("space", rule, got=f"landmarks:{text}") from error

    @property
    def is_fitted(self) -> bool:
        """Whether landmarks were chosen."""
        return self.root is not None

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> Space:
        """Choose landmarks where rows are many."""
        if self.is_fitted:
            return self
        first = np.unique(np.asarray(rows, np.float64), axis=0)  # the same in any order of rows
        kept = _dense_landmarks(first[:: -(-len(first) // _MAX_ROWS)], self.n_landmarks)
        width, root = _spectral_map(kept, self.width)
        return Landmarks(self.n_landmarks, width, kept, root)

    def n_coordinates(self, n_features: int) -> int:
        """One for each group of landmarks."""
        return self.n_landmarks if self.root is None else len(self.root)

    def to_points(self, rows: Any) -> Any:
        """Return coordinates by the landmarks, in the precision of the rows."""
        values = np.asarray(rows)
        points = np.empty((len(values), len(self.root)))
        for start in range(0, len(values), _BLOCK):
            block = slice(start, start + _BLOCK)
            points[block] = self._map_rows(values[block].astype(np.float64))
        return points.astype(values.dtype)

    def _map_rows(self, rows: FloatArray) -> FloatArray:
        near = np.exp(_squared_distances(rows, self.rows) * (-0.5 / self.width**2))
        points = np.zeros((len(rows), len(self.root)))
        for column, factors in zip(near.T, self.root.T, strict=True):
            points += column[:, None] * factors  # in a fixed order: BLAS has none
        lengths = np.sqrt((points * points).sum(axis=1, keepdims=True))
        return np.asarray(points / np.where(lengths > 0, lengths, 1.0))

    def format_distance(self, squared: float) -> str:
        """Return the similarity of rows at this squared distance, 1 for those that are alike."""
        return f"similarity {1.0 - 0.5 * squared:.3g}"

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return the landmark nearest to each center."""
        squares = _squared_distances(centers, self.to_points(self.rows))
        return np.asarray(self.rows[np.argmin(squares, axis=1)])

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return zeros: a similarity has no directions of features, and no courses."""
        return np.zeros_like(self.to_rows(centers))

    def is_compatible(self, learned: Space) -> bool:
        """Return whether `learned` is of this kind."""
        return isinstance(learned, Landmarks)


def _squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the squared distance of every pair, in an order of sums that BLAS cannot change."""
    total = np.zeros((len(first), len(second)))
    for a, b in zip(first.T, second.T, strict=True):
        total += np.square(a[:, None] - b)
    return total


def _dense_landmarks(rows: FloatArray, n_landmarks: int) -> FloatArray:
    """Return k-means centers of the rows, less those that hold few.

    It begins with the row in the middle and then the farthest ones, so that nothing is drawn.
    """
    best = _squared_distances(rows, rows.mean(axis=0)[None])[:, 0]
    chosen = [int(np.argmin(best))]
    best = _squared_distances(rows, rows[chosen])[:, 0]
    while len(chosen) < n_landmarks and best.max() > 0:
        chosen.append(int(np.argmax(best)))
        best = np.minimum(best, _squared_distances(rows, rows[chosen[-1:]])[:, 0])
    centers = rows[chosen]
    for _ in range(_ROUNDS):
        nearest = np.argmin(_squared_distances(rows, centers), axis=1)
        counts = np.bincount(nearest, minlength=len(centers)).astype(np.float64)
        sums = np.stack([np.bincount(nearest, column, len(centers)) for column in rows.T], axis=1)
        centers = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1.0)[:, None], centers)
    return centers[counts >= max(1.0, _MIN_SHARE * len(rows) / len(centers))]


def _spectral_map(landmarks: FloatArray, width: float | None) -> tuple[float, FloatArray]:
    """Return the width and the matrix from similarities to coordinates, one row for each.

    Of the random walk from landmark to landmark the slowest movements are kept: those between
    groups that it rarely leaves. The number of groups follows from the widest gap between
    the rates; without a `width` that is also what chooses it.
    """
    squares = _squared_distances(landmarks, landmarks)
    near = np.sort(squares, axis=1)[:, min(_NEIGHBOR, len(landmarks) - 1)]
    unit = float(np.sqrt(np.median(near))) or 1.0
    widths = (width,) if width is not None else tuple(share * unit for share in _WIDTHS)
    found = [(*_slowest(squares, one), one) for one in widths]
    _, root, chosen = max(found, key=lambda one: one[0])
    return chosen, root


def _slowest(squares: FloatArray, width: float) -> tuple[float, FloatArray]:
    similarities = np.exp(squares * (-0.5 / width**2))
    roots = np.sqrt(similarities.sum(axis=1))
    values, vectors = np.linalg.eigh(similarities / np.outer(roots, roots))
    values, vectors = values[::-1], vectors[:, ::-1]
    rates = -np.log(np.clip(values[: _MAX_GROUPS + 1], 1e-12, 1.0 - _EPSILON))
    gaps = rates[1:] / rates[:-1]
    n_groups = int(np.argmax(gaps[1:])) + 2 if len(gaps) > 1 else len(values)
    kept = vectors[:, :n_groups]
    # A direction has no sign of its own: its largest part points up.
    signs = np.sign(kept[np.abs(kept).argmax(axis=0), np.arange(n_groups)])
    root = (kept * signs / values[:n_groups] / roots[:, None]).T
    return float(gaps[n_groups - 1]) if n_groups <= len(gaps) else 0.0, root
