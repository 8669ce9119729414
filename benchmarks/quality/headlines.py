"""Twelve topics in 20,000 headlines: found by `cluster(text=...)` and by embeddings, by defaults.

Run as ``python -m benchmarks.quality.headlines``. Writes benchmarks/results/quality/headlines.json.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

import dynmeans
from benchmarks.machine import machine, write_results

STOP_WORDS = (
    "the",
    "of",
    "to",
    "in",
    "and",
    "on",
    "for",
    "with",
    "after",
    "at",
    "is",
    "from",
    "new",
)
SEEDS = range(5)


def headlines(
    n_rows: int = 20_000, n_topics: int = 12, n_weeks: int = 52, seed: int = 0
) -> tuple[pd.DataFrame, dict[int, list[str]]]:
    """Make headlines of 7 to 11 words, seven of ten of their topic; also the words of each topic.

    Shares of topics drift from week to week; two in three leave for some weeks and return, and
    three are born late.
    """
    rng = np.random.default_rng(seed)
    syllables = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]
    made = ("".join(rng.choice(syllables, rng.integers(2, 4))) for _ in range(5_000))
    words = list(dict.fromkeys(made))
    topics = {k: words[30 * k : 30 * k + 30] for k in range(n_topics)}
    common = words[30 * n_topics : 30 * n_topics + 60]
    here = np.ones((n_weeks, n_topics), bool)
    for k in range(n_topics // 3, n_topics):
        first = rng.integers(n_weeks // 5, n_weeks - 8)
        here[first : first + rng.integers(2, 5), k] = False
    for k in range(n_topics - 3, n_topics):
        here[: rng.integers(2, max(3, n_weeks // 6)), k] = False
    drift = np.cumsum(rng.normal(0, 0.25, (n_weeks, n_topics)), axis=0)
    shares = np.exp(drift - drift.mean(axis=1, keepdims=True)) * here
    weeks = np.sort(rng.integers(n_weeks, size=n_rows))
    rows = []
    for week in weeks.tolist():
        k = int(rng.choice(n_topics, p=shares[week] / shares[week].sum()))
        kinds = rng.random(rng.integers(7, 12))
        pools = [topics[k] if u < 0.7 else STOP_WORDS if u < 0.85 else common for u in kinds]
        text = " ".join(pool[int(len(pool) * rng.random() ** 2)] for pool in pools)
        minutes = int(rng.integers(7 * 24 * 60))
        when = pd.Timestamp("2020-01-06") + pd.Timedelta(weeks=week, minutes=minutes)
        rows.append((when, k, text))
    frame = pd.DataFrame(rows, columns=["when", "topic", "headline"])
    return frame.sort_values("when", ignore_index=True, kind="stable"), topics


def n_kept(topics: pd.Series, labels: pd.Series) -> int:
    """Count topics of which nineteen rows in twenty have one number that is nobody else's."""
    counts = pd.crosstab(topics, labels)
    best = counts.idxmax(axis=1)
    is_kept = counts.max(axis=1) >= 0.95 * counts.sum(axis=1)
    return int((is_kept & ~best.duplicated(keep=False)).sum())


def main() -> None:
    """Cluster by text, by vectors of 20 and of 100 features, and by k-means that is told twelve."""
    warnings.simplefilter("ignore")
    rows = []
    for seed in SEEDS:
        frame, _ = headlines(seed=seed)
        options = {"time": "when", "every": "1w"}
        found = {"text": dynmeans.cluster(frame, text="headline", **options).labels}
        weights = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(frame["headline"])
        for n in (20, 100):
            vectors = TruncatedSVD(n, random_state=0).fit_transform(weights)
            done = dynmeans.cluster(frame, features=vectors, **options)
            found[f"vectors of {n}"] = done.labels
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found["k-means told 12"] = pd.Series(KMeans(12, random_state=0).fit_predict(unit))
        for how, labels in found.items():
            rand = adjusted_rand_score(frame["topic"], labels)
            row = {"seed": seed, "how": how, "adjusted_rand": rand}
            row |= {"n_kept": n_kept(frame["topic"], labels), "n_clusters": labels.nunique()}
            rows.append(row)
            print(row, flush=True)
    write_results("quality/headlines", {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
