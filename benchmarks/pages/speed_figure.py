"""Draw docs/images/speed.png from benchmarks/results, without measuring anything.

Run as ``python -m benchmarks.pages.speed_figure`` after the benchmarks.
"""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pages.results import read

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "speed.png"
# Colors that the color-blind tell apart (Okabe and Ito).
GRAY, ORANGE, BLUE, GREEN, PURPLE = "#8c8c8c", "#e69f00", "#0072b2", "#009e73", "#cc79a7"
CASES = "ABCDE"


def ratios(engine: dict[str, Any]) -> dict[str, list[float]]:
    """Time per pass over one call of scikit-learn, by series, one value for each case."""
    cases = {r["name"]: r for r in engine["figures"]["cases"]}
    apart = [cases.get(f"{c} apart", {}) for c in CASES]
    plain = [
        few.get("plain_ratio", cases[c].get("plain_ratio"))
        for c, few in zip(CASES, apart, strict=True)
    ]
    return {
        "authors' C++, as recorded": [engine["to_reach"]["authors"][c] for c in CASES],
        "plain: every point with every cluster": plain,
        "accelerated, centers apart (2 passes a step)": [r.get("ratio", np.nan) for r in apart],
        "accelerated": [cases[c]["ratio"] for c in CASES],
    }


def draw_cases(ax: Axes, engine: dict[str, Any]) -> None:
    """Bars: authors, plain, accelerated; a line where the figure to reach is."""
    width = 0.2
    for i, (label, values) in enumerate(ratios(engine).items()):
        places = np.arange(len(CASES)) + (i - 1.5) * width
        bars = ax.bar(places, values, width, label=label, color=(GRAY, ORANGE, GREEN, BLUE)[i])
        names = ["" if np.isnan(y) else f"{y:.2g}".removeprefix("0") for y in values]
        white = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        ax.bar_label(bars, names, padding=3, fontsize=8, bbox=white, zorder=4)
    goals = [engine["to_reach"]["ratio"][c] for c in CASES]
    ax.hlines(goals, np.arange(5) - 0.45, np.arange(5) + 0.45, "black", linewidth=1.5, zorder=3)
    ax.plot([], [], "black", linewidth=1.5, label="to reach")
    ax.axhline(1, color="black", linewidth=0.6, linestyle=":")
    cases = {r["name"]: r for r in engine["figures"]["cases"]}
    shapes = [(c, cases[c]) for c in CASES]
    names = [
        f"{c}\nN = {r['n_points']:,}\nK = {r['n_found']:,}\nd = {r['n_features']}"
        for c, r in shapes
    ]
    ax.set_xticks(np.arange(len(CASES)), names, fontsize=9)
    ax.set_yscale("log")
    ax.set_ylim(0.0003, 60)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_ylabel("one pass / one nearest-center call of scikit-learn")
    ax.set_title("One thread; lower is faster", loc="left")
    ax.legend(fontsize=8, frameon=False, loc="upper left", ncols=2)


def draw_clusters(ax: Axes, sweep: dict[str, Any]) -> None:
    """Lines: time of a pass against the number of clusters."""
    colors = {(2, "uniform"): BLUE, (2, "apart"): GREEN, (3, "uniform"): PURPLE}
    points = [r for r in sweep["points"] if r["sweep"] == "K"]
    for d, layout in dict.fromkeys((r["n_features"], r["layout"]) for r in points):
        color = colors.get((d, layout), ORANGE)
        line = [r for r in points if (r["n_features"], r["layout"]) == (d, layout)]
        k = [r["n_found"] for r in line]
        name = f"d = {d}, centers apart" if layout == "apart" else f"d = {d}"
        ax.plot(k, [r["ms_per_pass"] for r in line], "o-", color=color, label=name, markersize=4)
        if layout == "uniform":
            ax.plot(k, [r["sklearn_ms"] for r in line], "--", color=color, linewidth=1)
    ax.plot([], [], "k--", linewidth=1, label="scikit-learn, same color")
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,g}")
    ax.set_xlabel("clusters found")
    ax.set_ylabel("milliseconds")
    ax.set_title("One pass over a million points, one thread", loc="left")
    ax.legend(fontsize=8, frameon=False)


def main() -> None:
    """Draw both halves."""
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    draw_cases(left, read("engine/engine"))
    draw_clusters(right, read("engine/sweep"))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.25)
        ax.set_axisbelow(True)
    figure.savefig(PICTURE, dpi=120)
    print(f"written: {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
