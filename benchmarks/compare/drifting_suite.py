"""The public suite of drifting streams (Iglesias and Zseby), or generated sets of its kinds.

Run as ``python -m benchmarks.compare.drifting_suite FOLDER`` with a checkout of
CN-TU/py-temporal-silhouette, whose 80 sets are in dataS/<kind>/arff; without a folder, sets are
generated. Protocol of the suite: blocks of 200 rows, AMI over all rows of a set, outliers are one
class; once as the sets are and once without their outliers. Every method names a row when its block
came, except "dynmeans, hindsight". BIRCH checks the protocol: its AMI is compared with that in
results/results_synthetic.csv of the checkout. Its threshold suits the units of the public sets; on
generated ones it is the best of five by labels. Writes results/compare/drifting_suite.json.
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.io.arff import loadarff
from sklearn.cluster import Birch
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.compare.ours import Labels, name_in_hindsight, name_online
from benchmarks.compare.rows import Row, Rows
from benchmarks.quality.drifting_streams import SUITE, make_drifting
from dynmeans.records.arrays import FloatArray, IntArray

BLOCK, OUTLIER = 200, -1
N_GENERATED, N_PUBLIC = 8, 20  # sets of a kind
FIRST_SEED = 1000  # of generated sets; smaller ones are for development
# Kinds of the suite by the names in its results, with and without ("-r") outliers.
GROUPS = {"base": "base", "moving": "mov", "sequential": "seq", "nonstat": "nonst"}
Set = tuple[list[FloatArray], list[IntArray]]
METHODS: dict[str, Callable[[list[FloatArray], int, int], Labels]] = {
    "dynmeans, online": lambda batches, seed, k: name_online(batches, seed),
    "dynmeans, hindsight": lambda batches, seed, k: name_in_hindsight(batches, seed),
    "BIRCH, K given": lambda batches, seed, k: birch(batches, k),
}
BEST_BIRCH = "BIRCH, K given, best by labels"
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.5)
METHODS_OF = {
    "public": tuple(METHODS),
    "generated": ("dynmeans, online", "dynmeans, hindsight", BEST_BIRCH),
}


def read_arff(path: Path) -> Set:
    """Return blocks of rows and their labels; class 0 of the suite is outliers."""
    table, _ = loadarff(path)
    *features, label = table.dtype.names
    points = np.column_stack([table[name].astype(np.float64) for name in features])
    labels = table[label].astype(np.float64).astype(np.int64)
    return _blocks(points, np.where(labels == 0, OUTLIER, labels))


def without_outliers(batches: list[FloatArray], true: list[IntArray]) -> Set:
    """Return the rows of clusters, in new blocks."""
    points, labels = np.concatenate(batches), np.concatenate(true)
    return _blocks(points[labels != OUTLIER], labels[labels != OUTLIER])


def _blocks(points: FloatArray, labels: IntArray) -> Set:
    cuts = np.arange(BLOCK, len(points), BLOCK)
    return np.split(points, cuts), np.split(labels, cuts)


def birch(batches: list[FloatArray], n_clusters: int, threshold: float = 0.5) -> Labels:
    """Learn each block, then predict it; the default threshold is that of the suite."""
    model = Birch(n_clusters=n_clusters, threshold=threshold)
    return [model.partial_fit(batch).predict(batch) for batch in batches]


def score(method: str, batches: list[FloatArray], true: list[IntArray], seed: int) -> Row:
    """Return the AMI over all rows and how many names there are."""
    labels = np.concatenate(true)
    n_clusters = len(np.unique(labels[labels != OUTLIER]))
    if method == BEST_BIRCH:
        tried = [birch(batches, n_clusters, threshold) for threshold in THRESHOLDS]
    else:
        tried = [METHODS[method](batches, seed, n_clusters)]
    scores = [float(adjusted_mutual_info_score(labels, np.concatenate(one))) for one in tried]
    best = int(np.argmax(scores))
    found = np.concatenate(tried[best])
    chosen = {"threshold": THRESHOLDS[best]} if method == BEST_BIRCH else {}
    return {
        "ami": scores[best],
        "n_clusters": n_clusters,
        "n_found": len(np.unique(found[found >= 0])),
        **chosen,
    }


def sets_of(folder: Path | None, n_sets: int) -> Iterator[tuple[str, str, int, Callable[[], Set]]]:
    """Return origin, kind, number and reader of every set."""
    for kind in SUITE:
        if folder is None:
            for seed in range(FIRST_SEED, FIRST_SEED + n_sets):
                yield (
                    "generated",
                    kind,
                    seed,
                    lambda kind=kind, seed=seed: make_drifting(kind, seed),
                )
            continue
        paths = {_number(path): path for path in (folder / "dataS" / kind).rglob("*.arff")}
        for number in sorted(paths)[:n_sets]:
            yield "public", kind, number, lambda path=paths[number]: read_arff(path)


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def read_published(folder: Path) -> dict[tuple[str, int, str], float]:
    """Return the published AMI by group, number of the set and algorithm."""
    path = folder / "results" / "results_synthetic.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            (row["group"], _number(Path(row["filename"])), row["algorithm"]): float(row["AMI"])
            for row in csv.DictReader(file)
        }


def check_protocol(rows: list[Row], published: dict[tuple[str, int, str], float]) -> list[str]:
    """Return where BIRCH differs from the published figure by half a thousandth and more."""
    found = []
    for row in rows:
        group = GROUPS[row["kind"]] + ("" if row["has_outliers"] else "-r")
        theirs = published.get((group, row["seed"], "BIRCH"))
        is_compared = row["origin"] == "public" and row["method"].startswith("BIRCH")
        if is_compared and theirs is not None and abs(theirs - row["ami"]) >= 5e-4:
            found.append(f"{row['data']}, set {row['seed']}: {row['ami']}, published {theirs:.4f}")
    return found


def measure(rows: Rows, folder: Path | None, n_sets: int) -> None:
    """Measure the rows that are not there."""
    for origin, kind, seed, read in sets_of(folder, n_sets):
        whole = read()
        for has_outliers in (True, False):
            batches, true = whole if has_outliers else without_outliers(*whole)
            data = f"{origin}, {kind}, {'with' if has_outliers else 'without'} outliers"
            facts = {"origin": origin, "kind": kind, "has_outliers": has_outliers}
            for method in METHODS_OF[origin]:
                rows.measure(
                    {"data": data, "seed": seed, "method": method, **facts},
                    lambda method=method, batches=batches, true=true: score(
                        method, batches, true, 0
                    ),
                )


def main() -> None:
    """Measure what is not there, print the means and check the protocol."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="checkout of the suite")
    parser.add_argument("--sets", type=int, help="sets of a kind (20 of the suite, 8 generated)")
    parser.add_argument("--again", help="measure rows again whose method has this in its name")
    parser.add_argument("--only", default="", help="only rows that have this in data or method")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = Rows("drifting_suite", options.again, options.only)
    measure(
        rows, options.folder, options.sets or (N_GENERATED if options.folder is None else N_PUBLIC)
    )
    print_means(rows.read())
    if options.folder is not None:
        report_protocol(rows.read(), read_published(options.folder))


def report_protocol(rows: list[Row], published: dict[tuple[str, int, str], float]) -> None:
    """Print whether BIRCH has the published figures, and the published means."""
    if not published:
        print("protocol not checked: no results/results_synthetic.csv in the folder")
        return
    differing = check_protocol(rows, published)
    print("\n".join(differing) or "BIRCH: the published figures, to three digits")
    for group, algorithm in dict.fromkeys((group, name) for group, _, name in published):
        values = [v for (g, _, a), v in published.items() if (g, a) == (group, algorithm)]
        print(f"published, {group}, {algorithm}: {np.mean(values):.3f}")


def print_means(rows: list[Row]) -> None:
    """Print the mean over the sets of each kind."""
    for data, method in dict.fromkeys((row["data"], row["method"]) for row in rows):
        values = [row["ami"] for row in rows if (row["data"], row["method"]) == (data, method)]
        print(f"{data}, {method}: {np.mean(values):.3f} ({len(values)} sets)")


if __name__ == "__main__":
    main()
