"""The page as a widget of a notebook: needs anywidget, the extra `notebook`."""

from importlib.resources import files
from typing import Any

import anywidget
import traitlets


class PageWidget(anywidget.AnyWidget):
    """A page, what is chosen on it, and what Python wishes to be chosen."""

    _esm = files("dynmeans.report").joinpath("page", "notebook", "view.js").read_text("utf-8")
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(760).tag(sync=True)
    selection: Any = traitlets.Dict({"clusters": [], "rows": None}).tag(sync=True)
    wish: Any = traitlets.Dict({}).tag(sync=True)
