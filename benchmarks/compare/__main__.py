"""All comparisons in one go, and a sample of each repeated.

``python -m benchmarks.compare`` measures every row that is missing and, with ``--again dynmeans``,
the rows of dynmeans again: what a change of its defaults needs (about ten minutes of one core).
``--check`` repeats a sample of each table and fails if a digit differs; times may differ.
"""

import argparse
import sys
import warnings

from benchmarks.compare import drifting_suite, peers, texts, tracking
from benchmarks.compare.rows import Repeated, Row, Rows, differences
from benchmarks.quality.real_streams import SHARED

TEXTS = SHARED / "text"
SAMPLE_METHODS = (
    *("dynmeans, online", "dynmeans, online, defaults", "dynmeans, nothing given"),
    *("dynmeans, 16 parts", "BIRCH, K given, best by labels", "Hungarian, tuned"),
    *("HDBSCAN, defaults", "HDBSCAN, all texts at once"),
)


def is_sampled(key: Row) -> bool:
    """Whether a row is repeated: one seed of one stream in each table, ours and a peer."""
    small = ("generated, base", "walkers", "News-T")
    return (
        key["seed"] in (0, drifting_suite.FIRST_SEED)
        and key["method"] in SAMPLE_METHODS
        and key["data"].startswith(small)
    )


def measure(make: type[Rows] | type[Repeated], *given: object) -> list[Rows]:
    """Go through the rows of every table."""
    tables = [make(name, *given) for name in ("drifting_suite", "tracking", "peers", "texts")]
    suite, tracks, clusterers, topics = tables
    drifting_suite.measure(suite, None, drifting_suite.N_GENERATED)
    tracking.measure(tracks)
    peers.measure(clusterers, [])
    if TEXTS.exists():
        texts.measure(topics, TEXTS)
    return tables


def check() -> list[str]:
    """Return where a sample of the rows differs from the committed ones."""
    found: list[str] = []
    for table in measure(Repeated, is_sampled):
        repeated = table.repeated
        print(f"{table.path.stem}: {len(repeated)} rows repeated", flush=True)
        found += differences(table.read(), repeated)
    return found


def main() -> None:
    """Measure, or check a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", help="measure rows again whose method has this in its name")
    parser.add_argument("--only", default="", help="only rows that have this in data or method")
    parser.add_argument("--check", action="store_true", help="repeat a sample of each table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.check:
        measure(Rows, options.again, options.only)
        return
    differing = check()
    print("\n".join(differing) or "The sample is as committed, to the digit.")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
