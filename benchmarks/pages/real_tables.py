"""Tables of real streams: every row that was measured, ours over seeds and others beside it."""

from statistics import mean
from typing import Any

from benchmarks.pages.results import read, table

DYNMEANS = {
    "**label-free**": "label-free, split",
    "best of the three levels, *by labels*": "best of three levels by labels, split",
    "**with the hint**: the true number in a batch": "with the hint, split",
    "with half of it": "with half the hint, split",
    "with a range, half to twice it": "with a range, split",
    'label-free, `search="paper"`': "label-free, paper",
    'label-free, `search="deep"`': "label-free, deep",
}
OTHERS = {
    "best of 36 settings with one lambda, *by labels*": "best of 36 by labels",
    "DBSCAN, *best of 5 eps by labels*, last batch": "DBSCAN, best of 5 eps by labels, last batch",
    "DBSCAN, *by labels*, tracked (`method=`)": "DBSCAN, best of 5 eps by labels, tracked",
    "HDBSCAN of at least 5 points, last batch": "HDBSCAN, last batch",
    "HDBSCAN, tracked (`method=`)": "HDBSCAN, tracked",
    "KMeans, *K given*, last batch": "KMeans, K given, last batch",
    "KMeans, *K given*, tracked (`method=`)": "KMeans, K given, tracked",
    "MiniBatchKMeans, *K given*": "MiniBatchKMeans, K given",
}
_SHOWN = ("best of 36", "HDBSCAN, tracked", "KMeans, *K given*, tracked")
SOME_OTHERS = {shown: name for shown, name in OTHERS.items() if shown.startswith(_SHOWN)}
_MISSING = ""  # not measured
# Published figures: stream, score, name, values, and the information that the methods used.
PUBLISHED = (
    (
        "tweets",
        "nmi",
        "Tweets-T, NMI",
        "MStreamF 0.923, MStream 0.882, DTM 0.802, Sumblr 0.695",
        "words",
    ),
    ("cre", "accuracy", "4CRE-V2, accuracy", "SCARGC 0.919", "the number of classes, first labels"),
    ("surr", "accuracy", "1CSurr, accuracy", "SCARGC 0.943", "the number of classes, first labels"),
)


def _streams() -> dict[str, Any]:
    found: dict[str, Any] = read("quality/real_streams")["streams"]
    return found


def _values(stream: dict[str, Any], name: str, key: str = "accuracy") -> list[float]:
    rows = stream["rows"]
    return [row[key] for row_name, row in rows.items() if row_name.partition(", seed")[0] == name]


def _mean(values: list[float]) -> str:
    return f"{mean(values):.2f}" if values else _MISSING


def _lines(names: dict[str, str]) -> list[tuple[str, ...]]:
    streams = _streams()
    lines = []
    for shown, name in names.items():
        found = [_values(stream, name) for stream in streams.values()]
        cells = [_mean(values) for values in found]
        whole = f"{mean(mean(values) for values in found):.3f}" if all(found) else _MISSING
        lines.append((shown, *cells, whole))
    return lines


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    streams = _streams()
    head = ("", *streams, "mean")
    sizes = [f"{s['n_batches']}, {s['n_true']:.3g}" for s in streams.values()]
    n_found = [
        _mean(
            [
                float(row["n_identities"])
                for key, row in s["rows"].items()
                if DYNMEANS["**label-free**"] in key
            ]
        )
        for s in streams.values()
    ]
    ranges = [
        f"{min(found):.2f} to {max(found):.2f}"
        if (found := _values(s, DYNMEANS["**label-free**"]))
        else _MISSING
        for s in streams.values()
    ]
    facts = [
        ("batches, true clusters in a batch", *sizes, ""),
        ("clusters found, label-free", *(n.partition(".")[0] for n in n_found), ""),
        ("over the seeds", *ranges, ""),
    ]
    idf1 = [_values(stream, DYNMEANS["**label-free**"], "idf1") for stream in streams.values()]
    whole = f"{mean(map(mean, idf1)):.3f}" if all(idf1) else _MISSING
    facts.append(("IDF1, label-free", *map(_mean, idf1), whole))
    published = [
        (shown, f"{_mean(_values(streams[name], 'label-free, split', key))}", others, given)
        for name, key, shown, others, given in PUBLISHED
    ]
    return {
        "real streams": table(head, [*facts, *_lines(DYNMEANS), *_lines(SOME_OTHERS)]),
        "real streams: others": table(head, _lines(OTHERS)),
        "real streams: published": table(
            ("", "label-free", "published", "information used"), published
        ),
    }
