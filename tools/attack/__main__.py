"""`make attack`: run every target for its share of the time, resume where the last run stopped.

A case is repeated by its number: ``python -m attack --target state --case 1234``.
"""

import argparse
import sys
from pathlib import Path

from attack.campaign import run_slice
from attack.journal import Journal
from attack.targets import TARGETS, Loaded


def main(words: list[str] | None = None) -> int:
    """Return 0 when nothing failed."""
    options = _options(words)
    names = options.target or list(TARGETS)
    if options.case is not None:
        target = Loaded(names[0])
        with target.ready() as attack:
            attack(target.rng(options.seed, options.case))
        print(f"{names[0]} case {options.case}: held")
        return 0
    journal = Journal(Path(options.journal), options.seed)
    shares = {name: TARGETS[name].share for name in names}
    for _ in range(options.rounds):
        for name in names:
            seconds = 60 * options.minutes / options.rounds * shares[name] / sum(shares.values())
            first = journal.next_case(name)
            n_cases = 1 << 60 if options.cases is None else options.cases - first
            outcome = run_slice(name, options.seed, first, seconds, n_cases)
            journal.add(name, outcome)
            print(journal.line(name, outcome), flush=True)
            for failure in outcome.failures[:3]:
                print(f"  case {failure.case}: {failure.summary}", flush=True)
    print(journal.summary())
    return 1 if journal.n_failed_now else 0


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="time of all targets together")
    parser.add_argument("--rounds", type=int, default=2, help="how often each target has its turn")
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="default: all")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other cases")
    parser.add_argument("--cases", type=int, help="of each target and seed; without end by default")
    parser.add_argument("--case", type=int, help="repeat one case of one target, and see it fail")
    parser.add_argument("--journal", default="build/attack", help="folder of what was tried so far")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
