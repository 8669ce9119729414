"""Single numbers on the pages of measurements.

A results file is named by its folder and name; without a folder it is one of ``quality``.
"""

from typing import Any

from benchmarks.pages.results import find, number, read


def benchmark(file: str, place: str, form: str, factor: str = "1") -> str:
    """Return one number of a results file, in a format, times a factor."""
    return number(_results(file), place, form, factor)


def over(file: str, above: str, below: str, form: str) -> str:
    """Return one number of a results file over another, in a format."""
    return format(find(_results(file), above) / find(_results(file), below), form)


def least_to_most(file: str, place: str, column: str, form: str, factor: str = "1") -> str:
    """Return the least and the most of a column of the rows at a place."""
    values = _column(file, place, column)
    low, high = (format(float(factor) * end(values), form) for end in (min, max))
    return low if low == high else f"{low} to {high}"


def most(file: str, place: str, column: str, form: str) -> str:
    """Return the most of a column of the rows at a place."""
    return format(max(_column(file, place, column)), form)


def motion_streams(kind: str, motion: str = "*") -> str:
    """Count the streams of a kind, or those of them for which a motion is chosen."""
    rows = [row for row in read("quality/motion")["rows"] if row["kind"] == kind]
    return str(sum(motion in ("*", row["motion"]) for row in rows))


def hints_that_change(search: str) -> str:
    """Count real streams on which the true number as hint changes the accuracy with any seed."""
    n_changed, n_all = 0, 0
    for stream in read("quality/real_streams")["streams"].values():
        found: dict[str, dict[str, float]] = {}
        for row, scores in stream["rows"].items():
            told, _, seed = row.partition(f", {search}, ")
            if seed and told in ("label-free", "with the hint"):
                found.setdefault(seed, {})[told] = scores["accuracy"]
        n_changed += any(len(set(of_seed.values())) > 1 for of_seed in found.values())
        n_all += 1
    return f"{n_changed or 'none'} of the {n_all}"


def live_seconds() -> str:
    """Return the least and the most time from a commit to the last reader."""
    seconds = read("streams/live_readers")["seconds"]
    return f"{min(seconds):.2f} to {max(seconds):.2f}"


def guarded() -> str:
    """Return the share of a run that digests and guards take, in percent."""
    shares = read("streams/runs_throughput")["shares"]
    total = sum(shares[kind] for kind in ("digest_of_rows", "other_digests", "guards"))
    return f"{100 * total:.1f}"


FACTS = {
    f.__name__: f
    for f in (
        *(benchmark, over, least_to_most, most, motion_streams),
        *(hints_that_change, live_seconds, guarded),
    )
}


def _results(file: str) -> Any:
    return read(file if "/" in file else f"quality/{file}")


def _column(file: str, place: str, column: str) -> list[float]:
    rows = find(_results(file), place)
    return [row[column] for row in (rows.values() if isinstance(rows, dict) else rows)]
