"""The three answers of one call side by side, each with a sentence and a small picture."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dynmeans.parameters.principal_axes import rotate_rows
from dynmeans.parameters.tracks import leading_axes
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.runs.run import Run

_N_DRAWN = 300  # rows of a picture
_SIZE = 120  # pixels
_GOLDEN = 137.508  # degrees between the hues of two ids
_STORED = ("name", "n_clusters", "n_per_window", "noise", "sentence")


@dataclass(frozen=True, slots=True)
class LevelShown:
    """One answer: how many clusters it has, a sentence, and a picture of it as SVG."""

    name: str  # {"fine", "default", "coarse"}
    n_clusters: int
    n_per_window: float
    noise: float  # share of the rows with the label -1
    sentence: str
    picture: str
    is_chosen: bool


class LevelsShown(Mapping[str, LevelShown]):
    """The levels by name; printed as three sentences, in notebooks as three pictures."""

    def __init__(self, levels: list[LevelShown]) -> None:
        self._levels = {one.name: one for one in levels}

    def __getitem__(self, name: str) -> LevelShown:
        """Return one level."""
        return self._levels[name]

    def __iter__(self) -> Iterator[str]:
        """Go through their names."""
        return iter(self._levels)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._levels)

    def __repr__(self) -> str:
        """Return one sentence per level."""
        return "\n".join(
            f"{'*' if one.is_chosen else ' '} {one.name:<8}{one.sentence}" for one in self.values()
        )

    def _repr_html_(self) -> str:
        cells = (
            f"<td style='text-align:left;vertical-align:top;width:{2 * _SIZE}px'>{one.picture}"
            f"<br><b>{one.name}</b>{' (shown)' if one.is_chosen else ''}<br>{one.sentence}</td>"
            for one in self.values()
        )
        return f"<table><tr>{''.join(cells)}</tr></table>"


def levels_shown(run: Run) -> LevelsShown | None:
    """Return the three levels of a run with pictures of its last rows; None where it has none."""
    stored = run.levels
    if stored is None or not stored.options:
        return None
    places, ids = _last_rows(run)
    return LevelsShown(
        [
            LevelShown(
                **{key: one[key] for key in _STORED},
                picture=_picture(places, ids, stored.clusters[one["name"]]),
                is_chosen=one["name"] == stored.chosen,
            )
            for one in stored.options
        ]
    )


def _last_rows(run: Run) -> tuple[FloatArray, IntArray]:
    """Places of some of the last rows that the run keeps, in two axes, and their subclusters."""
    rows, ids, n = [np.empty((0, len(run.config.features)))], [np.empty(0, dtype=np.int64)], 0
    last = run.status().n_windows
    while last > 0 and n < _N_DRAWN:
        last -= 1
        for sample in run.samples(first_step=last, last_step=last):
            rows.append(sample.points.astype(np.float64))
            ids.append(sample.cluster_ids)
            n += len(sample.cluster_ids)
    points = np.concatenate(rows)
    axes = leading_axes([points]) if len(points) > 1 else None
    places = (points if axes is None else rotate_rows(points, axes))[:, :2]
    if places.shape[1] == 1:
        places = np.column_stack([places, np.zeros(len(places))])
    return places, np.concatenate(ids)


def _picture(places: FloatArray, ids: IntArray, clusters: Mapping[int, int]) -> str:
    """Draw rows as dots in the color of their cluster; noise is gray."""
    stride = max(1, len(ids) // _N_DRAWN)
    places, ids = places[::stride], ids[::stride]
    low = places.min(axis=0, initial=0.0)
    span = np.maximum(places.max(axis=0, initial=0.0) - low, 1e-300)
    dots = []
    for (x, y), k in zip(
        ((places - low) / span * (_SIZE - 6) + 3).tolist(), ids.tolist(), strict=True
    ):
        cluster = clusters.get(k, k)
        color = "#bbb" if cluster < 0 else f"hsl({cluster * _GOLDEN % 360:.0f} 65% 45%)"
        dots.append(f'<circle cx="{x:.1f}" cy="{_SIZE - y:.1f}" r="2" fill="{color}"/>')
    box = f'width="{_SIZE}" height="{_SIZE}" viewBox="0 0 {_SIZE} {_SIZE}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(dots)}</svg>'
