"""The moving clusters as a film, one frame for each batch."""

import logging
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.animation import PillowWriter
from matplotlib.figure import Figure

from dynmeans.inputs.numbers import check_count
from dynmeans.plots.arguments import check_history
from dynmeans.plots.tracks import TrackData, _draw_tracks, _track_data
from dynmeans.records.history import History

_SIZE = (6.4, 5.4)  # inches
_LOG = logging.getLogger(__name__)


def animate(
    history: History,
    batches: Iterable[npt.ArrayLike],
    path: str | os.PathLike[str],
    *,
    fps: int = 5,
    features: Sequence[int] = (0, 1),
    tail: int = 10,
    dpi: int = 100,
) -> Path:
    """Write a film of the points, the centers and their tails to a GIF file.

    Parameters
    ----------
    history : History
        The record of the batches.
    batches : iterable of array-like of shape (n_points, n_features)
        The points of every batch in the history.
    path : str or path
        Where to write, a name that ends in .gif, which is returned. A file of that name is
        replaced once all is written.
    fps : int
        Frames, and so batches, per second.
    features, tail :
        As in `plot_tracks`.
    dpi : int
        Pixels per inch; a frame is 6.4 by 5.4 inches.

    See Also
    --------
    plot_tracks : One batch.
    dynmeans.report.write_report : An interactive page.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> batches = [[[0.0, 0.0], [5.0, 5.0]], [[0.3, 0.1], [5.0, 5.3]]]
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film = animate(history, batches, Path(folder) / "film.gif", dpi=40)
    ...     film.name, film.stat().st_size > 0
    ('film.gif', True)
    """
    check_history(history)
    fps = check_count("fps", fps, at_least=1)
    dpi = check_count("dpi", dpi, at_least=1)
    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise ValueError(f"path must end in .gif, got {str(path)!r}.")
    if not path.parent.is_dir():
        raise ValueError(f"path must be in an existing folder, got {str(path)!r}.")
    frames = _frame_data(history, list(batches), features, tail)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        film = Path(folder) / path.name
        _write(frames, film, fps, dpi)
        os.replace(film, path)
    return path


def _frame_data(
    history: History, batches: list[npt.ArrayLike], features: Sequence[int], tail: int
) -> list[TrackData]:
    if len(batches) != len(history):
        raise ValueError(
            f"batches must hold one batch for each of {len(history)} in the history, "
            f"got {len(batches)}."
        )
    return [
        _track_data(history, points, step=step, tail=tail, features=features)
        for step, points in enumerate(batches)
    ]


def _limits(frames: list[TrackData]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return limits of both axes that hold every frame, with a margin of a twentieth."""
    places = np.concatenate([rows for frame in frames for rows in (frame.points, frame.centers)])
    if len(places) == 0:
        return (0.0, 1.0), (0.0, 1.0)
    low, high = places.min(axis=0), places.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    (x_low, y_low), (x_high, y_high) = (low - margin).tolist(), (high + margin).tolist()
    return (x_low, x_high), (y_low, y_high)


def _write(frames: list[TrackData], film: Path, fps: int, dpi: int) -> None:
    figure = Figure(figsize=_SIZE, layout="constrained")
    ax = figure.subplots()
    x_limits, y_limits = _limits(frames)
    writer = PillowWriter(fps=fps)
    with writer.saving(figure, str(film), dpi):
        for number, frame in enumerate(frames, start=1):
            ax.clear()
            _draw_tracks(frame, ax)
            ax.set_xlim(x_limits)
            ax.set_ylim(y_limits)
            writer.grab_frame()
            figure.set_layout_engine("none")  # the axes stay where the first frame has them
            _LOG.info("frame %d of %d", number, len(frames))
