"""Figures of the page on the paper, from the committed results; ``make reproduce`` runs it."""

import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.plots.figures import new_figure
from paper.pages.study_tables import SYMBOLS, limit_means, robustness_means
from paper.pages.tables import read_rows, times
from paper.results_file import RESULTS
from paper.series import Series, draw_series, save_figure
from paper.synthetic.claims import NAMES as METHOD_NAMES
from paper.synthetic.experiment import write_figures

IMAGES = Path(__file__).parents[2] / "docs" / "images"
BUILD = Path(__file__).parents[2] / "build" / "reproduce"
# Of Okabe and Ito.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_MARKERS = "os^D"


def synthetic_figures() -> None:
    """Draw all panels of Figure 1 of both noises side by side, and put them among the images."""
    with ProcessPoolExecutor() as pool:
        list(pool.map(_synthetic_figures, NOISES))


def _synthetic_figures(noise: str) -> None:
    stem = f"synthetic-{noise}-full"
    write_figures(RESULTS / f"{stem}.parquet", BUILD, times())
    for ending in ("png", "svg"):
        shutil.copyfile(BUILD / f"{stem}.{ending}", IMAGES / f"synthetic-{noise}.{ending}")


def robustness_figure() -> None:
    """Draw tracking accuracy against the factor by which one parameter is wrong."""
    rows = robustness_means()
    panels = list(rows.groupby(["noise", "method"], sort=False))
    figure, axes = new_figure((15.0, 8.5), 2, len(panels) // 2)
    for ax, ((noise, method), group) in zip(axes, panels, strict=True):
        lines = []
        for (name, found), color, marker in zip(
            group.groupby("parameter", sort=False), _COLORS, _MARKERS, strict=False
        ):
            x, y, error = found[["factor", "accuracy", "error"]].to_numpy().T
            lines.append(Series(SYMBOLS[str(name)], x, y, error, color, marker))
        draw_series(ax, lines, n_columns=4)
        ax.set_xscale("log", base=2)
        factors = sorted(group["factor"].unique())
        ax.set_xticks(factors, [f"{factor:g}" for factor in factors])
        ax.set_ylim(0, 1)
        ax.set_xlabel("factor by which the parameter is wrong")
        ax.set_ylabel("tracking accuracy, 5 clusters")
        ax.set_title(f"{METHOD_NAMES[str(method)]}, {noise} noise")
    _save(figure, "robustness")


def vanishing_figure() -> None:
    """Draw tracking accuracy against T_Q, with and without absences."""
    rows = read_rows("vanishing").frame
    figure, axes = new_figure((11.0, 4.6), 1, len(NOISES))
    for ax, noise in zip(axes, NOISES, strict=True):
        lines = []
        for (vanish, group), color, marker in zip(
            rows[rows["noise"] == noise].groupby("vanish"), _COLORS, _MARKERS, strict=False
        ):
            found = group.groupby("max_gap")["accuracy_frozen"].agg(["mean", "sem"])
            x, y, error = found.reset_index().to_numpy().T
            name = "always seen" if vanish == 0 else f"absent in {100 * vanish:.0f} % of the steps"
            lines.append(Series(name, x, y, error, color, marker))
        draw_series(ax, lines)
        ax.set_xscale("log")
        ax.set_xticks(x, [f"{value:g}" for value in x])
        ax.set_xticks([], minor=True)
        ax.set_ylim(0, 1)
        ax.set_xlabel("T_Q")
        ax.set_ylabel("tracking accuracy, 5 clusters")
        ax.set_title(f"{noise} noise")
    _save(figure, "vanishing")


def low_variance_figure() -> None:
    """Draw the agreement of Gibbs sampling and Dynamic Means against sigma."""
    rows = limit_means()
    figure, (ax,) = new_figure((6.5, 4.6), 1, 1)
    x, y, error = rows[["noise_variance", "agreement", "error"]].to_numpy().T
    draw_series(ax, [Series("Gibbs sampling and Dynamic Means", x, y, error, _COLORS[0], "o")])
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("sigma")
    ax.set_ylabel("share of points with the same label")
    ax.set_title("Gibbs sampling becomes Dynamic Means")
    _save(figure, "low-variance-limit")


def _save(figure: object, name: str) -> None:
    save_figure(figure, BUILD / name)  # type: ignore[arg-type]
    shutil.copyfile(BUILD / f"{name}.png", IMAGES / f"{name}.png")


if __name__ == "__main__":
    BUILD.mkdir(parents=True, exist_ok=True)
    for draw in (
        *(synthetic_figures, robustness_figure),
        *(vanishing_figure, low_variance_figure),
    ):
        draw()
        print(f"drawn: {draw.__name__.removesuffix('_figures').removesuffix('_figure')}")
