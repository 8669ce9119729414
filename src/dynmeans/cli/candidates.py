"""What was tried, to look at: a picture beside the run."""

from collections.abc import Callable
from pathlib import Path

from dynmeans.cli.output import tell
from dynmeans.engine.batch import Batch
from dynmeans.records.suggestion import Suggestion


def candidate_pictures(run: Path) -> Callable[[Suggestion, list[Batch], list[float]], None]:
    """Return what shows the choices that were tried for a run in this folder."""
    return lambda found, batches, elapsed: _show(run, found, batches, elapsed)


def _show(run: Path, found: Suggestion, batches: list[Batch], elapsed: list[float]) -> None:
    from dynmeans.parameters.candidate_data import candidate_data
    from dynmeans.plots.candidates import draw_candidates

    tried = [candidate_data(candidate, batches, elapsed) for candidate in found.examples]
    path = run.with_name(f"{run.name}-choices.png")
    draw_candidates(tried).savefig(path, dpi=120)
    tell(f"what was tried, drawn on the fullest window: {path}")
