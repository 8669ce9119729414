"""Embeddings and sparse rows by defaults, beside k-means with the true number: NMI and seconds.

Run as ``python -m benchmarks.compare.embeddings [FOLDER]`` with the folder of real_streams and text
for the given sets; without it, only generated embeddings are run. Every method runs in this one
process, one after the other. Writes benchmarks/results/compare/embeddings.json.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import vstack
from sklearn.cluster import HDBSCAN, KMeans, MiniBatchKMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

import dynmeans
from benchmarks.machine import machine, write_results

SEEDS = range(3)
_BASE: dict[str, Any] = {"n_rows": 3_000, "n_features": 384, "n_clusters": 40, "cosine": 0.6}
KINDS: dict[str, dict[str, Any]] = {
    "384 features, 40 clusters, cosine 0.6": {},
    "64 features": {"n_features": 64},
    "3 clusters": {"n_clusters": 3},
    "300 clusters": {"n_clusters": 300},
    "cosine 0.9": {"cosine": 0.9},
    "cosine 0.4": {"cosine": 0.4},
    "a common direction": {"common": 3.0},
    "sizes as 1 / rank": {"zipf": 1.0},
    "clusters in groups of 5": {"shared": 0.5},
    "few strong axes": {"decay": 0.5},
    "all of these": {"common": 2.0, "zipf": 1.0, "shared": 0.3, "decay": 0.4},
    "one cluster only": {"n_clusters": 1},
}
SPEED = {"n_rows": 10_000, "n_clusters": 300, "cosine": 0.5**0.5}
Windows = list[Any]
Method = Callable[[Windows, int, int], tuple[Any, int]]


def embeddings(*, seed: int, **kind: Any) -> tuple[Any, Any]:
    """Make rows and the cluster of each.

    `cosine` is that of a row with its center, `common` the length of a vector that all rows have,
    `shared` the part of the square of a center that five clusters have in common, and axis i has
    the standard deviation i^-decay.
    """
    given = {"common": 0.0, "zipf": 0.0, "shared": 0.0, "decay": 0.0, **kind}
    n_rows, n_features, n_clusters = (given[f"n_{one}"] for one in ("rows", "features", "clusters"))
    common, zipf, shared, decay = (given[one] for one in ("common", "zipf", "shared", "decay"))
    cosine, rng = given["cosine"], np.random.default_rng(seed)
    spread = np.arange(1, n_features + 1.0) ** -decay
    spread /= np.sqrt((spread**2).sum())

    def draw(n: int) -> Any:
        return rng.normal(size=(n, n_features)) * spread

    groups = np.repeat(draw(-(-n_clusters // 5)), 5, axis=0)[:n_clusters]
    centers = np.sqrt(1 - shared) * draw(n_clusters) + np.sqrt(shared) * groups
    sizes = np.arange(1, n_clusters + 1.0) ** -zipf
    truth = rng.choice(n_clusters, n_rows, p=sizes / sizes.sum())
    rows = cosine * centers[truth] + np.sqrt(1 - cosine**2) * draw(n_rows)
    direction = rng.normal(size=n_features) / np.sqrt(n_features)
    return (rows + common * direction).astype(np.float32), truth


def ours(windows: Windows, n_clusters: int, seed: int) -> tuple[Any, int]:
    """Cluster with nothing given but the windows; also count the warnings."""
    sizes = [part.shape[0] for part in windows]
    frame = pd.DataFrame({"part": np.repeat(np.arange(len(windows)), sizes)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = dynmeans.cluster(
            frame, features=_stack(windows), window_column="part", random_state=seed
        )
    return found.labels.to_numpy(), sum("penalties" in str(one.message) for one in caught)


def estimator(windows: Windows, n_clusters: int, seed: int) -> tuple[Any, int]:
    """Use the estimator on dense or sparse batches, with the space given."""
    model = dynmeans.DynamicMeans(
        space="cosine:centered", search="paper", n_init=1, random_state=seed
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = [model.partial_fit(part).labels_ for part in windows]
    return np.concatenate(labels), len(caught)


def k_means(windows: Windows, n_clusters: int, seed: int) -> tuple[Any, int]:
    """Run k-means with the true number of clusters; sparse rows by SVD to 100 features."""
    return KMeans(n_clusters, random_state=seed).fit_predict(_dense(windows)), 0


def mini_batch(windows: Windows, n_clusters: int, seed: int) -> tuple[Any, int]:
    """Run MiniBatchKMeans with the true number of clusters and all rows at once."""
    return MiniBatchKMeans(n_clusters, random_state=seed).fit_predict(_dense(windows)), 0


def hdbscan(windows: Windows, n_clusters: int, seed: int) -> tuple[Any, int]:
    """Run HDBSCAN on unit rows with its defaults; each outlier is by itself."""
    labels = HDBSCAN(copy=True).fit_predict(_dense(windows))
    is_out = labels < 0
    labels[is_out] = labels.max() + 1 + np.arange(is_out.sum())
    return labels, 0


METHODS: dict[str, Method] = {
    "dynmeans.cluster": ours,
    "DynamicMeans": estimator,
    "KMeans, K given": k_means,
    "MiniBatchKMeans, K given": mini_batch,
    "HDBSCAN": hdbscan,
}


def _stack(windows: Windows) -> Any:
    if hasattr(windows[0], "tocsr"):
        return vstack(windows).tocsr()
    return np.concatenate(windows)


def _dense(windows: Windows) -> Any:
    rows = _stack(windows)
    if hasattr(rows, "tocsr"):
        rows = TruncatedSVD(100, random_state=0).fit_transform(rows)
    return normalize(rows)


def given(folder: Path) -> Iterator[tuple[str, Windows, Any]]:
    """Yield the given sets: labeled streams of SVD vectors, and the sparse rows of News-T."""
    for name in ("tweets", "reuters"):
        kept = np.load(folder / "real_streams" / f"{name}.npz")
        yield f"{name}, SVD", np.split(kept["X"], np.cumsum(kept["sizes"])[:-1]), kept["y"]
    news = pd.read_parquet(folder / "text" / "news_t.parquet")
    news = news.sort_values("part", kind="stable", ignore_index=True)
    weights = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(news["text"])
    has_word = np.diff(weights.indptr) > 0
    news, weights = news[has_word].reset_index(drop=True), weights[has_word]
    vectors = TruncatedSVD(100, random_state=0).fit_transform(weights).astype(np.float32)
    for kind, rows in (("SVD 100", vectors), ("TF-IDF, sparse", weights)):
        parts = [rows[np.flatnonzero(news["part"] == part)] for part in news["part"].unique()]
        yield f"News-T, {kind}", parts, news["topic"].to_numpy()


def score(kind: str, windows: Windows, truth: Any, seed: int, names: Any) -> Iterator[Any]:
    """Run the methods one after the other."""
    for name in names:
        begin = time.process_time()
        labels, n_doubts = METHODS[name](windows, len(np.unique(truth)), seed)
        row = {
            "kind": kind,
            "how": name,
            "seed": seed,
            "nmi": float(normalized_mutual_info_score(truth, labels)),
            "n_clusters": len(np.unique(labels)),
            "n_true": len(np.unique(truth)),
            "n_warnings": n_doubts,
            "cpu_seconds": time.process_time() - begin,
        }
        print(row, flush=True)
        yield row


def main() -> None:
    """Run generated embeddings, the speed case in one and ten windows, and the given sets."""
    rows: list[Any] = []
    quick = [name for name in METHODS if name != "HDBSCAN"]  # which is slow: one seed
    for kind, options in KINDS.items():
        for seed in SEEDS:
            points, truth = embeddings(**(_BASE | options), seed=seed)
            names = METHODS if seed == 0 else quick
            rows += score(kind, np.array_split(points, 6), truth, seed, names)
    for n_windows in (1, 10):
        kind = f"10,000 x 384, 300 clusters, {n_windows} windows"
        for seed in SEEDS:
            points, truth = embeddings(**(_BASE | SPEED), seed=seed)
            rows += score(kind, np.array_split(points, n_windows), truth, seed, quick)
    if len(sys.argv) > 1:
        for kind, windows, truth in given(Path(sys.argv[1])):
            rows += score(kind, windows, truth, 0, quick)
    write_results("compare/embeddings", {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
