"""mixed: a space for each group of features, side by side, with weights."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.features import feature_numbers
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.space import Space, array_module

_EXAMPLE = "0.1*geo(lat,lon) + cyclic:24(hour) + standard(speed)"
_GROUP = re.compile(r"(?:([0-9.eE+-]+)\s*\*\s*)?([a-z]+(?::[^()]*)?)\s*\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Group:
    """Some features, the space they lie in, and what a distance in it weighs."""

    space: Space
    features: tuple[str | int, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Mixed(Space):
    """Real tables: places, hours and speeds in one row.

    The squared distance of two points is the sum of those of the groups, each times the square of
    its weight: a weight of 0.1 for ``geo`` means that 10 km count as much as 1 of the others' unit.

    Examples
    --------
    >>> from dynmeans.spaces.named import find_space
    >>> names = ["hour", "lat", "lon"]
    >>> space = find_space("0.1*geo(lat,lon) + cyclic:24(hour)").bind_features(names)
    >>> points = space.to_points(np.array([[23.5, 0.0, 0.0], [0.5, 0.0, 0.0]]))
    >>> points.shape, float(np.linalg.norm(points[0] - points[1]).round(2))
    ((2, 5), 1.0)
    """

    name: ClassVar[str] = "mixed"
    unit: ClassVar[str] = "of the mixed space"

    groups: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        """Check the weights, and that no feature lies in two groups."""
        if not self.groups:
            raise InputError("space", f"'mixed' needs its groups, as in {_EXAMPLE}")
        for group in self.groups:
            check_number("weight", group.weight, above=0)
        named = [feature for group in self.groups for feature in group.features]
        if len(set(named)) < len(named):
            twice = next(feature for feature in named if named.count(feature) > 1)
            raise InputError("space", "must name each feature once; {!r} is named twice", twice)

    @property
    def is_elementwise(self) -> bool:  # type: ignore[override]
        """Whether every group is."""
        return all(group.space.is_elementwise for group in self.groups)

    @property
    def supports_velocity(self) -> bool:  # type: ignore[override]
        """Whether every group has."""
        return all(group.space.supports_velocity for group in self.groups)

    @property
    def is_curved(self) -> bool:  # type: ignore[override]
        """Whether any group is."""
        return any(group.space.is_curved for group in self.groups)

    @property
    def is_fitted(self) -> bool:
        """Whether every group is, and features are known by their numbers."""
        return all(g.space.is_fitted and not _is_named(g) for g in self.groups)

    def bind_features(self, names: Sequence[str]) -> "Mixed":
        """Find the features of each group by their names."""
        groups = []
        for group in self.groups:
            if not _is_named(group):
                groups.append(group)
                continue
            numbers = [_number_of(feature, names) for feature in group.features]
            space = group.space.bind_features([names[number] for number in numbers])
            groups.append(Group(space, tuple(numbers), group.weight))
        return Mixed(tuple(groups))

    def fit(self, rows: BatchArray, weights: FloatArray | None = None) -> "Mixed":
        """Learn the space of each group from its features."""
        self._check_features(rows.shape[1])
        fitted = [
            replace(g, space=g.space.fit(rows[:, self._columns(g)], weights)) for g in self.groups
        ]
        return Mixed(tuple(fitted))

    def is_compatible(self, learned: Space) -> bool:
        """Return whether group by group `learned` may be what `fit` made."""
        return (
            isinstance(learned, Mixed)
            and len(learned.groups) == len(self.groups)
            and all(
                mine.weight == other.weight and mine.space.is_compatible(other.space)
                for mine, other in zip(self.groups, learned.groups, strict=True)
            )
        )

    def n_coordinates(self, n_features: int) -> int:
        """Return the coordinates of all groups together."""
        self._check_features(n_features)
        return sum(group.space.n_coordinates(len(group.features)) for group in self.groups)

    def point_columns(self, features: tuple[int, ...]) -> tuple[int, ...]:
        """Return the coordinates of those groups that hold these features."""
        found: list[int] = []
        for group, start in self._starts():
            inside = tuple(i for i, f in enumerate(group.features) if f in features)
            found += [start + c for c in group.space.point_columns(inside)] if inside else []
        return tuple(found)

    def periods(self, n_features: int) -> tuple[float | None, ...]:
        """Return those of all groups, in the order of the rows."""
        found: list[float | None] = [None] * n_features
        for group in self.groups:
            of_group = group.space.periods(len(group.features))
            for column, period in zip(self._columns(group), of_group, strict=True):
                found[column] = period
        return tuple(found)

    def lon_lat(self) -> tuple[int, int] | None:
        """Return those of the first group on the globe."""
        for group in self.groups:
            if at := group.space.lon_lat():
                columns = self._columns(group)
                return columns[at[0]], columns[at[1]]
        return None

    def format_distance(self, squared: float) -> str:
        """Return how far each group alone may be apart at this squared distance.

        >>> from dynmeans.spaces.named import find_space
        >>> find_space("0.1*geo(0,1) + cyclic:24(2)").format_distance(4.0)
        '20 km or 2 h'
        """
        return " or ".join(g.space.format_distance(squared / g.weight**2) for g in self.groups)

    def to_points(self, rows: Any) -> Any:
        """Return the points of all groups side by side."""
        numbers = array_module(rows)
        parts = [g.space.to_points(rows[:, self._columns(g)]) * g.weight for g in self.groups]
        # Parts of chosen columns may lie column by column; points lie row by row.
        return numbers.ascontiguousarray(numbers.concatenate(parts, axis=1), dtype=rows.dtype)

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return the features of all groups, in the order of the rows."""
        n_features = sum(len(group.features) for group in self.groups)
        rows = np.empty((len(centers), n_features))
        for group, part in self._parts(centers):
            rows[:, self._columns(group)] = group.space.to_rows(part)
        return rows

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return the moves of all groups, in the order of the rows."""
        rows = np.empty((len(centers), sum(len(group.features) for group in self.groups)))
        for (group, part), (_, place) in zip(self._parts(moves), self._parts(centers), strict=True):
            rows[:, self._columns(group)] = group.space.velocities_to_rows(part, place)
        return rows

    def extrapolate(self, centers: FloatArray, moves: FloatArray, elapsed: Any) -> Any:
        """Move each group in its own way."""
        places, courses = np.empty_like(centers), np.empty_like(moves)
        for group, start in self._starts():
            at = slice(start, start + group.space.n_coordinates(len(group.features)))
            places[:, at], courses[:, at] = group.space.extrapolate(
                centers[:, at], moves[:, at], elapsed
            )
        return places, courses

    def to_json(self) -> dict[str, Any]:
        """Return every group with all it learned."""
        groups = [
            {"space": g.space.to_json(), "features": list(g.features), "weight": g.weight}
            for g in self.groups
        ]
        return {"name": self.name, "groups": groups}

    def _columns(self, group: Group) -> list[int]:
        for feature in group.features:
            if isinstance(feature, str):
                raise InputError(
                    "space",
                    "names the feature {!r}, and these rows have no names",
                    feature,
                    hint="Name features by number, from 0: geo(0,1).",
                )
        return [int(feature) for feature in group.features]

    def _starts(self) -> list[tuple[Group, int]]:
        sizes = [group.space.n_coordinates(len(group.features)) for group in self.groups]
        return list(zip(self.groups, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))

    def _parts(self, centers: FloatArray) -> list[tuple[Group, FloatArray]]:
        """Return each group with its own coordinates, without its weight."""
        return [
            (g, centers[:, at : at + g.space.n_coordinates(len(g.features))] / g.weight)
            for g, at in self._starts()
        ]

    def _check_features(self, n_features: int) -> None:
        named = sorted(column for group in self.groups for column in self._columns(group))
        if len(named) != n_features or named != list(range(n_features)):
            raise InputError(
                "space",
                "'mixed' must have every feature in a group: there are {}, and its groups name {}",
                n_features,
                ", ".join(map(str, named)),
            )


def read_groups(text: str, find: Any) -> Mixed:
    """Read ``0.1*geo(lat,lon) + standard(speed)``; `find` knows the names of spaces."""
    groups = []
    for part in re.split(r"(?<=\))\s*\+", text):
        found = _GROUP.fullmatch(part.strip())
        if found is None:
            raise InputError("space", f"must be groups as in {_EXAMPLE}", got=text)
        weight, space, names = found.groups()
        try:
            number = float(weight or 1.0)
        except ValueError:
            raise InputError("space", "must have a number before each *", got=weight) from None
        features = tuple(_feature(name) for name in names.split(","))
        groups.append(Group(find(space), features, number))
    return Mixed(tuple(groups))


def _feature(text: str) -> str | int:
    name = text.strip()
    return int(name) if name.isdecimal() and name.isascii() else name


def _is_named(group: Group) -> bool:
    return any(isinstance(feature, str) for feature in group.features)


def _number_of(feature: str | int, names: Sequence[str]) -> int:
    found = feature_numbers([feature], len(names), names, "space")
    assert found is not None, "one was named"
    return found[0]
