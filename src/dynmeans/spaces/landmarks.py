"""landmarks: shapes that no center describes, by similarities to rows kept from the beginning."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import checked_count, checked_number
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.diffusion import dense_landmarks, spectral_map
from dynmeans.spaces.kernels import KERNELS, squared_distances
from dynmeans.spaces.space import Space

Kernel = Callable[[FloatArray, FloatArray], FloatArray]
PRECOMPUTED, DIFFUSION = "precomputed", "diffusion"
_BLOCK = 4096  # rows whose similarities are held at a time
_MAX_ROWS = 4000  # first rows that landmarks are chosen from
_LEAST_SHARE = 1e-9  # of the kernel's trace: what is left to describe below this is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks(Space):
    """Points by similarities to landmarks, for shapes that no center describes.

    With "diffusion" rows that chains of near landmarks join lie at one place, on a sphere: rings,
    crescents, whatever is connected; a row that is like no landmark lies in the middle. With any
    other kernel the inner products of points are the kernel's (Nystrom): exact between landmarks,
    close for rows that landmarks describe.

    Parameters
    ----------
    kernel : {"diffusion", "rbf", "laplacian", "cosine", "precomputed"} or callable
        Similarity of rows: by name, or a function of two arrays of rows that returns a matrix; one
        cannot be kept in a file by name, and must be given again. "precomputed": a row holds the
        similarities of a thing (a text, a node, a set) to the landmarks, which `similarities` holds
        among each other.
    n_landmarks : int
        Rows to keep; with "diffusion" k-means centers of the first rows, without those that hold
        few.
    width : float, optional
        Distance at which "rbf" and "laplacian" have fallen to exp(-1/2) and exp(-1); by default a
        tenth of the median distance between first rows. With "diffusion" that of an "rbf"; by
        default the one at which landmarks fall apart into groups most clearly.
    similarities : array of shape (n_landmarks, n_landmarks), optional
        With "precomputed".

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
    has_courses: ClassVar[bool] = False

    kernel: str | Kernel = DIFFUSION
    n_landmarks: int = 200
    width: float | None = None
    similarities: FloatArray | None = None
    rows: FloatArray | None = None
    root: FloatArray | None = None  # from similarities to coordinates, a row for each of these

    def __post_init__(self) -> None:
        """Check what was given."""
        known = (DIFFUSION, *KERNELS, PRECOMPUTED)
        if not callable(self.kernel) and self.kernel not in known:
            rule = f"of landmarks must be one of {', '.join(known)}, or a function of two arrays"
            raise InputError("kernel", rule, got=self.kernel)
        checked_count("n_landmarks", self.n_landmarks)
        if self.width is not None:
            checked_number("width", self.width, above=0)
        if (self.kernel == PRECOMPUTED) != (self.similarities is not None):
            raise InputError("similarities", "of landmarks go with the kernel 'precomputed'")
        if self.similarities is not None and self.root is None:
            object.__setattr__(self, "root", _inverse_root(np.array(self.similarities, float)))

    @classmethod
    def from_text(cls, text: str) -> "Landmarks":
        """Read the number of landmarks and the width: ``landmarks:60`` or ``landmarks:60,0.4``."""
        numbers = [part for part in text.split(",") if part]
        try:
            n_landmarks = int(numbers[0]) if numbers else 200
            return cls(n_landmarks=n_landmarks, width=float(numbers[1]) if numbers[1:] else None)
        except ValueError as error:
            rule = "'landmarks' takes how many, and a width, as in landmarks:60,0.4"
            raise InputError("space", rule, got=f"landmarks:{text}") from error

    @property
    def is_fitted(self) -> bool:
        """Whether landmarks were chosen."""
        return self.root is not None

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> Space:
        """Choose landmarks where rows are many, or those that the others describe least."""
        if self.is_fitted:
            return self
        first = np.unique(np.asarray(rows, np.float64), axis=0)  # the same in any order of rows
        first = first[:: -(-len(first) // _MAX_ROWS)]
        if self.kernel == DIFFUSION:
            kept = dense_landmarks(first, self.n_landmarks)
            fitting, root = spectral_map(kept, self.width)
            return Landmarks(DIFFUSION, self.n_landmarks, fitting, None, kept, root)
        width = self._usual_width(first) if self.width is None else self.width
        kernel = self._of_width(width)
        chosen = _pivots(first, kernel, self.n_landmarks)
        kept = first[chosen]
        return Landmarks(
            self.kernel, self.n_landmarks, width, None, kept, _inverse_root(kernel(kept, kept))
        )

    def n_coordinates(self, n_features: int) -> int:
        """One for each landmark, or each group of them."""
        return self.n_landmarks if self.root is None else len(self.root)

    def to_points(self, rows: Any) -> Any:
        """Return coordinates by the landmarks, in the precision of the rows."""
        assert self.root is not None, "fitted"
        values = np.asarray(rows)
        points = np.empty((len(values), len(self.root)))
        for start in range(0, len(values), _BLOCK):
            block = slice(start, start + _BLOCK)
            points[block] = self._mapped(values[block].astype(np.float64))
        return points.astype(values.dtype)

    def _mapped(self, rows: FloatArray) -> FloatArray:
        assert self.root is not None
        near = rows if self.rows is None else self._of_width(self.width)(rows, self.rows)
        points = np.zeros((len(rows), len(self.root)))
        for column, factors in zip(near.T, self.root.T, strict=True):
            points += column[:, None] * factors  # in a fixed order: BLAS has none
        if self.kernel != DIFFUSION:
            return points
        lengths = np.sqrt((points * points).sum(axis=1, keepdims=True))
        return np.asarray(points / np.where(lengths > 0, lengths, 1.0))

    def tell(self, squared: float) -> str:
        """Say the similarity of rows at this squared distance, 1 for those that are alike."""
        return f"similarity {1.0 - 0.5 * squared:.3g}"

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return the landmark nearest to each center; similarities to all, if precomputed."""
        assert self.root is not None, "fitted"
        if self.rows is None:
            return np.asarray(np.linalg.solve(self.root, centers.T).T)
        places = self.to_points(self.rows)
        if not len(centers):
            return np.empty((0, self.rows.shape[1]))
        return np.asarray(self.rows[np.argmin(squared_distances(centers, places), axis=1)])

    def moves_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return zeros: a kernel has no directions of features, and no courses."""
        return np.zeros_like(self.to_rows(centers))

    def _of_width(self, width: float | None) -> Kernel:
        if callable(self.kernel):
            return self.kernel
        return KERNELS["rbf" if self.kernel == DIFFUSION else self.kernel](width)

    def _usual_width(self, rows: FloatArray) -> float | None:
        if callable(self.kernel) or self.kernel not in ("rbf", "laplacian"):
            return None
        few = rows[:: -(-len(rows) // 500)]
        squares = squared_distances(few, few)
        return 0.1 * float(np.sqrt(np.median(squares[squares > 0]))) if len(few) > 1 else 1.0

    def could_become(self, learned: Space) -> bool:
        """Say whether `learned` has the same kernel."""
        return isinstance(learned, Landmarks) and learned.kernel == self.kernel

    def __eq__(self, other: object) -> bool:
        """Two are equal when their numbers are, to the bit."""
        if not isinstance(other, Landmarks):
            return NotImplemented
        if self.kernel != other.kernel or self.is_fitted != other.is_fitted:
            return False
        return self.root is None or np.array_equal(self.root, other.root)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """Return kernel, width and the landmarks; a function is named, and not kept."""
        if callable(self.kernel):
            raise InputError("kernel", "must be given by name to be kept in a file, got a function")
        arrays = {"similarities": self.similarities, "rows": self.rows, "root": self.root}
        lists = {k: None if v is None else np.asarray(v).tolist() for k, v in arrays.items()}
        numbers = {"n_landmarks": self.n_landmarks, "width": self.width}
        return {"name": self.name, "kernel": self.kernel, **numbers, **lists}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Landmarks":
        """Read what `to_json` gave."""
        names = ("similarities", "rows", "root")
        arrays = {name: None if value[name] is None else np.array(value[name]) for name in names}
        return cls(value["kernel"], value["n_landmarks"], value["width"], **arrays)


def _pivots(rows: FloatArray, kernel: Kernel, n_landmarks: int) -> list[int]:
    """Return rows in the order in which a pivoted Cholesky factorization takes them."""
    left = np.array([float(kernel(row[None], row[None])[0, 0]) for row in rows])
    least, factors = _LEAST_SHARE * float(left.sum()), np.empty((0, len(rows)))
    chosen: list[int] = []
    while len(chosen) < min(n_landmarks, len(rows)):
        pivot = int(np.argmax(left))
        if left[pivot] <= least / len(rows):
            break
        column = kernel(rows, rows[pivot : pivot + 1])[:, 0]
        for factor in factors:
            column = column - factor * factor[pivot]
        column = column / np.sqrt(left[pivot])
        factors = np.vstack([factors, column])
        left = np.maximum(left - column**2, 0.0)
        left[pivot] = 0.0
        chosen.append(pivot)
    return chosen


def _inverse_root(similarities: FloatArray) -> FloatArray:
    """Return the inverse of the Cholesky factor: it turns similarities into coordinates."""
    size = len(similarities)
    if similarities.shape != (size, size) or not np.allclose(similarities, similarities.T):
        raise InputError("similarities", "of landmarks must be a symmetric matrix")
    factor = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            rest = similarities[i, j] - float(np.sum(factor[i, :j] * factor[j, :j]))
            if i == j:
                factor[i, i] = np.sqrt(max(rest, _LEAST_SHARE * similarities[i, i]))
            else:
                factor[i, j] = rest / factor[j, j]
    inverse = np.zeros((size, size))
    for i in range(size):
        inverse[i, i] = 1.0 / factor[i, i]
        for j in range(i):
            inverse[i, j] = -float(np.sum(factor[i, j:i] * inverse[j:i, j])) / factor[i, i]
    return inverse
