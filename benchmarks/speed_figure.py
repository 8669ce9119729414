"""Draw docs/images/speed.png from benchmarks/results, without measuring anything.

Run as ``python benchmarks/speed_figure.py`` after the benchmarks.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PICTURE = ROOT / "docs" / "images" / "speed.png"
# Colours that the colour-blind tell apart (Okabe and Ito).
GREY, ORANGE, BLUE, GREEN, PURPLE = "#8c8c8c", "#e69f00", "#0072b2", "#009e73", "#cc79a7"
CASES = "ABCDE"


def read(name: str) -> dict[str, Any]:
    """Read one file of results."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def ratios(engine: dict[str, Any]) -> dict[str, list[float]]:
    """Time per pass over one call of scikit-learn, by series, one value for each case."""
    cases = {r["name"]: r for r in engine["figures"]["cases"]}

    def get(name: str, key: str, suffix: str = "") -> float:
        return cases.get(name + suffix, cases[name]).get(key, np.nan)

    return {
        "authors' C++ (on their data)": [engine["to_reach"]["authors"][c] for c in CASES],
        "every point compared with every cluster": [get(c, "plain_ratio", " apart") for c in CASES],
        "accelerated, few passes": [get(c, "ratio", " apart") for c in CASES],
        "accelerated, all passes": [get(c, "ratio") for c in CASES],
    }


def draw_cases(ax: Axes, engine: dict[str, Any]) -> None:
    """Bars: authors, plain, accelerated; a tick where the figure to reach is."""
    series = ratios(engine)
    width = 0.2
    for i, (label, values) in enumerate(series.items()):
        places = np.arange(len(CASES)) + (i - 1.5) * width
        ax.bar(places, values, width, label=label, color=(GREY, ORANGE, GREEN, BLUE)[i])
        for x, y in zip(places, values, strict=True):
            ax.annotate(
                f"{y:.2g}".lstrip("0"), (x, y), (0, 2), textcoords="offset points", ha="center",
                fontsize=7,
            )  # fmt: skip
    goals = [engine["to_reach"]["ratio"][c] for c in CASES]
    ax.hlines(goals, np.arange(5) - 0.45, np.arange(5) + 0.45, "black", linewidth=1.2)
    ax.plot([], [], "black", linewidth=1.2, label="to reach")
    ax.axhline(1, color="black", linewidth=0.6, linestyle=":")
    cases = {r["name"]: r for r in engine["figures"]["cases"]}
    names = [
        f"{c}\nN = {cases[c]['n_points']:,}\nK = {cases[c]['n_found']:,}\n"
        f"d = {cases[c]['n_features']}"
        for c in CASES
    ]
    ax.set_xticks(np.arange(len(CASES)), names)
    ax.set_yscale("log")
    ax.set_ylim(0.003, 30)
    ax.set_ylabel("one pass / one nearest-center call of scikit-learn")
    ax.set_title("One thread; lower is faster", loc="left")
    ax.legend(fontsize=8, frameon=False, ncols=2, loc="upper left")


def draw_clusters(ax: Axes, sweep: dict[str, Any]) -> None:
    """Lines: time of a pass against the number of clusters."""
    colors = {(2, "uniform"): BLUE, (2, "apart"): GREEN, (3, "uniform"): PURPLE}
    points = [r for r in sweep["points"] if r["sweep"] == "K"]
    for d, layout in dict.fromkeys((r["n_features"], r["layout"]) for r in points):
        color = colors.get((d, layout), ORANGE)
        line = [r for r in points if (r["n_features"], r["layout"]) == (d, layout)]
        k = [r["n_found"] for r in line]
        name = f"d = {d}, few passes" if layout == "apart" else f"d = {d}"
        ax.plot(k, [r["ms_per_pass"] for r in line], "o-", color=color, label=name, markersize=4)
        if layout == "uniform":
            ax.plot(k, [r["sklearn_ms"] for r in line], "--", color=color, linewidth=1)
    ax.plot([], [], "k--", linewidth=1, label="scikit-learn, same colour")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("clusters found")
    ax.set_ylabel("milliseconds")
    ax.set_title("One pass over a million points, one thread", loc="left")
    ax.legend(fontsize=8, frameon=False)


def main() -> None:
    """Draw both halves."""
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    draw_cases(left, read("engine"))
    draw_clusters(right, read("sweep"))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.25)
        ax.set_axisbelow(True)
    figure.savefig(PICTURE, dpi=120)
    print(f"written: {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
