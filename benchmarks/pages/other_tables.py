"""Tables of other pages: alternatives, many streams, any-time, a cluster, tuning, motion."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.pages.results import read, table

SCORES = ("accuracy_per_step", "accuracy_global", "idf1", "hota", "id_switches")
MIN_IS_BEST = ("ms_per_batch", "id_switches")
BLOBS = {
    "apart": "apart, lambda = (10 spreads)²",
    "overlapping": "anywhere, lambda = (6.5 spreads)²",
}
MOTION_KINDS = ("crossing", "wandering", "walking groups", "ships")
MOTION_WAYS = {
    "random_walk": "still",
    "constant_velocity": "steady",
    "the motion that is chosen": "chosen",
    "velocity as more features": "velocity as features",
    "Kalman filters, Hungarian matching of each batch's clusters": "Kalman, Hungarian",
    "MiniBatchKMeans, *K given*": "MiniBatchKMeans, K given",
}


def alternatives_tables() -> dict[str, str]:
    """Every method on every kind of stream, by the heading of the table."""
    found = {}
    for entry in read("quality/alternatives")["settings"]:
        means = {name: method["mean"] for name, method in entry["methods"].items()}
        best = {
            key: (min if key in MIN_IS_BEST else max)(mean[key] for mean in means.values())
            for key in ("ms_per_batch", *SCORES)
        }
        head = ("method", "ms per batch", *(f"`{name}`" for name in SCORES))
        name = entry["setting"]["name"]
        stars = {name: " \\*" for name, m in entry["methods"].items() if m["n_streams"] == 1}
        rows = [
            (
                method + stars.get(method, ""),
                *(_bold(_score(key, mean[key]), mean[key] == best[key]) for key in best),
            )
            for method, mean in means.items()
        ]
        found[f"alternatives: {name}"] = table(head, rows)
    return found


def _score(key: str, value: float) -> str:
    if key == "ms_per_batch":
        return f"{value:.3g}"
    return f"{value:.0f}" if key == "id_switches" else f"{value:.3f}"


def _bold(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


def headlines_table() -> dict[str, str]:
    """Topics in headlines: the mean over all streams, and the worst of them."""
    found: dict[str, list[Any]] = {}
    for row in read("quality/headlines")["rows"]:
        found.setdefault(row["how"], []).append(row)
    head = (
        "what was given",
        "adjusted Rand, mean",
        "worst",
        "topics of 12 with one number",
        "worst",
    )
    rows = []
    for how, some in found.items():
        rand, kept = ([row[key] for row in some] for key in ("adjusted_rand", "n_kept"))
        means = f"{sum(rand) / len(rand):.2f}", f"{min(rand):.2f}"
        rows.append((how, *means, f"{sum(kept) / len(kept):.1f}", f"{min(kept)}"))
    return {"headlines": table(head, rows)}


def groups_table() -> dict[str, str]:
    """Many small streams beside a loop."""
    shapes = {1: "one batch of 50", 5: "five batches of 10"}
    rows = [
        (
            shapes[case["n_batches"]],
            f"{case['seconds']:.1f} s",
            f"{case['loop_seconds']:.1f} s",
            f"{case['times_as_fast']:.1f}",
            f"{case['seconds_all_cores_wall']:.1f} s",
        )
        for case in read("scale/groups")["cases"]
    ]
    head = (
        *("100,000 streams of 50 points", "`fit_groups`", "loop over estimators", "times as fast"),
        "`fit_groups` on two cores, by the clock",
    )
    return {"many streams": table(head, rows)}


def anytime_table() -> dict[str, str]:
    """Any-time clustering beside the full batch."""
    rows = [_anytime_row(case) for case in read("scale/anytime")["cases"]]
    head = ("Rows", "Blobs", "Full batch", "Within 5 % of its cost", "Share of its time")
    return {"any-time": table(head, rows)}


def _anytime_row(case: dict[str, Any]) -> Sequence[str]:
    full, reached = case["full"], case["reached_at"]
    n_batches, cost = next(
        (n, point["cost"])
        for n, point in enumerate(case["trace"], start=1)
        if point["seconds"] == reached
    )
    return (
        f"{case['n_rows'] / 1e6:g} million",
        BLOBS[case["layout"]],
        f"{full['seconds']:.1f} s, {full['n_passes']:,} passes, {full['n_clusters']} clusters",
        f"after {reached:.2f} s: batch {n_batches}, {_percent(cost / full['cost'] - 1)} above",
        _percent(reached / full["seconds"]),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def dask_tables() -> dict[str, str]:
    """A batch on a cluster beside one machine, and what a pass sends."""
    sizes = read("scale/distributed")["sizes"]
    times = [
        (
            *(f"{size['n_rows']:,}", f"{size['dask']['seconds']:.1f}"),
            *(f"{size['native']['seconds']:.2g}", f"{size['ratio']:.2f}"),
            *(f"{size['cpu_ratio']:.2f}", f"{size['client_mb_grown']:.0f}"),
            *(size["dask"]["n_passes"], _rounds(size["dask"])),
            f"{size['dask']['first_pass']['proposals']:,}",
            f"{size['dask']['later_passes']['proposals']:,}",
        )
        for size in sizes
    ]
    sent = [(f"{size['n_rows']:,}", *_sent(size["dask"])) for size in sizes]
    head = (
        *("N", "cluster, s", "one machine, s", "ratio", "in processor time"),
        *("client grew by, MB", "passes", "rounds", "proposals, first pass", "later ones"),
    )
    return {
        "cluster: times": table(head, times),
        "cluster: traffic": table(
            ("N", "first pass, s", "to", "from", "a later round, s", "to", "from"), sent
        ),
    }


def message_table() -> dict[str, str]:
    """What a growing number of machines sends, below the last line of the text before it."""
    rows = [
        (
            f"{c['n_machines']:,}",
            *(f"{c['n_rows']:,}", c["n_rounds"], c["n_proposals"]),
            *(f"{c[name] / c['n_machines'] / 1e3:.1f}" for name in ("bytes_out", "bytes_in")),
        )
        for c in read("scale/message_counts")["counts"]
    ]
    head = ("Machines", "Rows", "Rounds", "Proposers", "kB to a machine", "kB from a machine")
    return {"cluster: messages": table(head, rows)}


def _rounds(run: dict[str, Any]) -> int:
    return int(run["first_pass"]["rounds"] + run["later_passes"]["rounds"])


def _sent(run: dict[str, Any]) -> Iterable[str]:
    later = run["later_passes"]
    for passes, n in ((run["first_pass"], 1), (later, max(1, later["rounds"]))):
        yield f"{passes['seconds'] / n:.2g}"
        yield from (f"{passes[name] / n / 1e3:,.0f}" for name in ("bytes_out", "bytes_in"))


def tune_table() -> dict[str, str]:
    """Tuned penalties on streams that they were not tuned on."""
    rows = [
        (
            *(c["noise"], c["n_clusters"]),
            f"{c['new_penalty']:.3f}, {c['max_gap']:.1f}, {c['reach']:.2f}",
            *(f"{c['score']:.3f}", f"{c['score_of_paper']:.3f}", f"{c['to_reach']:g}"),
        )
        for c in read("quality/tune")["cases"]
    ]
    head = ("noise", "K", "lambda, T_Q, k_tau", "accuracy", "the paper's parameters", "to reach")
    return {"tuning": table(head, rows)}


def motion_table() -> dict[str, str]:
    """Identities kept by kind of stream, the median of its streams."""
    medians = read("quality/motion")["summary"]
    rows = [
        (shown, *(f"{medians[kind][way]:.2f}" for kind in MOTION_KINDS))
        for shown, way in MOTION_WAYS.items()
    ]
    return {"motion": table(("", *MOTION_KINDS), rows)}


_MAKERS = (
    *(alternatives_tables, groups_table, anytime_table),
    *(dask_tables, message_table, tune_table, headlines_table, motion_table),
)


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    return {name: text for make in _MAKERS for name, text in make().items()}
