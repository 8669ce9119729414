"""Says which results files were measured before the engine last changed; measures nothing.

Run as ``python -m benchmarks.pages.age``; ``make bench`` ends with it. Only files that depend on
the engine's workers or on its GPU kernels count changes to those.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WORKERS, KERNELS = "src/dynmeans/engine/dask", "src/dynmeans/engine/gpu"
ENGINE = ["native", "src/dynmeans/engine"]
USES = {"distributed": WORKERS, "message_counts": WORKERS, "gpu": KERNELS}


def report(root: Path) -> str:
    """Return one line that names the files that are older, the oldest first."""
    older = {
        path.stem: n
        for path in sorted((root / "benchmarks" / "results").rglob("*.json"))
        if (n := n_changes_since(root, path))
    }
    if not older:
        return "no results file is older than the engine"
    told = ", ".join(f"{name} ({n})" for name, n in sorted(older.items(), key=lambda one: -one[1]))
    return f"older than the engine, with the number of changes since: {told}"


def n_changes_since(root: Path, path: Path) -> int:
    """Count commits to what a results file depends on since it was measured."""
    unused = [f":!{folder}" for folder in (WORKERS, KERNELS) if folder != USES.get(path.stem)]
    begin = measured_at(json.loads(path.read_text()))
    if begin is None or git(root, "cat-file", "-e", f"{begin}^{{commit}}") is None:
        begin = git(root, "log", "-1", "--format=%h", "--", str(path))  # when it was committed
    span = f"{begin}..HEAD" if begin else "HEAD"
    return int(git(root, "rev-list", "--count", "--no-merges", span, "--", *ENGINE, *unused) or 0)


def measured_at(results: Any) -> str | None:
    """Return the commit that a results file names."""
    if not isinstance(results, dict):
        return None
    places = (results, results.get("machine", {}), results.get("about", {}))
    return next((place["commit"] for place in places if "commit" in place), None)


def git(root: Path, *words: str) -> str | None:
    """Return what git prints; None where it fails."""
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    return None if done.returncode else done.stdout.strip()


if __name__ == "__main__":
    print(report(ROOT))
