"""How the contact threshold and its choice do on given and on generated streams.

Run as ``python -m benchmarks.quality.levels``. Every stream is clustered once; its subclusters are
then joined at each threshold that is tried, and at the one chosen by modularity. Labels are used
for scoring only. Generated streams are of the kinds of `drifting_streams` and `suggest_streams`.
With ``--online`` the generated ones are also named block by block, as they come. Results go to
benchmarks/results/quality/levels.json.
"""

import argparse
import json
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.machine import RESULTS, commit, machine, write_results
from benchmarks.quality.drifting_streams import KINDS, SUITE, make_drifting
from benchmarks.quality.real_streams import SHARED, Row, read_npz
from benchmarks.quality.suggest_streams import FAMILIES, FIRST_TEST_SEED, make_stream
from dynmeans import DynamicMeans
from dynmeans.families.contact import THRESHOLDS
from dynmeans.families.find import build_families
from dynmeans.metrics import accuracy_global, idf1
from dynmeans.records.arrays import FloatArray, IntArray

NAME = "quality/levels"
Stream = tuple[list[FloatArray], list[IntArray]]


def streams(n_seeds: int) -> Iterator[tuple[str, str, Stream]]:
    """Yield group, name and rows of every stream."""
    for path in sorted((SHARED / "real_streams").glob("*.npz")):
        yield "given", path.stem, read_npz(path)
    for seed in range(n_seeds):
        for kind in KINDS:
            yield "drifting", f"{kind} {seed}", make_drifting(kind, seed)
        for family in FAMILIES:
            made = make_stream(family, FIRST_TEST_SEED + seed)
            yield "generated", f"{family} {seed}", (made.batches, made.labels)


def measure(batches: list[FloatArray], true: list[IntArray]) -> Row:
    """Accuracy of subclusters, at each threshold, and at the one chosen."""
    model = DynamicMeans(families=True, random_state=0)
    labels, _ = model.fit_sequence(batches)
    evidence, row = model.memory_.evidence, {"subclusters": accuracy_global(true, labels)}
    for limit in (*THRESHOLDS, None):
        families = build_families(evidence.copied(), threshold=limit)
        found = families.map_labels(labels)
        name = "chosen" if limit is None else f"{limit:g}"
        row[name] = accuracy_global(true, found)
        if limit in (THRESHOLDS[0], None):
            row[f"idf1, {name}"] = idf1(true, found)
    return row


def online(kind: str, seed: int, *, has_outliers: bool) -> dict[str, float]:
    """Mutual information of the names that rows have when they come."""
    batches, true = make_drifting(kind, seed, has_outliers=has_outliers)
    model, parts, joined = DynamicMeans(families=True, random_state=0), [], []
    for batch in batches:
        model.partial_fit(batch)
        parts.append(model.labels_)
        joined.append(model.family_labels_)
    every = np.concatenate(true)
    scores = (adjusted_mutual_info_score(every, np.concatenate(one)) for one in (parts, joined))
    return dict(zip(("subclusters", "clusters"), map(float, scores), strict=True))


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--online", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / f"{NAME}.json"
    results = json.loads(path.read_text()) if path.exists() else {"streams": {}, "online": {}}
    results |= {"machine": machine(), "commit": commit()}
    if options.online:
        for kind in SUITE:
            for has_outliers in (True, False):
                rows = [online(kind, s, has_outliers=has_outliers) for s in range(options.seeds)]
                name = f"{kind}, {'with' if has_outliers else 'without'} outliers"
                results["online"][name] = {k: float(np.mean([r[k] for r in rows])) for k in rows[0]}
                print(
                    name, {k: round(v, 3) for k, v in results["online"][name].items()}, flush=True
                )
                write_results(NAME, results)
        return
    for group, name, stream in streams(options.seeds):
        row = measure(*stream)
        results["streams"].setdefault(group, {})[name] = row
        print(group, name, {k: round(v, 3) for k, v in row.items()}, flush=True)
        write_results(NAME, results)
    for group, rows in results["streams"].items():
        names = next(iter(rows.values()))
        means = {k: round(float(np.mean([row[k] for row in rows.values()])), 3) for k in names}
        print(f"mean of {len(rows)} {group} streams: {means}")


if __name__ == "__main__":
    main()
