"""What was tried, to look at: a picture beside the run, or a sketch in the terminal."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dynmeans.cli.output import tell
from dynmeans.engine.batch import Batch
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.suggestion import Suggestion

_WIDTH, _HEIGHT = 64, 16
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def candidate_pictures(run: Path) -> Callable[[Suggestion, list[Batch], list[float]], None]:
    """Return what shows the choices that were tried for a run in this folder."""
    return lambda found, batches, elapsed: _show(run, found, batches, elapsed)


def _show(run: Path, found: Suggestion, batches: list[Batch], elapsed: list[float]) -> None:
    from dynmeans.parameters.candidate_data import candidate_data

    tried = [candidate_data(candidate, batches, elapsed) for candidate in found.examples]
    if find_spec("matplotlib") is None:
        for data in tried:
            tell(data.title.replace("\n", ": "))
            for row in sketch(data.places, data.labels):
                tell(row)
        return
    from dynmeans.plots.candidates import draw_candidates

    path = run.with_name(f"{run.name}-choices.png")
    draw_candidates(tried).savefig(path, dpi=120)
    tell(f"what was tried, drawn on the fullest window: {path}")


def sketch(places: FloatArray, labels: IntArray) -> list[str]:
    """Return lines of text in which each cluster is a letter.

    >>> lines = sketch(np.array([[0.0, 0.0], [9.0, 9.0]]), np.array([0, 1]))
    >>> lines[0].strip(), lines[-1].strip(), len(lines)
    ('b', 'a', 16)
    """
    low, high = places.min(axis=0), places.max(axis=0)
    share = (places - low) / np.where(high > low, high - low, 1.0)
    across = (share[:, 0] * (_WIDTH - 1)).astype(int)
    down = ((1 - share[:, 1]) * (_HEIGHT - 1)).astype(int)
    paper = np.full((_HEIGHT, _WIDTH), " ")
    names = np.array(list(_LETTERS))[np.unique(labels, return_inverse=True)[1] % len(_LETTERS)]
    paper[down, across] = names
    return ["".join(line) for line in paper.tolist()]
