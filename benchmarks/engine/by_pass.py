"""What each pass of a step takes, as a share of the first one.

Run as ``python -m benchmarks.engine.by_pass`` (needs g++). The headers of the engine are copied, a
reading of the clock is put around each pass, and both steps of a case are run several times on one
thread; each pass counts by its fastest round. Writes benchmarks/results/engine/by_pass.json.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine.cases import CASES, Case
from benchmarks.engine.small_parts import FLAGS
from benchmarks.machine import machine, write_results
from dynmeans.engine.compiled import INSTRUCTION_SET

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "native"
# Without BLAS, so those with few features.
MEASURED = (
    *(case for case in CASES if case.n_features == 2),
    Case("3 features", 1_000_000, 100, 3),
    Case("8 features", 1_000_000, 100, 8),
)
LATE_TO_REACH = 0.05  # passes above five, of a first pass, at 1e6 x 2


def compiled(folder: Path) -> Path:
    """Compile the engine with a reading of the clock around each pass."""
    shutil.copytree(NATIVE, folder / "native")
    header = folder / "native" / "engine" / "cluster.hpp"
    text = header.read_text()
    for line, marked in (
        ("            make_pass(order);\n", "passes_of_run.begin();\nmake_pass(order);\n"),
        (
            "return !fell || !assignment_.has",
            "passes_of_run.end();\nreturn !fell || !assignment_.has",
        ),
    ):
        assert text.count(line) == 1, line
        text = text.replace(line, marked)
    header.write_text(text)
    program = folder / "by_pass"
    flags = ["-std=c++17", "-O3", "-ffp-contract=off", *FLAGS[INSTRUCTION_SET], "-w"]
    sources = [f"-I{folder / 'native'}", str(HERE / "by_pass.cpp"), "-o", str(program)]
    subprocess.run(["g++", *flags, *sources, "-lpthread"], check=True)
    return program


def time_case(case: Case, program: Path, n_rounds: int) -> dict[str, Any]:
    """Return the milliseconds of every pass of both steps."""
    batches, rule = case.batches(), case.penalties
    path = program.parent / "case.bin"
    with path.open("wb") as file:
        np.array([case.n_points, case.n_features, len(batches)]).tofile(file)
        np.array([rule.new_penalty, rule.revival_penalty, rule.drift]).tofile(file)
        for points, order in batches:
            points.tofile(file)
            order.tofile(file)
    steps = json.loads(subprocess.check_output([program, path, str(n_rounds)]))
    return {"name": case.name, "n_points": case.n_points, "ms": steps}


def shares(steps: list[list[float]]) -> dict[str, float]:
    """Mean over the steps: passes by number, and those above five, over the first."""
    found = {}
    for name, part in {"2": slice(1, 2), "3 to 5": slice(2, 5), "later": slice(5, None)}.items():
        taken = [np.mean(ms[part]) / ms[0] for ms in steps if ms[part]]
        if taken:
            found[name] = float(np.mean(taken))
    return found


def main() -> None:
    """Measure every case and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as name:
        program = compiled(Path(name))
        for case in MEASURED:
            row = time_case(case, program, options.rounds)
            row["shares"] = shares(row["ms"])
            found.append(row)
            told = ", ".join(f"{part}: {share:.3f}" for part, share in row["shares"].items())
            first = np.mean([ms[0] for ms in row["ms"]])
            print(f"{case.name:<11} first pass {first:7.2f} ms; of it {told}", flush=True)
    config = {"rounds": options.rounds, "late_to_reach": LATE_TO_REACH}
    write_results("engine/by_pass", {"config": config, "machine": machine(), "cases": found})


if __name__ == "__main__":
    main()
