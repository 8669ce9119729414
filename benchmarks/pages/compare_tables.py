"""Tables of the page on how dynmeans compares, from the rows in results/compare."""

from collections.abc import Iterable
from statistics import mean
from typing import Any

from benchmarks.machine import RESULTS
from benchmarks.pages.results import read, table

Row = dict[str, Any]
KINDS = ("base", "moving", "sequential", "nonstat")
# AMI of the public sets, means of 20, as published (Iglesias and Zseby).
DENSTREAM = {True: (0.927, 0.928, 0.936, 0.829), False: (0.987, 0.982, 0.984, 0.881)}
# NMI of News-T in 16 parts, as published (Yin et al., KDD 2018).
NEWS = {"MStreamF": 0.873, "MStream": 0.850, "DTM": 0.806, "Sumblr": 0.720}
SCENES, GIVEN = ("walkers", "crowd", "road users"), ("aircraft", "ships")
_NO_ROW = ""


def _rows(name: str) -> list[Row]:
    is_there = (RESULTS / "compare" / f"{name}.json").exists()
    return list(read(f"compare/{name}")["rows"]) if is_there else []


def _mean(rows: Iterable[Row], score: str, form: str = ".3f") -> str:
    values = [row[score] for row in rows]
    return format(mean(values), form) if values else _NO_ROW


def _methods(rows: list[Row]) -> list[str]:
    """Return the methods: ours first, the others by name."""
    names = sorted({row["method"] for row in rows})
    return sorted(names, key=lambda name: not name.startswith("dynmeans"))


def _bold(name: str) -> str:
    return f"**{name}**" if name.startswith("dynmeans") else name


def _drifting() -> str:
    rows, lines = _rows("drifting_suite"), []
    for origin in ("generated", "public"):
        for method in _methods([row for row in rows if row["origin"] == origin]):
            cells = [
                _mean(
                    (
                        row
                        for row in rows
                        if (row["origin"], row["method"], row["kind"], row["has_outliers"])
                        == (origin, method, kind, has_outliers)
                    ),
                    "ami",
                )
                for has_outliers in (True, False)
                for kind in KINDS
            ]
            lines.append((_bold(method), origin, *cells))
    published = [f"{value:.3f}" for part in DENSTREAM.values() for value in part]
    lines.append(("DenStream, published", "public", *published))
    head = [f"{kind}, {part}" for part in ("outliers", "none") for kind in KINDS]
    return table(("AMI", "sets", *head), lines)


def _tracking(names: tuple[str, ...]) -> str:
    rows, lines = [row for row in _rows("tracking") if row["data"] in names], []
    for method in _methods(rows):
        mine = [row for row in rows if row["method"] == method]
        cells = [
            f"{_mean(found, 'hota', '.2f')} / {_mean(found, 'idf1', '.2f')}" if found else _NO_ROW
            for found in ([row for row in mine if row["data"] == data] for data in names)
        ]
        lines.append((_bold(method), *cells, _time(mine, "n_rows")))
    return table(("HOTA / IDF1", *names, "ms for 1,000 rows"), lines)


def _time(rows: list[Row], n_rows: str) -> str:
    return f"{1e6 * sum(r['seconds'] for r in rows) / sum(r[n_rows] for r in rows):,.0f}"


def _seconds(rows: list[Row]) -> str:
    """Return the mean time; below a second with one significant digit."""
    seconds = mean(row["seconds"] for row in rows)
    return f"{seconds:.0f}" if seconds >= 1 else f"{float(f'{seconds:.1g}'):g}"


def _peers(origin: str) -> str:
    rows, lines = [row for row in _rows("peers") if row["data"].startswith(origin)], []
    for method in _methods(rows):
        mine = [row for row in rows if row["method"] == method]
        part = _complete(mine, rows)
        cells = [_mean(_by_data(part, score), "mean") for score in _SCORES]
        cells += [_wins(part, rows), _time(mine, "n_rows")]
        lines.append((_bold(method), str(mine[0]["n_tried"]), *cells))
    head = ("settings", *_SCORES, "more accurate than ours, online, on", "ms for 1,000 rows")
    return table((f"{origin} streams", *head), lines)


def _wins(mine: list[Row], rows: list[Row]) -> str:
    """Return on how many streams a method has a higher accuracy than ours, to two digits."""
    ours = _by_data([row for row in rows if row["method"] == _OURS], "accuracy")
    pairs = zip(_by_data(mine, "accuracy"), ours, strict=False)
    wins = sum(round(other["mean"], 2) > round(our["mean"], 2) for other, our in pairs)
    is_other = mine and ours and mine[0]["method"] != _OURS
    return f"{wins} of {len(ours)}" if is_other else "-"


