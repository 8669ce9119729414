"""Tables of docs/gpu.md: steps, passes, ways across the bus, shares of the floor."""

from typing import Any

from benchmarks.pages.results import read, table, time_of

CASES = ("d2", "d64", "d400", "d8")
AIMS = {"d2": (12, 2.2), "d64": (13, 5.5), "d400": (None, 3.0)}  # first and later pass, ms
COPIES_AIM = 75  # ms, rows in and labels out
OTHER_WAYS = ("torch_cdist_float64_ms", "cupy_matmul_float64_ms", "cuml_kmeans_pass_ms")
KERNELS = {
    "grid_label": "first pass, by the grid",
    "grid_attracted": "rows that prefer a cluster opened late",
    "grid_compare": "later pass, by the grid",
    "filter": "costs in bf16 on tensor cores",
    "own_costs": "each row and its own center",
    "label_rest": "labels by what the filter found",
    "label_attracted": "rows that prefer a cluster opened late",
    "count_labels": "members of each cluster",
    "sort_rows_by_slot": "rows sorted by cluster",
    "sum_sorted": "their sums",
}


def tables() -> dict[str, str]:
    """Return every table by its name on the page."""
    results = read("gpu/gpu")
    cases = {name: results[name] for name in CASES}
    return {
        "gpu: steps": steps_table(cases),
        "gpu: passes": passes_table(cases, results["prototype_first_and_later_ms"]),
        "gpu: copies": copies_table(results["copies_1e8_x_2"]),
        "gpu: blocks": blocks_table(cases),
        "gpu: floors": floors_table(cases),
    }


def steps_table(cases: dict[str, Any]) -> str:
    """Whole steps beside compiled code; those of d = 8 take a tenth of the rows."""
    head = (
        *("rows", "passes", "clusters", "GPU, ms", "one order, ms", "rows in main memory, ms"),
        *("compiled code, 16 threads, ms", "times as fast", "from main memory"),
        *("deep search, ms", "`predict`, ms", "from main memory, ms", "bits equal"),
        *("commit", "one order at"),
    )
    rows = []
    for name, case in cases.items():
        step = case["step"]
        rows.append(
            (
                shape(10**5 if name == "d8" else case["n"], case["d"]),
                *(f"{step['n_iter']}", f"{step['n_clusters']:,}"),
                *(time_of(step["gpu_ms"]), time_of(case["one_order"]["ms"])),
                *(time_of(step["gpu_from_memory_ms"]), time_of(step["native_ms"])),
                f"**{times(step['times_faster'])}**",
                times(step["native_ms"] / step["gpu_from_memory_ms"]),
                *(time_of(step[f"gpu_{name}_ms"]) for name in ("deep", "predict")),
                time_of(step["gpu_from_memory_predict_ms"]),
                "yes" if step["bits_equal"] else "**no**",
                case.get("commit_of_step", case["commit"]),
                case["commit"],
            )
        )
    return table(head, rows)


def passes_table(cases: dict[str, Any], prototype: dict[str, Any]) -> str:
    """First and later passes beside prototype, aim and other ways."""
    head = (
        *("rows", "first pass: prototype", "aim", "reached", "first sums", "second pass"),
        *("later pass: prototype", "aim", "reached"),
        *("`torch.cdist`, argmin", "CuPy product, argmin", "cuML `KMeans`"),
    )
    rows = []
    for name, case in cases.items():
        found, aims = case["passes"], AIMS.get(name, (None, None))
        before = prototype.get(name, (None, None))
        first, later = found["first_pass_ms"], found["later_pass_ms"]
        rows.append(
            (
                shape(case["n"], case["d"]),
                *(given(before[0]), given(aims[0]), reached(first, aims[0])),
                *(
                    f"{found['first_sums_ms']:.2g}",
                    f"{found['later_passes_ms_and_moves'][0][0]:.3g}",
                ),
                *(given(before[1]), given(aims[1]), reached(later, aims[1])),
                *(way(case["other_ways"][key]) for key in OTHER_WAYS),
            )
        )
    return table(head, rows)


def copies_table(found: dict[str, float]) -> str:
    """Rows of 1e8 x 2 to the card and labels back."""
    head = ("1e8 x 2", "plain copy, ms", "ring of pinned buffers, ms")
    touched, new = (
        found["in_ring_ms"] + found[f"out_ring{name}_ms"] for name in ("", "_untouched")
    )
    rows = [
        ("rows to the card", time_of(found["in_plain_ms"]), time_of(found["in_ring_ms"])),
        (
            "labels back, into memory that was touched",
            *(time_of(found["out_plain_ms"]), time_of(found["out_ring_ms"])),
        ),
        ("labels back, into new memory", "", time_of(found["out_ring_untouched_ms"])),
        (f"both, touched memory (aim: {COPIES_AIM})", "", reached(touched, COPIES_AIM)),
        ("both, new memory", "", reached(new, COPIES_AIM)),
    ]
    return table(head, rows)


def blocks_table(cases: dict[str, Any]) -> str:
    """Rows that stay in main memory and cross in blocks."""
    head = (
        "rows",
        "GB",
        "first pass, ms",
        "second pass, ms",
        "fastest pass, ms",
        "GB/s",
        "bits equal",
    )
    rows = []
    for case in cases.values():
        if found := case.get("blocks"):
            later = found["later_passes_ms"]
            rows.append(
                (
                    *(shape(case["n"], case["d"]), f"{8e-9 * case['n'] * case['d']:.1f}"),
                    *map(time_of, (found["first_pass_ms"], later[0], min(later))),
                    *(f"{found['gb_per_s']:.0f}", "yes" if found["bits_equal"] else "**no**"),
                )
            )
    return table(head, rows)


def floors_table(cases: dict[str, Any]) -> str:
    """Longest run of each kernel, and its share of the least time that it could take."""
    head = ("kernel", *(shape(case["n"], case["d"]) for case in cases.values()))
    floors = [case["passes"]["floors"] for case in cases.values()]
    return table(
        head,
        [
            (f"`{name}`: {task}", *(share(one.get(name)) for one in floors))
            for name, task in KERNELS.items()
        ],
    )


def share(found: dict[str, float] | None) -> str:
    """Return time and share of a kernel."""
    return f"{found['ms']:.2f} ms, {found['share']:.0%}" if found else ""


def shape(n: int, d: int) -> str:
    """Rows, by the power of ten, and features."""
    return f"1e{len(str(n)) - 1} x {d}"


def times(x: float) -> str:
    """Two digits."""
    return f"{x:.0f}" if x >= 10 else f"{x:.1f}"


def given(x: float | None) -> str:
    """Return a number if there is one."""
    return "" if x is None else f"{x:g}"


def reached(x: float, aim: float | None) -> str:
    """Three digits, bold where an aim was missed."""
    return f"**{x:#.3g}**" if aim is not None and x > aim else f"{x:#.3g}"


def way(x: float | str) -> str:
    """Return a time, or why there is none."""
    return x if isinstance(x, str) else time_of(x)
