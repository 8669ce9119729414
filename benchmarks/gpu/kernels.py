"""The GPU backend: bits beside compiled code, times beside the floor and other ways.

python -m benchmarks.gpu.kernels [--quick] [--results benchmarks/results/gpu/gpu.json]
"""

import argparse
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from benchmarks.gpu.beside import blocks_by_bus, copies, median_ms, other_ways, seconds
from dynmeans import DynamicMeans
from dynmeans.engine.gpu import (
    border,
    device_rows,
    kernels,
    labeled_rows,
    search,
    slot_sums,
    sources,
)
from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.device_orders import list_device_orders
from dynmeans.engine.gpu.device_rows import DeviceRows
from dynmeans.engine.gpu.host.bins import bins_of_batch
from dynmeans.engine.gpu.host.cluster import params
from dynmeans.engine.gpu.host.passes import Passes
from dynmeans.engine.gpu.host.slots import Memory, Slots
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

PROTOTYPE = {"d2": (12.0, 2.3), "d64": (13.3, 6.3), "d400": (None, 3.5)}  # first, later pass; ms


def make_rows(n: int, d: int, n_blobs: int) -> tuple[Any, float]:
    """Blobs as in the prototype's benchmark, on the device, and lambda."""
    random = cp.random.RandomState(0)
    if d == 2:
        centers, noise, penalty = random.uniform(0, 0.7 * n_blobs**0.5, (n_blobs, 2)), 0.06, 0.12
    else:
        centers, noise, penalty = random.standard_normal((n_blobs, d)), 0.6, 1.35 * d
    rows, part = cp.empty((n, d)), max(1, 2**28 // d)
    for start in range(0, n, part):
        m = min(n, start + part) - start
        rows[start : start + m] = centers[random.randint(0, n_blobs, m)]
        rows[start : start + m] += noise * random.standard_normal((m, d))
    return rows, penalty


def by_kernel(work: Any) -> dict[str, Any]:
    """Return the time in each kernel while `work` runs: in all and the longest, in ms; its runs."""
    records, real = [], kernels.launch_blocks

    def timed(kernel: Any, *arguments: Any, **options: Any) -> None:
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        real(kernel, *arguments, **options)
        end.record()
        records.append((kernel.name, start, end))

    users = (kernels, border, device_rows, labeled_rows, search, slot_sums)
    for user in users:
        user.launch_blocks = timed
    spent, _ = seconds(work)
    for user in users:
        user.launch_blocks = real
    found: dict[str, Any] = {"all_ms": round(1e3 * spent, 3)}
    for name, start, end in records:
        ms, n, longest = found.get(name, (0.0, 0, 0.0))
        once = cp.cuda.get_elapsed_time(start, end)
        found[name] = (round(ms + once, 4), n + 1, round(max(longest, once), 4))
    return found


def copy_rate() -> float:
    """Bytes per ms that a copy on the device reads and writes."""
    a = cp.ones(2**28)
    b = cp.empty_like(a)
    return 2 * a.nbytes / median_ms(lambda: cp.copyto(b, a))


def time_passes(rows_array: Any, penalty: float, rate: float) -> dict[str, Any]:
    """Time the first pass, each later pass and each stage of one."""
    n, d = rows_array.shape
    penalties, state = Penalties(penalty, max_gap=5, reach=1.2), ClusterState.empty(d)
    blocks = Blocks(rows_array)
    rows, memory = DeviceRows(blocks, None), Memory.of(state, penalties)
    bins = bins_of_batch(rows.magnitudes(), n, False, state, penalties)
    passes = Passes(rows, memory, penalty)
    found: dict[str, Any] = {}
    later_results: list[Any] = []
    for seed in (1, 2, 3):
        order = next(list_device_orders(VisitingOrders(seed), blocks, None, rows.row, 0))
        taken, _ = seconds(lambda order=order: rows.start(order, bins))
        labels_s, n_slots = seconds(passes.first)
        sums_s, n_members = seconds(lambda n_slots=n_slots: rows.sum_up(n_slots))
        found["first_pass_ms"] = 1e3 * (taken + labels_s)
        found["first_sums_ms"] = 1e3 * sums_s
        later = []
        for _ in range(40 if seed == 3 else 2):
            arguments = (rows, passes, n_members, bins, state, penalties)
            spent, (n_members, n_moved) = seconds(partial(_later, *arguments))
            later.append((round(1e3 * spent, 3), n_moved))
            if n_moved == 0:
                break
        found["later_passes_ms_and_moves"] = later
        found["later_pass_ms"] = float(np.median([ms for ms, _ in later[-10:]]))
    found["n_slots"] = len(n_members)
    rows.start(order, bins)
    found["first_pass_kernels"] = by_kernel(passes.first)
    found["sums_kernels"] = by_kernel(lambda: rows.sum_up(n_slots))
    n_members = rows.sum_up(n_slots)
    for name in ("second_pass_kernels", "third_pass_kernels", "fourth_pass_kernels"):
        arguments = (rows, passes, n_members, bins, state, penalties)
        found[name] = by_kernel(partial(_keep, later_results, arguments))
        n_members = later_results[-1][0]
    found["floors"] = shares(found, floors(n, d, len(n_members), rate))
    return found


def time_blocks(rows_array: Any, penalty: float) -> dict[str, Any]:
    """Time passes over rows that stay in memory, as if the card had no room for them."""
    found: dict[str, Any] = {}
    here = cp.asnumpy(rows_array)
    with blocks_by_bus(here) as blocks:
        times, labels = _few_passes(blocks, penalty)
        found["first_pass_ms"], *found["later_passes_ms"] = times
    found["gb_per_s"] = here.nbytes / 1e6 / min(times[1:])
    found["bits_equal"] = bool((labels == _few_passes(Blocks(rows_array), penalty)[1]).all())
    return found


def _few_passes(blocks: Blocks, penalty: float) -> tuple[list[float], Any]:
    """Return the times of a first pass and of four later ones, in ms, and the labels."""
    n, d = blocks.points.shape
    penalties, state = Penalties(penalty, max_gap=5, reach=1.2), ClusterState.empty(d)
    rows = DeviceRows(blocks, None)
    bins = bins_of_batch(rows.magnitudes(), n, False, state, penalties)
    passes = Passes(rows, Memory.of(state, penalties), penalty)
    order = next(list_device_orders(VisitingOrders(3), blocks, None, rows.row, 0))
    rows.start(order, bins)
    spent, n_slots = seconds(passes.first)
    n_members, times = rows.sum_up(n_slots), [1e3 * spent]
    for _ in range(4):
        arguments = (rows, passes, n_members, bins, state, penalties)
        spent, (n_members, _) = seconds(partial(_later, *arguments))
        times.append(1e3 * spent)
    return times, rows.labels


def floors(n: int, d: int, n_slots: int, rate: float) -> dict[str, float]:
    """Least time of each kernel in ms: its bytes at the speed of a copy, or its products."""
    rows, label = 8.0 * n * d, 4.0 * n
    n_bytes = {
        "grid_compare": rows + label,
        "grid_label": rows + label,
        "grid_attracted": rows + label,
        "label_attracted": 2 * label,
        "label_rest": 3 * label,
        "own_costs": rows + 2 * label,
        "filter": rows + 2 * label,
        "count_labels": label,
        "sort_rows_by_slot": 2 * label,
        "sum_sorted": rows + 2 * label,
    }
    found = {name: size / rate for name, size in n_bytes.items()}
    found["filter"] = max(found["filter"], 2e-9 * n * n_slots * d / 790)
    return found


def shares(kernels_of: dict[str, Any], least: dict[str, float]) -> dict[str, Any]:
    """Which share of its longest run each kernel would need at best for all rows."""
    found: dict[str, Any] = {}
    for stage, times in kernels_of.items():
        for name, spent in times.items() if stage.endswith("_kernels") else ():
            if name in least and spent[2] > found.get(name, {"ms": 0.0})["ms"]:
                share = least[name] / spent[2]
                found[name] = {"ms": spent[2], "floor_ms": least[name], "share": share}
    return found


def _keep(results: list[Any], arguments: tuple[Any, ...]) -> None:
    results.append(_later(*arguments))


def _later(
    rows: Any, passes: Any, n_members: Any, bins: Any, state: ClusterState, penalties: Penalties
) -> Any:
    _, centers, _ = params(rows, n_members, bins, state, penalties)
    slots = Slots.at(centers, n_members, passes.memory)
    compared = rows.compare(slots, penalties.new_penalty)()
    members = passes.later(slots, n_members, compared)
    is_kept = members > 0
    if not is_kept.all():
        rows.keep_slots(is_kept)
    return members[is_kept], len(compared.listed)


def compare_steps(rows_array: Any, penalty: float, n_threads: int) -> dict[str, Any]:
    """Time what a user gets, checks included: `partial_fit` and `predict`; compare every bit.

    Also the deeper search, on the device alone: the tests compare its bits.
    """
    fitted = partial(_fitted, penalty)
    here = cp.asnumpy(rows_array)
    fitted(rows_array)
    fitted(here[: 2**20], backend="gpu")
    on_device, there = seconds(lambda: fitted(rows_array))
    deep, deeper = seconds(lambda: fitted(rows_array, "deep"))
    from_memory, moved = seconds(lambda: fitted(here, backend="gpu"))
    compiled, expected = seconds(lambda: fitted(here, n_threads=n_threads))
    models = {"gpu": (there, rows_array), "gpu_from_memory": (moved, here)}
    known, predicting, is_equal = expected.predict(here[: 2**17]), dict[str, float](), True
    for name, (model, rows) in models.items():
        model.predict(rows[: 2**20])
        spent, labels = seconds(partial(model.predict, rows))
        predicting[f"{name}_predict_ms"] = 1e3 * spent
        is_equal &= np.array_equal(cp.asnumpy(labels[: 2**17]), known)
        is_equal &= np.array_equal(cp.asnumpy(model.labels_), expected.labels_)
        is_equal &= model.state_ == expected.state_ and model.cost_ == expected.cost_
    return {
        "bits_equal": bool(is_equal),
        "n_iter": int(expected.n_iter_),
        "n_clusters": len(np.unique(expected.labels_)),
        "gpu_ms": 1e3 * on_device,
        "gpu_from_memory_ms": 1e3 * from_memory,
        "native_ms": 1e3 * compiled,
        "gpu_deep_ms": 1e3 * deep,
        "deep_cost": float(deeper.cost_ / expected.cost_),
        **predicting,
        "n_threads": n_threads,
        "times_faster": compiled / on_device,
    }


def _fitted(penalty: float, rows: Any, search: str = "paper", **way: Any) -> DynamicMeans:
    options = {"new_penalty": penalty, "max_gap": 5, "reach": 1.2, "random_state": 3}
    return DynamicMeans(**options, search=search, **way).partial_fit(rows)


def time_one_order(rows_array: Any, penalty: float) -> dict[str, Any]:
    """Time one visiting order, from nothing to convergence: the median of seven."""
    fitted = partial(_fitted, penalty, rows_array, n_init=1)
    n_passes = int(fitted().n_iter_)
    taken = [1e3 * seconds(fitted)[0] for _ in range(7)]
    return {"ms": float(np.median(taken)), "all_ms": taken, "n_passes": n_passes}


def where_it_pays(n_threads: int) -> dict[str, Any]:
    """Time `partial_fit` of rows in memory on both, for batches near the limit of "auto"."""
    found: dict[str, Any] = {}
    ways = {"gpu": {"backend": "gpu"}, "native": {"n_threads": n_threads}}
    for n, d in ((10**5, 2), (5 * 10**5, 2), (12_000, 64), (25_000, 16), (60_000, 16)):
        rows_array, penalty = make_rows(n, d, 100)
        rows, times = cp.asnumpy(rows_array), dict[str, float]()
        for name, way in ways.items():
            taken = [seconds(partial(_fitted, penalty, rows, **way))[0] for _ in range(4)]
            times[f"{name}_ms"] = 1e3 * float(np.median(taken[1:]))
        found[f"{n}x{d}"] = times
    return found


def run_case(
    n: int, d: int, n_blobs: int, rate: float, known: set[str]
) -> Iterator[tuple[str, Any]]:
    """Yield what was measured for one shape, under its name, unless it is known."""
    rows_array, penalty = make_rows(n, d, n_blobs)
    # Few features in many overlapping clusters take thousands of passes: part of the rows will do.
    part = rows_array[: 10**5] if 3 < d < 16 else rows_array
    work: dict[str, Callable[[], dict[str, Any]]] = {
        "passes": lambda: time_passes(rows_array, penalty, rate),
        "one_order": lambda: time_one_order(part, penalty),
        "step": lambda: compare_steps(part, penalty, os.cpu_count() or 1),
        "other_ways": lambda: other_ways(rows_array, n_blobs),
    }
    if d in (2, 64):
        work["blocks"] = lambda: time_blocks(rows_array, penalty)
    for name in work:
        if name not in known:
            yield name, work[name]()


def main() -> None:
    """Run all cases and write the results; what is there of the same kernels is not run again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", default="benchmarks/results/gpu/gpu.json")
    options = parser.parse_args()
    properties = cp.cuda.runtime.getDeviceProperties(0)
    rate = copy_rate()
    results: dict[str, Any] = {
        "commit": os.environ.get("DYNMEANS_COMMIT") or _commit(),
        "kernels": sources.digest(),
        "card": properties["name"].decode(),
        "copy_tb_per_s": rate / 1e9,
        "prototype_first_and_later_ms": PROTOTYPE,
    }
    cases = [(10**7, 2, 1000), (10**6, 64, 1000)] if options.quick else []
    cases = cases or [(10**8, 2, 1000), (10**7, 64, 1000), (10**6, 400, 200), (10**6, 8, 300)]
    path = Path(options.results)
    before = json.loads(path.read_text()) if path.exists() else {}
    if all(before.get(name) == results[name] for name in ("kernels", "commit", "card")):
        results = before
    for n, d, n_blobs in cases:
        case = results.setdefault(f"d{d}", {"n": n, "d": d})
        for name, found in run_case(n, d, n_blobs, rate, set(case)):
            case[name] = found
            print(f"d={d} n={n} {name}: {json.dumps(found)}", flush=True)
            path.write_text(json.dumps(results, indent=1) + "\n")
        cp.get_default_memory_pool().free_all_blocks()
    results["where_it_pays"] = where_it_pays(os.cpu_count() or 1)
    print(json.dumps(results["where_it_pays"]), flush=True)
    results["copies_1e8_x_2"] = copies(10**7 if options.quick else 10**8)
    print(json.dumps(results["copies_1e8_x_2"]), flush=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip()


if __name__ == "__main__":
    main()
