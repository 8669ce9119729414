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
# Words of the names of the topics that are shown; their order in a name does not count.
SHOWN = ({"iraq"}, {"sars"}, {"world", "cup"}, {"water", "rain"}, {"baghdad"})


def find_topic(names: pd.Series, words: set[str]) -> int:
    """Return the topic whose name begins with these words, in any order; the largest of several."""
    for k, name in names.items():
        if set(name.split(", ")[: len(words)]) == words:
            return int(str(k))
    raise ValueError(f"no topic is named by {sorted(words)}; topics: {'; '.join(names.head(30))}")


def shares(found: Any, news: pd.DataFrame) -> None:
    """Draw how many headlines some topics have in each week."""
    weeks = news["when"].dt.to_period("W").dt.start_time
    counts = pd.crosstab(weeks, found.labels).iloc[:-1]  # the last week has one day
    names = found.topics.set_index("cluster_id")["name"]
    figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
    shown = [find_topic(names, words) for words in SHOWN]
    for k, color in zip(shown, COLORS, strict=True):
        ax.plot(counts.index, counts[k], color=color, linewidth=2)
    # Names stand beside the last week, apart from the lines and from each other.
    gap = 0.06 * float(counts[shown].to_numpy().max())
    height = -gap
    for k, color in sorted(
        zip(shown, COLORS, strict=True), key=lambda pair: counts[pair[0]].iloc[-1]
    ):
        last = float(counts[k].iloc[-1])
        height = max(last, height + gap)
        ax.annotate(
            names[k],
            (counts.index[-1], last),
            (counts.index[-1] + pd.Timedelta(days=3), height),
            color=color,
            va="center",
            annotation_clip=False,
        )
    ax.set_xlim(counts.index[0], counts.index[-1])
    ax.set_ylabel("headlines in a week")
    ax.set_ylim(0)
    ax.xaxis.set_major_formatter(DateFormatter("%d %b"))
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "text-weeks.png", dpi=110)


def words(found: Any) -> None:
    """Draw the words that are new in a few topics, week by week."""
    told = found.words_per_window
    names = found.topics.set_index("cluster_id")["name"]
    shown = [find_topic(names, words) for words in SHOWN[:3]]
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
