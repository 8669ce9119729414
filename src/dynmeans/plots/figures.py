"""Figures that no one has to close, and that a notebook shows."""

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that a notebook displays, whether pyplot was loaded or not."""

    is_shown = False  # by the call that made it: the cell must not show it again

    def _repr_png_(self) -> bytes | None:
        if self.is_shown:
            self.is_shown = False
            return None
        data = io.BytesIO()
        self.savefig(data, format="png")
        return data.getvalue()


def new_figure(size: tuple[float, float], n_rows: int, n_columns: int) -> tuple[Figure, list[Axes]]:
    """Return a figure of `size` in inches and its axes, row by row."""
    figure = ShownFigure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    return figure, list(axes.ravel())
