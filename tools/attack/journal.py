"""What was tried so far, in a file that the next run goes on from."""

import json
import os
from pathlib import Path
from typing import Any

from attack.campaign import Outcome


class Journal:
    """Counts for each target and seed, and a line for each failure."""

    def __init__(self, folder: Path, seed: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"journal-{seed}.json"
        self._failures = folder / "failures.jsonl"
        self._counts: dict[str, dict[str, Any]] = (
            json.loads(self._path.read_text()) if self._path.exists() else {}
        )
        self.n_failed_now = 0

    def next_case(self, name: str) -> int:
        """Return the first case that was not tried yet."""
        return int(self._counts.get(name, {}).get("next_case", 0))

    def add(self, name: str, outcome: Outcome) -> None:
        """Count one slice and put it on disk."""
        counts = self._counts.setdefault(name, {"tried": 0, "failed": 0, "seconds": 0.0})
        counts["tried"] += outcome.n_tried
        counts["failed"] += len(outcome.failures)
        counts["seconds"] = round(counts["seconds"] + outcome.seconds, 1)
        counts["next_case"] = outcome.next_case
        if outcome.note:
            counts["note"] = outcome.note
        self.n_failed_now += len(outcome.failures)
        with open(self._failures, "a") as file:
            for failure in outcome.failures:
                file.write(json.dumps({"target": name, **failure._asdict()}) + "\n")
        unfinished = self._path.with_suffix(".new")
        unfinished.write_text(json.dumps(self._counts, indent=1))
        os.replace(unfinished, self._path)

    def line(self, name: str, outcome: Outcome) -> str:
        """Say what one slice did, and what all have done."""
        counts = self._counts[name]
        note = f"  ({outcome.note})" if outcome.note else ""
        return (
            f"{name:12} tried {outcome.n_tried:>9,} failed {len(outcome.failures):>3}"
            f"   in all {counts['tried']:>11,} failed {counts['failed']:>3}{note}"
        )

    def summary(self) -> str:
        """Add up all targets."""
        tried = sum(counts["tried"] for counts in self._counts.values())
        failed = sum(counts["failed"] for counts in self._counts.values())
        return f"in all: tried {tried:,}, failed {failed:,}; this run failed {self.n_failed_now:,}."
