"""Texts over time by one call: News-T and ABC headlines, several seeds.

Run as ``python -m benchmarks.quality.texts FOLDER`` with the folder of news_t.parquet and
abc_headlines.parquet. Writes benchmarks/results/quality/texts.json.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import normalized_mutual_info_score

import dynmeans
from benchmarks.machine import machine, write_results
from dynmeans.metrics import accuracy_global
from dynmeans.words.stop_words import ENGLISH

SEEDS = range(4)
PROBES = ("sars", "iraq", "world cup", "police", "fire")
N_LARGEST = 12


def news(frame: pd.DataFrame, seed: int, **windows: Any) -> dict[str, float]:
    """Score the labels of News-T against its topics: NMI with the geometric mean, accuracy."""
    found = dynmeans.cluster(frame, text="text", random_state=seed, **windows)
    labels = found.labels.to_numpy()
    nmi = normalized_mutual_info_score(frame["topic"], labels, average_method="geometric")
    topics = pd.factorize(frame["topic"])[0]
    return {
        "nmi": float(nmi),
        "accuracy": float(accuracy_global([topics], [labels])),
        "n_clusters": len(found.clusters),
    }


def headlines(frame: pd.DataFrame, seed: int, **options: Any) -> dict[str, Any]:
    """Say which share of the headlines with a word lies in one topic, and name the largest."""
    begin = time.process_time()
    found = dynmeans.cluster(
        frame, text="headline", time="when", every="1w", random_state=seed, **options
    )
    topics, seconds = found.topics, time.process_time() - begin
    labels, shares = found.labels, {}
    for word in PROBES:
        has = frame["headline"].str.contains(rf"\b{word}\b")
        shares[word] = float(labels[has].value_counts(normalize=True).iloc[0])
    names = topics["name"][topics["cluster_id"] >= 0].head(20).tolist()
    is_stop = [set(name.split(", ")) <= ENGLISH for name in names[:N_LARGEST]]
    return {
        "shares": shares,
        "mean_share": float(np.mean([shares[word] for word in PROBES[:4]])),
        "n_clusters": int(labels.nunique()),
        "n_stop_words": sum(is_stop),
        "names": names,
        "cpu_seconds": seconds,
    }


def main() -> None:
    """Score both sets and write the results."""
    folder = Path(sys.argv[1])
    news_t = pd.read_parquet(folder / "news_t.parquet")
    abc = pd.read_parquet(folder / "abc_headlines.parquet")
    results: dict[str, Any] = {"machine": machine()}
    for name, make in {
        "news, 12 h": lambda seed: news(news_t, seed, time="when", every="12h"),
        "news, 16 parts": lambda seed: news(news_t, seed, window_column="part"),
        "headlines": lambda seed: headlines(abc, seed),
        "headlines, 20 topics": lambda seed: headlines(abc, seed, n_clusters=20),
    }.items():
        results[name] = [make(seed) for seed in SEEDS]
        for found in results[name]:
            print(name, {k: v for k, v in found.items() if k != "names"}, flush=True)
    write_results("quality/texts", results)


if __name__ == "__main__":
    main()