_SCORES, _OURS = ("accuracy", "ami"), "dynmeans, online, defaults"


def _complete(mine: list[Row], rows: list[Row]) -> list[Row]:
    """Return the rows of a method; none if a stream is missing."""
    return mine if {row["data"] for row in mine} == {row["data"] for row in rows} else []


def _by_data(rows: list[Row], score: str) -> list[Row]:
    """Return the mean of each stream, so that streams with one seed count alike."""
    names = sorted({row["data"] for row in rows})
    return [{"mean": mean(r[score] for r in rows if r["data"] == name)} for name in names]


def _peers_of(origin: str, score: str) -> str:
    rows = [row for row in _rows("peers") if row["data"].startswith(origin)]
    names = sorted({row["data"] for row in rows})
    lines = [
        (
            _bold(method),
            *(
                _mean((r for r in rows if (r["method"], r["data"]) == (method, name)), score, ".2f")
                for name in names
            ),
        )
        for method in _methods(rows)
    ]
    return table((score, *(name.partition(", ")[2] for name in names)), lines)


def _texts() -> str:
    rows = _rows("texts")
    lines = []
    for method in _methods(rows):
        mine = [row for row in rows if row["method"] == method]
        found = (
            f"{_mean(mine, 'nmi')}",
            _mean(mine, "n_found", ".0f"),
            _seconds(mine),
        )
        lines.append((_bold(method.removesuffix(", all texts at once")), mine[0]["given"], *found))
    lines += [
        (f"{name}, published", "the parts, alpha and beta", f"{nmi:.3f}", _NO_ROW, _NO_ROW)
        for name, nmi in NEWS.items()
    ]
    return table(("News-T", "given, besides the texts", "NMI", "topics (152)", "seconds"), lines)


def _embeddings() -> str:
    rows = _rows("embeddings")
    methods = [name for name in dict.fromkeys(row["how"] for row in rows) if name != "HDBSCAN"]

    def of(method: str, *words: str) -> list[Row]:
        return [
            row
            for row in rows
            if row["how"] == method and any(word in row["kind"] for word in words)
        ]

    generated = {row["kind"] for row in rows if "windows" not in row["kind"]}
    generated -= {"one cluster only"} | {row["kind"] for row in rows if _is_given(row["kind"])}
    lines = [
        (
            _bold(method),
            _mean(
                (row for row in rows if row["how"] == method and row["kind"] in generated), "nmi"
            ),
            _mean(of(method, "1 windows"), "nmi", ".2f"),
            _mean(of(method, "1 windows"), "cpu_seconds", ".1f"),
            *(
                _mean(of(method, kind), "nmi", ".2f")
                for kind in ("tweets", "reuters", "News-T, SVD", "sparse")
            ),
        )
        for method in methods
    ]
    large = "10,000 x 384, 300 clusters"
    names = ("tweets", "reuters", "News-T, SVD", "News-T, sparse")
    return table(
        ("NMI", f"{len(generated)} generated kinds", large, "seconds for it", *names), lines
    )


def _is_given(kind: str) -> bool:
    return "SVD" in kind or "sparse" in kind


def _kinds_of_embeddings() -> str:
    rows = _rows("embeddings")
    methods, kinds = (list(dict.fromkeys(row[key] for row in rows)) for key in ("how", "kind"))

    def cell(kind: str, method: str) -> str:
        mine = [row for row in rows if (row["kind"], row["how"]) == (kind, method)]
        if not mine:
            return "-"
        found = f"{_mean(mine, 'nmi', '.2f')} / {_mean(mine, 'n_clusters', '.0f')}"
        return f"{found} / {_mean(mine, 'cpu_seconds', '.1f')} s"

    lines = [(kind, *(cell(kind, method) for method in methods)) for kind in kinds]
    return table(("NMI / clusters / time", *methods), lines)


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    return {
        "compare: drifting": _drifting(),
        "compare: tracking, generated": _tracking(SCENES),
        "compare: tracking, given": _tracking(GIVEN),
        "compare: peers, generated": _peers("generated"),
        "compare: peers, given": _peers("given"),
        "compare: texts": _texts(),
        "compare: embeddings": _embeddings(),
        "kinds of embeddings": _kinds_of_embeddings(),
        **{
            f"compare: {origin}, {score}": _peers_of(origin, score)
            for origin in ("given", "generated")
            for score in _SCORES
        },
    }
