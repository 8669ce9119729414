"""All comparisons in one go, and a sample of each repeated.

``python -m benchmarks.compare`` measures every row that is missing and, with ``--again dynmeans``,
the rows of dynmeans again: what a change of its defaults needs. A run that was stopped continues.
``--check`` repeats a sample of each table and fails if a digit differs; times may differ.
"""

import argparse
import sys
import warnings
from collections.abc import Callable

from benchmarks.compare import drifting_suite, peers, texts, tracking
from benchmarks.compare.rows import Repeated, Row, Rows, differences
from benchmarks.quality.real_streams import SHARED

TEXTS = SHARED / "text"
TABLES: dict[str, Callable[[Rows], None]] = {
    "drifting_suite": lambda rows: drifting_suite.measure(rows, None, drifting_suite.N_GENERATED),
    "tracking": tracking.measure,
    "peers": lambda rows: peers.measure(rows, []),
    "texts": lambda rows: texts.measure(rows, TEXTS),
}
# Every row of dynmeans, and peers that need no package of their own.
SAMPLE_PEERS = (
    *("BIRCH, K given, best by labels", "Hungarian, tuned"),
    *("HDBSCAN, defaults", "HDBSCAN, all texts at once"),
)
SAMPLE_DATA = ("generated", "given, keystroke", "walkers", "ships", "News-T")
SAMPLE_SEEDS = (0, drifting_suite.FIRST_SEED, tracking.FIRST_SEED)


def is_sampled(key: Row) -> bool:
    """Whether a row is repeated: one seed of small streams of each table, ours and a peer."""
    return (
        key["seed"] in SAMPLE_SEEDS
        and key["method"].startswith(("dynmeans", *SAMPLE_PEERS))
        and key["data"].startswith(SAMPLE_DATA)
    )


def check(table: Repeated) -> list[str]:
    """Repeat the sampled rows of a table and return where they differ from the committed ones."""
    TABLES[table.path.stem](table)
    differing = differences(table.read(), table.repeated)
    print(
        f"{table.path.stem}: {len(table.repeated)} rows repeated", *differing, sep="\n", flush=True
    )
    return differing


def main() -> None:
    """Measure, or check a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", help="measure rows again whose method has this in its name")
    parser.add_argument("--only", default="", help="only rows that have this in data or method")
    parser.add_argument("--check", action="store_true", help="repeat a sample of each table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in TABLES if name != "texts" or TEXTS.exists()]
    if not options.check:
        for name in names:
            TABLES[name](Rows(name, options.again, options.only))
        return
    differing = [line for name in names for line in check(Repeated(name, is_sampled))]
    if not differing:
        print("The sample is as committed, to the digit.")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
