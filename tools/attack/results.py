"""Write one small results file per target from the journals: ``python -m attack.results``.

A file has the cases and inputs that were tried, the failures, the commit and the day. Journals lie
in the checkout that was attacked, so its commit is theirs.
"""

import argparse
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "attack"


def write_results(journals: Path, folder: Path) -> list[str]:
    """Write the files; return the names of the targets."""
    folder.mkdir(parents=True, exist_ok=True)
    found = collect(journals)
    for name, counts in found.items():
        (folder / f"{name}.json").write_text(json.dumps(counts, indent=1) + "\n")
    return sorted(found)


def collect(journals: Path) -> dict[str, dict[str, Any]]:
    """Return the counts of every target that was tried, summed over seeds."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(journals.glob("journal-*.json")):
        day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
        for name, counts in json.loads(path.read_text()).items():
            if not counts["tried"]:
                continue
            one = found.setdefault(name, {"cases": 0, "inputs": 0, "failures": 0, "seconds": 0.0})
            one["cases"] += counts["next_case"]
            one["inputs"] += counts["tried"]
            one["failures"] += counts["failed"]
            one["seconds"] = round(one["seconds"] + counts["seconds"], 1)
            one["commit"] = _commit(journals)
            one["date"] = max(day, one.get("date", day))
    return found


def _commit(folder: Path) -> str:
    words = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="attack.results", description=__doc__)
    parser.add_argument("--journal", default="build/attack", help="folder of the journals")
    print("written:", ", ".join(write_results(Path(parser.parse_args().journal), RESULTS)))
