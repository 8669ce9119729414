"""Tables of the two pages on the experiments; the full tables are in paper/results."""

from collections.abc import Callable

import pandas as pd

from dynmeans.datasets.moving_gaussians import NOISES
from paper.aircraft.config import ORIGINS as PARAMETERS
from paper.aircraft.config import SCALED, WEEK, WHOLE
from paper.aircraft.table import full_name as name_of_method
from paper.pages.tables import config_of, markdown, settings, synthetic, table_1
from paper.synthetic.claims import ORIGINS, full_name, with_error
from paper.synthetic.summary import by_clusters, trials_of
from paper.synthetic.tasks import HANDICAP, HONEST

_SPANS = {WEEK: "week", WHOLE: "month"}


def tracking() -> str:
    """Tracking accuracy with the clusters of the search: a row for each method."""
    cells: dict[str, list[str]] = {}
    head = ["method"]
    for origin, name in ORIGINS.items():
        for noise in NOISES:
            head.append(f"{name.removeprefix('the ')}, {noise}")
            for method, setting in settings(noise, origin).items():
                for choice in (HONEST, HANDICAP):
                    trials = trials_of(synthetic(noise).frame, method, setting, choice)
                    trials = trials[trials["n_clusters"] == config_of(noise).search_clusters]
                    found = by_clusters(trials, method, "accuracy_frozen")
                    if len(found.x):
                        shown = with_error(found.mean[0], found.error[0])
                        cells.setdefault(full_name(method, choice), []).append(shown)
    return markdown(head, [[method, *shown] for method, shown in cells.items()])


def two_hours() -> str:
    """Accuracy of the real flights in two-hour windows, DP-Means in one batch, scaled feature."""
    table = table_1("real")
    table = table[(table["feature"] == SCALED) & table["hours"].isin([0.0, 2.0])]
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for row in table.itertuples():
        shown = with_error(row.accuracy, row.accuracy_error)
        cells.setdefault(name_of_method(row.method, row.choice), {})[row.span, row.origin] = shown
    columns = pd.MultiIndex.from_product([list(_SPANS), list(PARAMETERS)])
    head = ["method", *(f"{_SPANS[span]}, {origin}, %" for span, origin in columns)]
    return markdown(head, [[m, *(found[c] for c in columns)] for m, found in cells.items()])


_MAKERS: dict[str, Callable[[], str]] = {
    "tracking accuracy, five clusters": tracking,
    "real flights, two hours": two_hours,
}


def tables() -> dict[str, str]:
    """Return every table by its name."""
    return {name: make() for name, make in _MAKERS.items()}
