"""The six figures of the synthetic experiment, from its results file alone."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from dynmeans.experiments.results_file import Results
from dynmeans.experiments.synthetic_claims import CHOICES, NAMES, ORIGINS, speed_claims
from dynmeans.experiments.synthetic_config import PAPER_PENALTIES, Setting, SyntheticConfig
from dynmeans.experiments.synthetic_summary import (
    TIMES_FASTER,
    Averages,
    by_clusters,
    by_effort,
    describe_setting,
    search_means,
    settings_of,
    trials_of,
)
from dynmeans.experiments.synthetic_tasks import HANDICAP, HANDICAP_PER_STEP, HONEST, SEARCH
from dynmeans.plots.score_map import plot_score_map
from dynmeans.plots.series import Series, draw_histogram, draw_series, new_figure, save_figure
from dynmeans.records.penalties import Penalties

TRACKING, PER_STEP = "accuracy_global", "accuracy_per_step"

# Of Okabe and Ito, different in lightness too; the markers differ as well.
_LOOKS = {
    "dynamic_means": ("#0072B2", "o"),
    "gibbs": ("#D55E00", "s"),
    "variational": ("#009E73", "^"),
    "particle": ("#AA4499", "D"),
}
_LINES = {HONEST: "-", HANDICAP: "--", HANDICAP_PER_STEP: "--"}
_SIZE, _PANEL_SIZE = (15.0, 15.5), (5.2, 4.6)


@dataclass(frozen=True, slots=True, eq=False)
class _Page:
    """What every panel draws from."""

    frame: pd.DataFrame
    config: SyntheticConfig
    score: str

    def settings(self, origin: str) -> dict[str, Setting]:
        return settings_of(self.frame, origin)


Panel = Callable[[_Page, Any], None]


def draw_figures(
    results: Results, folder: str | os.PathLike[str], *, score: str = TRACKING
) -> list[Path]:
    """Write every panel by itself and all on one page, as PNG and SVG.

    Parameters
    ----------
    results : Results
        The rows and the configuration, as read from the file.
    folder : path-like
        Where to; made if absent.
    score : {"accuracy_global", "accuracy_frozen"}
        Accuracy with tracking: matched once for all time, or as the authors do.

    Returns
    -------
    list of Path
        The files written.
    """
    config = SyntheticConfig.from_dict(results.configuration)
    page = _Page(results.frame, config, score)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"synthetic-{config.noise}" + ("" if score == TRACKING else f"-{score}")
    figure, axes = new_figure(_SIZE, 3, 3)
    written = []
    for ax, (name, draw) in zip(axes, _panels(), strict=True):
        draw(page, ax)
        one, (alone,) = new_figure(_PANEL_SIZE, 1, 1)
        draw(page, alone)
        written += save_figure(one, folder / f"{stem}-{name}")
    figure.suptitle(_title(page), fontsize="x-large")
    figure.supxlabel(_caption(page), x=0.01, ha="left", fontsize="small")
    return [*save_figure(figure, folder / stem), *written]


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
    ax.set_title(f"({letter}) Tracking accuracy of Dynamic Means at the best {ax.get_title()}")


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
        for choice in (HONEST, HANDICAP):
            trials = trials_of(page.frame, method, setting, choice)
            if len(trials):
                name = NAMES[method]
                if method in ("gibbs", "particle"):
                    name += f", {CHOICES[choice]}"
                averages = by_clusters(trials, method, value)
                lines.append(_line(name, method, _LINES[choice], averages, scale=scale))
    return lines


def _line(
    name: str, method: str, line: str, averages: Averages, *, x: Any = None, scale: float = 1.0
) -> Series:
    return Series(
        name,
        averages.x if x is None else x,
        scale * averages.mean,
        scale * averages.deviation,
        *_LOOKS[method],
        line,
    )


def _draw_accuracy(page: _Page, ax: Any, *, origin: str) -> None:
    draw_series(ax, _compared(page, origin, page.score))
    _count_clusters(page, ax)
    ax.set_ylim(0, 1)
    ax.set_title(f"(d) Tracking accuracy at {ORIGINS[origin]}")
    ax.set_ylabel("tracking accuracy")


def _draw_speed(page: _Page, ax: Any, *, origin: str) -> None:
    draw_series(
        ax, _compared(page, origin, "cpu_s", 1e3 / page.config.n_steps), is_upper_half_only=True
    )
    _count_clusters(page, ax)
    ax.set_yscale("log")
    ax.set_title(f"(e) CPU time at {ORIGINS[origin]}")
    ax.set_ylabel("CPU time for each step, ms")


def _count_clusters(page: _Page, ax: Any) -> None:
    ax.set_xscale("log")
    ax.set_xticks(page.config.n_clusters, [str(k) for k in page.config.n_clusters])
    ax.minorticks_off()
    ax.set_xlabel("clusters")


def _draw_tradeoff(page: _Page, ax: Any, *, origin: str) -> None:
    config, lines = page.config, []
    for method, tracking_choice, step_choice, name in (
        ("dynamic_means", HONEST, HONEST, "Dynamic Means"),
        ("gibbs", HONEST, HONEST, "Gibbs"),
        ("gibbs", HANDICAP, HANDICAP_PER_STEP, "Gibbs, handicap"),
    ):
        for score, choice, tracks in (
            (page.score, tracking_choice, True),
            (PER_STEP, step_choice, False),
        ):
            trials = trials_of(page.frame, method, page.settings(origin)[method], choice)
            size = (config.search_clusters, config.tradeoff_trials)
            times = 1e3 / config.n_steps * by_effort(trials, *size, "cpu_s").mean
            color, marker = _LOOKS[method if choice == HONEST else "particle"]
            averages = by_effort(trials, *size, score)
            label = f"{name}{'' if tracks else ' NC'}"
            lines.append(
                Series(
                    label,
                    times,
                    averages.mean,
                    averages.deviation,
                    color,
                    marker,
                    "-" if tracks else ":",
                )
            )
    draw_series(ax, lines, n_columns=3)
    ax.set_xscale("log")
    ax.set_ylim(0, 1)
    ax.set_title(f"(f) Accuracy against time at {ORIGINS[origin]}")
    ax.set_xlabel(f"CPU time for each step, ms, {config.search_clusters} clusters")
    ax.set_ylabel("accuracy; NC: without tracking")


def _title(page: _Page) -> str:
    return f"Synthetic experiment, {page.config.noise} noise"


def _caption(page: _Page) -> str:
    """Say what the parameters are and where Dynamic Means is faster at no loss."""
    lines = []
    for origin, name in ORIGINS.items():
        settings = page.settings(origin)
        values = "; ".join(f"{NAMES[m]} {describe_setting(s)}" for m, s in settings.items())
        lines.append(f"{name.capitalize()}: {values}.")
        lines.append(
            f"Is Dynamic Means there at least {TIMES_FASTER:g} times faster at equal or better "
            "tracking accuracy (within two standard errors)? Against"
        )
        lines += [f"    {claim}" for claim in speed_claims(page.frame, origin)]
    lines.append("Bands: one standard deviation over streams; in (e) its upper half.")
    return "\n".join(lines)
