"""Tables of the page on speed and of its results file: cases, small steps, growth."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.pages.results import ratio, read, table, time_of

CASES = "ABCDE"
THROUGH = {
    "inside": "the compiled call",
    "step": "`step`",
    "partial_fit": "`partial_fit`",
    "fit_sequence": "`fit_sequence`, per batch",
}


def engine_tables() -> Iterator[str]:
    """Cases, small steps, threads and instruction sets."""
    engine = read("engine/engine")
    goals, figures = engine["to_reach"], engine["figures"]
    cases = {row["name"]: row for row in figures["cases"]}
    yield table(
        (
            *("case", "N", "K found", "d", "passes", "ms per pass", "scikit-learn, ms", "ratio"),
            *("target", "reached", "plain", "authors' C++", "a step, in calls"),
        ),
        [case_row(name, cases, goals) for name in CASES],
    )
    yield table(
        (
            *("case", "K found", "passes", "ms per pass", "scikit-learn, ms", "ratio", "plain"),
            "a step, in calls",
        ),
        [
            (
                *(f"{name}, apart", row["n_found"], row["n_passes"], time_of(row["ms_per_pass"])),
                *(time_of(row["sklearn_ms"]), ratio(row["ratio"]), ratio(row["plain_ratio"])),
                ratio(row["calls_per_step"]),
            )
            for name in CASES
            if (row := cases.get(f"{name} apart"))
        ],
    )
    small = goals["tiny"]
    yield table(
        ("through", "µs", "to reach"),
        [
            (THROUGH[name], f"{us:.0f}", f"{small[name]:.0f}" if name in small else "")
            for name, us in figures["tiny"].items()
        ],
    )
    yield table(
        (
            *("case", "two threads against one", "scikit-learn's call", "others' use of a core"),
            "quiet pairs",
        ),
        [
            (
                *(row["name"], f"{row['speedup']:.2f}", f"{row['sklearn_speedup']:.2f}"),
                *(f"{row['others']:.0%}", f"{row['n_quiet']} of {row['n_taken']}"),
            )
            for row in figures["threads"]
        ],
    )
    yield table(
        ("case", "AVX2", "baseline (SSE2)", "AVX2, and BLAS without AVX-512"),
        [
            (row["name"], *(f"{row[k]:.2f}" for k in ("avx2", "baseline", "avx2_with_older_blas")))
            for row in figures["instruction_sets"]
        ],
    )


def small_parts_table() -> str:
    """Clock ticks of the parts of a small step."""
    parts = read("engine/small_parts")
    rows = {**parts["ticks"], "all": parts["all"]}
    shares = [(name, f"{n:,.0f}", f"{n / parts['all']:.0%}") for name, n in rows.items()]
    return table(("part", "clock ticks", "share"), shares)


def by_pass_table() -> str:
    """What passes take, as shares of the first."""
    measured = read("engine/by_pass")
    numbers = ("2", "3 to 5", "later")
    rows = [
        (
            row["name"],
            " and ".join(str(len(ms)) for ms in row["ms"]),
            time_of(sum(ms[0] for ms in row["ms"]) / len(row["ms"])),
            *(f"{row['shares'][n]:.1%}" if n in row["shares"] else "" for n in numbers),
        )
        for row in measured["cases"]
    ]
    return table(("case", "passes", "first pass, ms", "second", "third to fifth", "later"), rows)


def vectors_table() -> str:
    """A step of long vectors, in calls of scikit-learn, and its memory."""
    head = (
        *("rows", "centers", "passes of two steps", "a step, ms", "scikit-learn, ms"),
        *("a step, in calls", "target", "reached", "bytes a row", "bytes of a row in float64"),
    )
    rows = [
        (
            f"{row['n_points']:,} x {row['n_features']:,}",
            f"{row['n_found']}, {row['space']}",
            *(row["n_passes"], time_of(row["ms_per_step"]), time_of(row["sklearn_ms"])),
            *(f"**{row['calls_per_step']:.2f}**", f"{row['to_reach']:g}"),
            "yes" if row["calls_per_step"] <= row["to_reach"] else "**no**",
            *(f"{row['bytes_a_row']:.0f}", f"{row['bytes_of_float64']:,.0f}"),
        )
        for row in read("engine/vectors")["cases"]
    ]
    return table(head, rows)


def case_row(name: str, cases: dict[str, Any], goals: Any) -> Sequence[Any]:
    """Return one of the cases A to E; the plain way may have been taken on centers kept apart."""
    row = cases[name]
    goal = goals["ratio"][name]
    return (
        *(name, f"{row['n_points']:,}", f"{row['n_found']:,}", row["n_features"]),
        *(row["n_passes"], time_of(row["ms_per_pass"]), time_of(row["sklearn_ms"])),
        *(f"**{ratio(row['ratio'])}**", f"{goal:g}", "yes" if row["ratio"] <= goal else "**no**"),
        ratio(cases.get(f"{name} apart", row)["plain_ratio"]),
        *(f"{goals['authors'][name]:g}", ratio(row["calls_per_step"])),
    )


def sweep_tables() -> Iterator[str]:
    """Growth with the number of clusters and of points."""
    points = read("engine/sweep")["points"]
    ends = (
        "scikit-learn, ms",
        "ratio",
        "two threads: ms per pass",
        "two threads: scikit-learn, ms",
    )
    yield table(
        ("d", "K made", "K found", "passes", "ms per pass", "ms per step", *ends),
        [
            (
                *(features(row), f"{row['n_clusters']:,}", f"{row['n_found']:,}"),
                *(row["n_passes"], time_of(row["ms_per_pass"]), time_of(row["ms_per_step"])),
                *sweep_end(row),
            )
            for row in points
            if row["sweep"] == "K"
        ],
    )
    yield table(
        ("d", "N", "K found", "passes", "ms per pass", *ends),
        [
            (
                *(features(row), f"{row['n_points']:,}", f"{row['n_found']:,}", row["n_passes"]),
                *(time_of(row["ms_per_pass"]), *sweep_end(row)),
            )
            for row in points
            if row["sweep"] == "N"
        ],
    )
    yield table(
        ("d", "a pass", "a step", "scikit-learn's call"),
        [
            (
                features(row),
                *(f"{row[k]:.2f}" for k in ("of_a_pass", "of_a_step")),
                f"{row['of_sklearn']:.1f}",
            )
            for row in read("engine/growth")["growth"]
        ],
    )


def roofline_table() -> str:
    """A step beside what the machine needs to read and to compute at least."""
    return table(
        (
            *("case", "N", "d", "a step, ms", "ns a point", "reading, ms", "computing, ms"),
            *("a step over the larger", "product of a first pass, ms"),
        ),
        [
            (
                *(row["name"], f"{row['n_points']:,}", row["n_features"]),
                *(time_of(row["step_ms"]), f"{row['ns_a_point']:.0f}"),
                *(time_of(row["reading_ms"]), time_of(row["computing_ms"])),
                f"{row['step_ms'] / max(row['reading_ms'], row['computing_ms']):.1f}",
                time_of(row["product_ms"]) if "product_ms" in row else "",
            )
            for row in read("engine/roofline")["cases"]
        ],
    )


def ablation_tables() -> Iterator[str]:
    """What each acceleration brings."""
    rows = read("engine/ablation")["ratios"]["avx512, 1 thread"]
    names = list(dict.fromkeys(one for found in rows.values() for one in found))
    yield table(
        ("without", *(one.replace("_", " ") for one in names)),
        [(name, *(gain(found.get(one)) for one in names)) for name, found in rows.items()],
    )


def gain(x: float | None) -> str:
    """Two digits, bold where an acceleration brings 10 % or more."""
    if x is None:
        return "-"
    return f"**{x:.2f}**" if x >= 1.1 else f"{x:.2f}"


def features(row: Any) -> str:
    """Return the number of features, and that the centers were kept apart."""
    return f"{row['n_features']}{', apart' if row['layout'] == 'apart' else ''}"


def sweep_end(row: Any) -> Sequence[str]:
    """Return what stands beside the time of a pass, marked where it is scaled or disturbed."""
    star = "\\*" if row["is_sklearn_scaled"] else ""
    busy = " †" if row["others"] >= 0.1 else ""
    return (
        *(time_of(row["sklearn_ms"]) + star, ratio(row["ratio"])),
        time_of(row["ms_per_pass_all_threads"]) + busy,
        time_of(row["sklearn_ms_all_threads"]) + star + busy,
    )


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    named = (
        *("cases", "cases, apart", "small steps", "threads", "instruction sets"),
        *("parts of a small step", "by pass", "vectors", "roofline", "accelerations"),
        *("clusters", "points", "growth"),
    )
    own = (small_parts_table(), by_pass_table(), vectors_table(), roofline_table())
    made = (*engine_tables(), *own, *ablation_tables(), *sweep_tables())
    return {f"speed: {name}": text for name, text in zip(named, made, strict=True)}
