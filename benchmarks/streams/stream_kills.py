"""A thousand kills of producer, broker and run for each kind of stream: is any row lost or doubled?

Run as ``python -m benchmarks.streams.stream_kills [KIND ...] [--kills N]``. Every attack makes a
server, a producer and a run, kills one of the three at random moments 50 times, lets all come to
the end, and compares labels, events, centers and dead letters with those of an unbroken run. The
results file has each attack that was done: run the command again to resume. Kafka's broker is the
mock cluster of its client library, which keeps its log in memory: instead of being killed it goes
down, all its connections are cut, and it comes up again.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import RESULTS, machine, write_results

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from attack.targets.stream_kills import attack_stream

KINDS = ("redis", "kafka", "mqtt", "postgresql")
KILLS_OF_AN_ATTACK = 50
NAME = "streams/stream_kills"


def attacks_of(kind: str) -> list[dict[str, Any]]:
    """Return what was done so far."""
    path = RESULTS / f"{NAME}-{kind}.json"
    return json.loads(path.read_text())["attacks"] if path.exists() else []


def n_kills_of(attacks: list[dict[str, Any]]) -> int:
    """Count the kills of attacks that were held."""
    return sum(sum(one["kills"].values()) for one in attacks if "failure" not in one)


def attack(kind: str, n_kills: int) -> None:
    """Attack until there are so many kills; every attack is in the file once it is done."""
    attacks = attacks_of(kind)
    while n_kills_of(attacks) < n_kills and sum("failure" in one for one in attacks) < 3:
        seed, begin = len(attacks), time.monotonic()
        try:
            done = attack_stream(kind, KILLS_OF_AN_ATTACK, seed)
        except AssertionError as error:
            done = {"kills": {}, "failure": str(error)}
        attacks.append({"seed": seed, **done, "seconds": round(time.monotonic() - begin, 1)})
        write_results(f"{NAME}-{kind}", {"machine": machine(), "attacks": attacks})
        print(told(kind, attacks), flush=True)


def told(kind: str, attacks: list[dict[str, Any]]) -> str:
    """Say in a line what was found."""
    held = [one for one in attacks if "failure" not in one]
    kills = {
        who: sum(one["kills"].get(who, 0) for one in held) for who in ("producer", "broker", "run")
    }
    parts = ", ".join(f"{who} {n:,}" for who, n in kills.items())
    rows, windows, before = (
        sum(one[name] for one in held)
        for name in ("rows", "windows", "windows before the last kill")
    )
    return (
        f"{kind:10} {sum(kills.values()):6,} kills ({parts}); {rows:,} rows, {windows:,} windows, "
        f"{before:,} of them between kills; {len(attacks) - len(held)} attacks not held"
    )


def main() -> int:
    """Attack each kind; fail if a run differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="KIND")
    parser.add_argument("--kills", type=int, default=1000, help="of each kind (default: 1000)")
    options = parser.parse_args()
    for kind in options.kinds:
        attack(kind, options.kills)
    found = {kind: attacks_of(kind) for kind in options.kinds}
    for kind, attacks in found.items():
        print(told(kind, attacks))
    return int(any("failure" in one for attacks in found.values() for one in attacks))


if __name__ == "__main__":
    sys.exit(main())
