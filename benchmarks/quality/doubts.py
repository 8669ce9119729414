"""How often the choice of penalties is doubted: on 40 streams made to be right, 20 to be wrong.

Run as ``python -m benchmarks.quality.doubts``. Writes benchmarks/results/quality/doubts.json.
"""

from benchmarks.machine import machine, write_results
from benchmarks.quality.doubt_streams import doubt_streams
from dynmeans import VisitingOrders
from dynmeans.engine.batch import Batch
from dynmeans.parameters.selection import suggest_checked

TO_REACH = {"right, at most": 2, "wrong, at least": 18}


def main() -> None:
    """Choose on every stream, count, print and write."""
    rows = []
    for search in ("paper", "split", "deep"):
        for is_right, kind, batches in doubt_streams():
            orders = VisitingOrders(0, n_init=3, search=search)
            given = [Batch(batch) for batch in batches]
            found = suggest_checked(given, [1.0] * len(given), orders=orders)
            row = {"search": search, "is_right": is_right, "kind": kind}
            rows.append({**row, "doubts": [str(doubt).split(":")[0] for doubt in found.warnings]})
        for is_right in (True, False):
            part = [r for r in rows if r["search"] == search and r["is_right"] is is_right]
            n = sum(bool(row["doubts"]) for row in part)
            word = "right" if is_right else "wrong"
            print(f"{search}: {n} of {len(part)} streams made to be {word} are doubted", flush=True)
            for row in part:
                if bool(row["doubts"]) is is_right:
                    print(f"  {row['kind']}: {row['doubts'] or 'no doubt'}")
    write_results("quality/doubts", {"machine": machine(), "to_reach": TO_REACH, "streams": rows})


if __name__ == "__main__":
    main()
