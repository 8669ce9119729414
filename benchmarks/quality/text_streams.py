"""Generated texts of many kinds: does one cosine of 0.15 suit all of them?

Words follow Zipf's law. Topics have sizes of a heavy tail, bursts, and words that come and go;
texts also have words of grammar, words of no topic and words of other topics. Run as
``python -m benchmarks.quality.text_streams``; writes benchmarks/results/quality/text_streams.json.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import normalized_mutual_info_score

import dynmeans
from benchmarks.machine import machine, write_results
from dynmeans.metrics import accuracy_global
from dynmeans.words.stop_words import ENGLISH

COSINES = (0.07, 0.1, 0.15, 0.2, 0.3)
SEEDS = range(3)


@dataclass(frozen=True)
class Kind:
    """How texts of a kind are made."""

    n_topics: int
    n_words: int  # of a text, on average
    of_topic: float  # share of words of the topic
    of_grammar: float  # share of words of grammar; the rest is of no topic
    n_of_topic: int = 40  # words of a topic at a time
    drift: float = 0.1  # share of the words of a topic that are replaced in each window
    shared: float = 0.1  # share of the words of a topic that belong to others too
    n_texts: int = 2_000
    n_windows: int = 10


KINDS = {
    "titles": Kind(100, 7, 0.75, 0.0),
    "headlines": Kind(60, 8, 0.5, 0.25),
    "posts": Kind(40, 14, 0.35, 0.4),
    "paragraphs": Kind(30, 50, 0.3, 0.45, n_of_topic=120),
    "ten topics": Kind(10, 10, 0.5, 0.3),
    "many small topics": Kind(400, 8, 0.55, 0.25),
    "fast drift": Kind(40, 10, 0.5, 0.3, drift=0.4),
    "shared words": Kind(40, 10, 0.5, 0.3, shared=0.4),
}


def make_texts(kind: Kind, seed: int, grammar: frozenset[str] = ENGLISH) -> pd.DataFrame:
    """Make texts with the windows they come in and their topics."""
    rng = np.random.default_rng(seed)
    own = _made_words()
    general = list(islice(own, 3_000))
    stop = rng.permutation(sorted(grammar))
    topics = [_some(own, general, rng, kind, kind.n_of_topic) for _ in range(kind.n_topics)]
    sizes = rng.pareto(1.2, kind.n_topics) + 0.3
    rows = []
    for window in range(kind.n_windows):
        bursts = sizes * np.exp(rng.normal(0.0, 1.0, kind.n_topics))
        drawn = rng.choice(kind.n_topics, kind.n_texts // kind.n_windows, p=bursts / bursts.sum())
        for topic in drawn.tolist():
            n_words = max(3, rng.poisson(kind.n_words))
            kinds = rng.random(n_words)
            pools = [
                topics[topic]
                if u < kind.of_topic
                else stop
                if u < kind.of_topic + kind.of_grammar
                else general
                for u in kinds.tolist()
            ]
            text = " ".join(pool[_rank(rng, len(pool))] for pool in pools)
            rows.append((window, topic, text))
        for topic in topics:
            gone = np.flatnonzero(rng.random(len(topic)) < kind.drift)
            for place, word in zip(gone, _some(own, general, rng, kind, len(gone)), strict=True):
                topic[place] = word
    return pd.DataFrame(rows, columns=["window", "topic", "text"])


def _made_words() -> Iterator[str]:
    """Yield words of three syllables, each once."""
    syllables = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]
    return map("".join, product(syllables, repeat=3))


def _some(
    own: Iterator[str], general: list[str], rng: np.random.Generator, kind: Kind, n: int
) -> list[str]:
    is_shared = rng.random(n) < kind.shared
    return [str(rng.choice(general[:300])) if one else next(own) for one in is_shared]


def _rank(rng: np.random.Generator, n: int) -> int:
    """Draw a rank by Zipf's law, about: its logarithm is even."""
    return int(np.expm1(rng.random() * np.log1p(n)))


def score(frame: pd.DataFrame, labels: Any) -> dict[str, float]:
    """Return the NMI with the geometric mean, the accuracy, and how many clusters there are."""
    found = np.asarray(labels)
    nmi = normalized_mutual_info_score(frame["topic"], found, average_method="geometric")
    accuracy = accuracy_global([frame["topic"].to_numpy()], [found])
    return {
        "nmi": float(nmi),
        "accuracy": float(accuracy),
        "n_clusters": len(np.unique(found)),
    }


def main() -> None:
    """Score every kind at several cosines."""
    warnings.simplefilter("ignore")
    rows = []
    for name, kind in KINDS.items():
        for seed in SEEDS:
            frame = make_texts(kind, seed)
            found = {}
            for cosine in COSINES:
                penalty = 2.0 * (1.0 - cosine)
                done = dynmeans.cluster(
                    frame, text="text", window_column="window", new_penalty=penalty
                )
                found[f"cosine {cosine}"] = done.labels
            n_topics = frame["topic"].nunique()
            for how, labels in found.items():
                row = {"kind": name, "seed": seed, "how": how, "n_topics": n_topics}
                rows.append(row | score(frame, labels))
            told = {row["how"]: round(row["nmi"], 3) for row in rows[-len(COSINES) :]}
            print(name, seed, told, flush=True)
    write_results("quality/text_streams", {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
