"""Where the processor's clock ticks go inside a step of 75 points, 5 clusters and 3 orders.

Run as ``python -m benchmarks.engine.small_parts`` (needs g++ and an x86 processor). The headers of
the engine are copied, a reading of the clock is put after each part, and the steps of one stream
are run many times; printed is the fastest round. Writes benchmarks/results/engine/small_parts.json.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import ClusterState, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.engine.compiled import INSTRUCTION_SET

HERE = Path(__file__).parent
FLAGS = {
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw"],
    "avx2": ["-mavx2"],
    "baseline": [],
}
# The line of passes/small_batch.hpp after which a part ends, and its name.
PARTS = {
    "points_.take(points, sums);": "points by feature, dealt out to bins",
    "slots_.remember(points_, remembered, sums);": "costs of remembered clusters",
    "rank_remembered();": "the two lowest of them for each point",
    "std::copy_n(dormant_costs_, points_.n_padded(), limits_);": "start of an order",
    "visit_those_not_settled();": "first passes: who opens or revives a cluster",
    "slots_.count_members();": "sums after the first passes",
    "slots_.update();": "sums, centers and columns of clusters that changed",
    "find_preferences();": "what each point prefers",
    "const double cost = slots_.cost(new_penalty_);": "cost after each pass",
    "move();": "points that move",
}


def recorded_steps(path: Path) -> int:
    """Write the batches, states and orders of one stream for the compiled program."""
    rng = np.random.default_rng(0)
    batches = moving_gaussians(n_steps=100, n_clusters=5, rng=rng).batches
    penalties, state = Penalties(0.04, max_gap=6.8, reach=1.01), ClusterState.empty(2)
    with path.open("wb") as file:
        for points in batches:
            orders = np.array([rng.permutation(len(points)) for _ in range(3)])
            np.array([len(points), state.n_clusters]).tofile(file)
            for array in (points, orders, state.centers, state.weights, state.ages):
                array.tofile(file)
            state, _ = step(points, state, penalties, orders=orders)
    return len(batches)


def marked_headers(folder: Path) -> None:
    """Copy the engine's headers, with a reading of the clock after each part."""
    shutil.copytree(HERE.parents[1] / "native", folder / "native")
    header = folder / "native" / "passes" / "small_batch.hpp"
    text = header.read_text()
    for number, line in enumerate(PARTS):
        assert text.count(f" {line}\n") == 1, line
        text = text.replace(f" {line}\n", f" {line}\n ticks.end({number});\n")
    header.write_text(text)


def ticks_of_parts(folder: Path, n_steps: int) -> tuple[list[float], float]:
    """Compile the marked engine, run it, and return ticks a step: of each part, and of all."""
    program = folder / "parts"
    command = ["g++", "-std=c++17", "-O3", "-ffp-contract=off", *FLAGS[INSTRUCTION_SET], "-w"]
    sources = [f"-I{folder / 'native'}", str(HERE / "small_parts.cpp"), "-o", str(program)]
    subprocess.run([*command, *sources, "-lpthread"], check=True)
    answer = subprocess.check_output([program, folder / "steps.bin", str(n_steps)])
    *parts, whole = json.loads(answer)
    return parts, whole


def main() -> None:
    """Print the table of small parts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_steps = recorded_steps(folder / "steps.bin")
        marked_headers(folder)
        parts, whole = ticks_of_parts(folder, n_steps)
    named = dict(zip(PARTS.values(), parts, strict=True))
    named["units of the sums, penalties of remembered clusters, what is kept"] = whole - sum(parts)
    for part, ticks in named.items():
        print(f"{ticks:9,.0f} {ticks / whole:5.0%}  {part}")
    print(f"{whole:9,.0f}        in all")
    write_results("engine/small_parts", {"machine": machine(), "ticks": named, "all": whole})


if __name__ == "__main__":
    main()
