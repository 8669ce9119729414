"""ReportView: a report in a notebook, whose selection Python reads and sets."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import IntArray

_WAY_OUT = "Install dynmeans[notebook] for a page that is connected to Python."


class Selection(NamedTuple):
    """What is chosen on a page."""

    cluster_ids: list[int]
    rows: IntArray  # Numbers of rows of the input, from 0


class ReportView:
    """A report that a notebook shows; made by `ClusterResult.show`.

    Parameters
    ----------
    widget : PageWidget or None
        What is connected to the page; None where anywidget is not installed.
    numbers : array of int
        The row of the input of each point that the page draws.
    rows_of : callable
        From IDs of subclusters to the numbers of all their rows.
    """

    def __init__(
        self, widget: Any, numbers: IntArray, rows_of: Callable[[list[int]], IntArray]
    ) -> None:
        self.widget = widget
        self._numbers, self._rows_of = numbers, rows_of

    @property
    def selected(self) -> Selection:
        """Return the chosen clusters, and their rows.

        Where rows are selected by a box or filtered, these are the rows among those drawn.
        """
        chosen = self._require_widget().selection
        ids = [int(k) for k in chosen.get("clusters") or ()]
        at = chosen.get("rows")
        if at is None:
            members = [int(k) for k in chosen.get("members") or ids]
            return Selection(ids, self._rows_of(members))
        return Selection(ids, np.sort(self._numbers[np.asarray(at, dtype=np.int64)]))

    def select(self, *cluster_ids: int, step: int | None = None) -> None:
        """Choose clusters on the page, which moves to them; without any, nothing is chosen.

        `step` is the window to show, by default the one shown, or the last that has them.
        """
        widget = self._require_widget()
        n = widget.wish.get("n", 0) + 1  # The same wish twice is two wishes
        widget.wish = {"clusters": [int(k) for k in cluster_ids], "step": step, "n": n}

    def _require_widget(self) -> Any:
        if self.widget is None:
            raise InputError("", "the page is not connected to Python", hint=_WAY_OUT)
        return self.widget

    def __repr__(self) -> str:
        """Return the selection as text."""
        if self.widget is None:
            return "ReportView()"
        ids, rows = self.selected
        return f"ReportView(cluster_ids={ids}, n_rows={len(rows)})"
