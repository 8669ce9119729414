"""The six figures of the synthetic experiment, from its results file alone."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from dynmeans.plots.figures import new_figure
from dynmeans.records.penalties import Penalties
from paper.results_file import Results
from paper.series import Series, draw_histogram, draw_series, save_figure
from paper.synthetic.claims import NAMES, ORIGINS, full_name, speed_claims
from paper.synthetic.config import PAPER_PENALTIES, Setting, SyntheticConfig
from paper.synthetic.score_map import plot_score_map
from paper.synthetic.summary import (
    TIMES_FASTER,
    by_clusters,
    by_effort,
    describe_setting,
    search_means,
    settings_of,
    trials_of,
)
from paper.synthetic.tasks import (
    COMPARISON,
    HANDICAP,
    HANDICAP_PER_STEP,
    HONEST,
    PAPER,
    SEARCH,
)

PER_STEP = "accuracy_per_step"

# Of Okabe and Ito, different in lightness too; the markers differ as well.
_LOOKS = {
    "dynamic_means": ("#0072B2", "o"),
    "gibbs": ("#D55E00", "s"),
    "variational": ("#009E73", "^"),
    "particle": ("#AA4499", "D"),
    "gibbs, handicap": ("#332288", "v"),
}
_LINES = {HONEST: "-", HANDICAP: "--"}
# Name and look; method, and the choices of its sample with and without tracking.
_TRADED = {
    ("Dynamic Means", "dynamic_means"): ("dynamic_means", (HONEST, HONEST)),
    ("Gibbs", "gibbs"): ("gibbs", (HONEST, HONEST)),
    ("Gibbs, handicap", "gibbs, handicap"): ("gibbs", (HANDICAP, HANDICAP_PER_STEP)),
}
_SYMBOLS = {
    "new_penalty": "lambda",
    "max_gap": "T_Q",
    "reach": "k_tau",
    "concentration": "alpha",
    "survival": "q",
    "motion_variance": "xi",
}
_SIZE, _PANEL_SIZE = (15.0, 20.0), (5.2, 4.6)
_CAPTION_WIDTH = 235


@dataclass(frozen=True, slots=True, eq=False)
class _Page:
    """What every panel draws from."""

    frame: pd.DataFrame
    config: SyntheticConfig
    times: pd.DataFrame | None  # of all methods in turns, where they were taken so

    @property
    def score(self) -> str:
        return self.config.score

    def settings(self, origin: str) -> dict[str, Setting]:
        return settings_of(self.config, self.frame, origin)


Panel = Callable[[_Page, Any], None]


def draw_figures(
    results: Results, stem: str | os.PathLike[str], times: pd.DataFrame | None = None
) -> list[Path]:
    """Write all panels on one page, and each by itself, as PNG and SVG.

    Parameters
    ----------
    results : Results
        The rows and the configuration, as read from the file; of a run that is not finished,
        what there is of it.
    stem : path-like
        How the names of the figures begin.
    times : pandas.DataFrame, optional
        Times of all methods in turns in one process (`paper.studies.times`), for panel (e); by
        default those of the rows, whichever session they are of.

    Returns
    -------
    list of Path
        The files written.
    """
    if results.frame.empty or not (results.frame["part"] == COMPARISON).any():
        raise ValueError("the results must hold trials of the comparison; resume the run.")
    config = SyntheticConfig.from_dict(results.configuration)
    page, stem = _Page(results.frame, config, times), Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = new_figure(_SIZE, 4, 3)
    written = []
    for ax, (name, draw) in zip(axes, _panels(), strict=True):
        draw(page, ax)
        one, (alone,) = new_figure(_PANEL_SIZE, 1, 1)
        draw(page, alone)
        written += save_figure(one, f"{stem}-{name}")
    title = f"Synthetic experiment, {config.noise} noise, {config.search_by} accuracy"
    figure.suptitle(title, fontsize="x-large")
    figure.supxlabel(_caption(page), x=0.01, ha="left", fontsize="small")
    return [*save_figure(figure, stem), *written]


def _panels() -> Iterator[tuple[str, Panel]]:
    yield "a", partial(_draw_map, letter="a", y="max_gap")
    yield "b", partial(_draw_map, letter="b", y="reach")
    yield "c", _draw_times
    for origin in ORIGINS:
        for letter, draw in (("d", _draw_accuracy), ("e", _draw_speed), ("f", _draw_tradeoff)):
            yield f"{letter}-{origin}", partial(draw, origin=origin)


def _draw_map(page: _Page, ax: Any, *, letter: str, y: str) -> None:
    means = search_means(page.frame, page.score)
    marked = {"the paper's": Penalties(**PAPER_PENALTIES)}
    plot_score_map(means, "new_penalty", y, marked=marked, ax=ax)
    ax.set_title(f"({letter}) Tracking accuracy at the best {ax.get_title()}")


def _draw_times(page: _Page, ax: Any) -> None:
    frame = page.frame
    rows = frame[(frame["part"] == SEARCH) & (frame["method"] == "dynamic_means")]
    milliseconds = 1e3 * rows["cpu_s"].to_numpy() / page.config.n_steps
    draw_histogram(ax, milliseconds, _LOOKS["dynamic_means"][0], "ms")
    ax.set_title("(c) CPU time of Dynamic Means over the sweep")
    ax.set_xlabel("CPU time for each step, ms")
    ax.set_ylabel("trials")


def _compared(page: _Page, origin: str, value: str, scale: float = 1.0) -> list[Series]:
    """One line for each method and choice, against the number of clusters."""
    lines = []
    for method, setting in page.settings(origin).items():
        for choice, line in _LINES.items():
            trials = trials_of(page.frame, method, setting, choice)
            if len(trials):
                a = by_clusters(trials, method, value)
                name = full_name(method, choice)
                y, deviation = scale * a.mean, scale * a.deviation
                lines.append(Series(name, a.x, y, deviation, *_LOOKS[method], line))
    return lines


def _draw_accuracy(page: _Page, ax: Any, *, origin: str) -> None:
    draw_series(ax, _compared(page, origin, page.score))
    _count_clusters(page, ax)
    ax.set_ylim(0, 1)
    ax.set_title(f"(d) Tracking accuracy at\n{ORIGINS[origin]}")
    ax.set_ylabel("tracking accuracy")


def _draw_speed(page: _Page, ax: Any, *, origin: str) -> None:
    to_ms = 1e3 / page.config.n_steps
    lines = (
        _compared(page, origin, "cpu_s", to_ms)
        if page.times is None
        else _in_turns(page, origin, to_ms)
    )
    draw_series(ax, lines, is_upper_half_only=True)
    _count_clusters(page, ax)
    ax.set_yscale("log")
    ax.set_title(f"(e) CPU time at\n{ORIGINS[origin]}")
    ax.set_ylabel("CPU time for each step, ms")


def _in_turns(page: _Page, origin: str, scale: float) -> list[Series]:
    """One line for each method, of the streams that all of them clustered in turns."""
    times = page.times
    assert times is not None
    times = times[(times["noise"] == page.config.noise) & (times["origin"] == origin)]
    lines = []
    for method in page.settings(origin):
        found = scale * times.groupby("n_clusters")[method].agg(["mean", "std"]).fillna(0.0)
        x = found.index.to_numpy(dtype=np.float64)
        y, deviation = found["mean"].to_numpy(), found["std"].to_numpy()
        lines.append(Series(NAMES[method], x, y, deviation, *_LOOKS[method], "-"))
    return lines


def _count_clusters(page: _Page, ax: Any) -> None:
    ax.set_xscale("log")
    ax.set_xticks(page.config.n_clusters, [str(k) for k in page.config.n_clusters])
    ax.minorticks_off()
    ax.set_xlabel("clusters")


def _draw_tradeoff(page: _Page, ax: Any, *, origin: str) -> None:
    """With tracking as in (d); without (NC), the handicap too looks at each step by itself."""
    config, settings = page.config, page.settings(origin)
    lines = []
    for (name, look), (method, choices) in _TRADED.items():
        if method not in settings:
            continue
        for score, choice, line in zip((page.score, PER_STEP), choices, ("-", ":"), strict=True):
            trials = trials_of(page.frame, method, settings[method], choice)
            if not len(trials):
                continue
            times, scores = (
                by_effort(trials, config.search_clusters, config.tradeoff_trials, value)
                for value in ("cpu_s", score)
            )
            label = name if line == "-" else f"{name} NC"
            is_timed = np.isin(scores.x, times.x)
            y, deviation = scores.mean[is_timed], scores.deviation[is_timed]
            x = 1e3 / config.n_steps * times.mean
            lines.append(Series(label, x, y, deviation, *_LOOKS[look], line))
    draw_series(ax, lines, n_columns=3)
    ax.set_xscale("log")
    ax.set_ylim(0, 1)
    ax.set_title(f"(f) Accuracy by time at\n{ORIGINS[origin]}")
    ax.set_xlabel(f"CPU time for each step, ms, {config.search_clusters} clusters")
    ax.set_ylabel("accuracy (NC: without tracking)")


def _stream_counts(page: _Page) -> str:
    """Say how many streams each line of (d) rests on, by number of clusters, and of (e)."""
    parts = []
    for method, setting in page.settings(PAPER).items():
        counts = by_clusters(trials_of(page.frame, method, setting), method, page.score)
        numbers = [f"{n} at K = {k:g}" for k, n in zip(counts.x, counts.n, strict=True)]
        parts.append(f"{NAMES[method]} {', '.join(numbers)}")
    told = "; ".join(parts)
    if page.times is None:
        return told
    is_shown = (page.times["noise"] == page.config.noise) & (page.times["origin"] == PAPER)
    by_k = page.times[is_shown].groupby("n_clusters").size()
    timed = ", ".join(f"{n} at K = {k}" for k, n in by_k.items())
    return f"{told}. Times in (e), all methods in turns in one process: {timed}"


def _caption(page: _Page) -> str:
    """Say what the parameters are and where Dynamic Means is faster at no loss."""
    paragraphs = []
    for origin, name in ORIGINS.items():
        if not page.settings(origin):
            paragraphs.append(f"{name.capitalize()}: the search is not done.")
            continue
        values = "; ".join(
            f"{NAMES[method]} ({', '.join(_SYMBOLS[s] for s in setting)}) = "
            f"({describe_setting(setting)})"
            for method, setting in page.settings(origin).items()
        )
        lines = speed_claims(page.frame, page.settings(origin), page.score)
        claims = " ".join(f"— {claim}" for claim in lines)
        paragraphs.append(
            f"{name.capitalize()}: {values}. Is Dynamic Means at least {TIMES_FASTER:g} times "
            "faster there, at equal or better tracking accuracy (within two standard errors)? "
            f"{claims}"
        )
    paragraphs.append(f"Streams: {_stream_counts(page)}.")
    paragraphs.append("Bands: one standard deviation over streams; in (e) its upper half.")
    return "\n".join(fill(paragraph, _CAPTION_WIDTH) for paragraph in paragraphs)
