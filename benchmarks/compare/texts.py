"""News-T in the 16 parts of the MStream paper and in windows: NMI of clusterers of texts.

Run as ``python -m benchmarks.compare.texts FOLDER`` with the folder of news_t.parquet. NMI is that
of the paper, with the geometric mean. Peers have the vectors that one would make: TF-IDF and SVD
to 100 features, of all texts at once. BERTopic is given these vectors, so that it needs no model
from elsewhere; it is used if installed (``pip install --no-deps bertopic`` and ``pip install
umap-learn hdbscan plotly``). Writes benchmarks/results/compare/texts.json.
"""

import argparse
import importlib
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans, MiniBatchKMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

import dynmeans
from benchmarks.compare.rows import Row, Rows
from benchmarks.quality.real_peers import match_to_last
from dynmeans.records.arrays import FloatArray

SEEDS = range(4)


def make_vectors(texts: "pd.Series[str]") -> FloatArray:
    """Return unit vectors: TF-IDF of words that two texts have, and SVD to 100 features."""
    weights = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    return np.asarray(normalize(TruncatedSVD(100, random_state=0).fit_transform(weights)))


def ours(frame: pd.DataFrame, seed: int, **windows: Any) -> Any:
    """Cluster the texts, with nothing given but the windows."""
    return dynmeans.cluster(frame, text="text", random_state=seed, **windows).labels


def by_part(frame: pd.DataFrame, vectors: FloatArray, seed: int, *, is_matched: bool = True) -> Any:
    """Run KMeans on each part, with its true number of topics; match clusters or keep all apart."""
    parts = [np.flatnonzero(frame["part"] == part) for part in frame["part"].unique()]
    batches = [vectors[rows] for rows in parts]
    found = [
        KMeans(frame["topic"].iloc[rows].nunique(), random_state=seed)
        .fit_predict(vectors[rows])
        .astype(np.int64)
        for rows in parts
    ]
    if is_matched:
        found = match_to_last(batches, found)
    else:
        ends = np.cumsum([labels.max() + 1 for labels in found])
        found = [labels + end for labels, end in zip(found, [0, *ends[:-1]], strict=True)]
    labels = np.empty(len(frame), dtype=np.int64)
    for rows, names in zip(parts, found, strict=True):
        labels[rows] = names
    return labels


def mini_batches(frame: pd.DataFrame, vectors: FloatArray, seed: int) -> Any:
    """Run MiniBatchKMeans part by part, with the true number of topics of all parts."""
    model = MiniBatchKMeans(frame["topic"].nunique(), random_state=seed)
    labels = np.empty(len(frame), dtype=np.int64)
    for part in frame["part"].unique():
        rows = np.flatnonzero(frame["part"] == part)
        labels[rows] = model.partial_fit(vectors[rows]).predict(vectors[rows])
    return labels


def bertopic(frame: pd.DataFrame, vectors: FloatArray, seed: int) -> Any:
    """Run BERTopic with its defaults, but for the seed of UMAP, on all texts at once."""
    reduce = importlib.import_module("umap").UMAP(
        n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed
    )
    model = importlib.import_module("bertopic").BERTopic(umap_model=reduce, embedding_model=None)
    return model.fit_transform(frame["text"].tolist(), embeddings=vectors)[0]


Method = Callable[[pd.DataFrame, FloatArray, int], Any]


def methods() -> dict[str, tuple[Method, str, int]]:
    """Return each method, what it is given beside the texts, and how many seeds matter."""
    found: dict[str, tuple[Method, str, int]] = {
        "dynmeans, 16 parts": (lambda f, v, s: ours(f, s, window_column="part"), "the parts", 4),
        "dynmeans, windows of 12 h": (
            lambda f, v, s: ours(f, s, time="when", every="12h"),
            "the order",
            4,
        ),
        "KMeans in each part, matched": (by_part, "the parts, K of each part", 4),
        "KMeans in each part, all apart": (
            lambda f, v, s: by_part(f, v, s, is_matched=False),
            "the parts, K of each part",
            4,
        ),
        "MiniBatchKMeans, part by part": (mini_batches, "the parts, K of all", 4),
        "KMeans, all texts at once": (
            lambda f, v, s: KMeans(f["topic"].nunique(), random_state=s).fit_predict(v),
            "K of all, all texts at once",
            4,
        ),
        "HDBSCAN, all texts at once": (
            lambda f, v, s: HDBSCAN(copy=True).fit_predict(v),
            "all texts at once",
            1,
        ),
    }
    if find_spec("bertopic"):
        found["BERTopic, all texts at once"] = (bertopic, "all texts at once", 4)
    return found


def score(frame: pd.DataFrame, labels: Any) -> Row:
    """Return the NMI with the geometric mean and how many topics there are."""
    found = np.asarray(labels)
    nmi = normalized_mutual_info_score(frame["topic"], found, average_method="geometric")
    return {"nmi": float(nmi), "n_found": len(np.unique(found[found >= 0]))}


def main() -> None:
    """Measure the rows that are not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of news_t.parquet")
    parser.add_argument("--again", help="measure rows again whose method has this in its name")
    parser.add_argument("--only", default="", help="only rows that have this in data or method")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(Rows("texts", options.again, options.only), options.folder)


def measure(rows: Rows, folder: Path) -> None:
    """Measure the rows that are not there."""
    frame = pd.read_parquet(folder / "news_t.parquet")
    vectors = make_vectors(frame["text"])
    for method, (run, given, n_seeds) in methods().items():
        for seed in SEEDS[:n_seeds]:
            rows.measure(
                {"data": "News-T", "seed": seed, "method": method, "given": given},
                lambda run=run, seed=seed: score(frame, run(frame, vectors, seed)),
            )


if __name__ == "__main__":
    main()
