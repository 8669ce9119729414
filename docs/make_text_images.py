"""Pictures of the tutorial on headlines, from the first months of A Million News Headlines.

Run as ``python docs/make_text_images.py abc_headlines.parquet``, a file with the columns `when` and
`headline`, which is not in the repository.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.dates import DateFormatter

import dynmeans

IMAGES = Path(__file__).parent / "images"
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
SHOWN = ("iraq", "sars", "world, cup", "water, rain", "baghdad")


def shares(found: Any, news: pd.DataFrame) -> None:
    """Draw how many headlines some topics have in each week."""
    weeks = news["when"].dt.to_period("W").dt.start_time
    counts = pd.crosstab(weeks, found.labels).iloc[:-1]  # the last week has one day
    names = found.topics.set_index("cluster_id")["name"]
    figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
    for word, color in zip(SHOWN, COLORS, strict=True):
        k = next(k for k, name in names.items() if name.startswith(word))
        ax.plot(counts.index, counts[k], color=color, linewidth=2)
        top = counts[k].idxmax()
        ax.annotate(
            names[k],
            (top, counts.loc[top, k]),
            (0, 4),
            textcoords="offset points",
            color=color,
            ha="center",
        )
    ax.set_ylabel("headlines in a week")
    ax.set_ylim(0)
    ax.xaxis.set_major_formatter(DateFormatter("%d %b"))
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "text-weeks.png", dpi=110)


def words(found: Any) -> None:
    """Draw the words that are new in a few topics, week by week."""
    told = found.words_per_window
    names = found.topics.set_index("cluster_id")["name"]
    shown = [next(k for k, n in names.items() if n.startswith(w)) for w in SHOWN[:3]]
    windows = sorted(told["window"].unique())[:12]
    figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
    for column, k in enumerate(shown):
        own = told[told["cluster_id"] == k].set_index("window")["words"]
        ax.text(column, -1, names[k], weight="bold", color=COLORS[column], va="center")
        for row, window in enumerate(windows):
            ax.text(column, row, own.get(window, ""), fontsize=9, va="center")
    ax.set_yticks(np.arange(len(windows)), [f"{pd.Timestamp(w):%d %b}" for w in windows])
    ax.set(xlim=(-0.05, len(shown)), ylim=(len(windows) - 0.5, -1.6), xticks=[])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    figure.savefig(IMAGES / "text-words.png", dpi=110)


def main() -> None:
    """Cluster the headlines once, and draw both pictures."""
    news = pd.read_parquet(sys.argv[1])
    found = dynmeans.cluster(news, text="headline", time="when", every="1w")
    shares(found, news)
    words(found)


if __name__ == "__main__":
    main()
