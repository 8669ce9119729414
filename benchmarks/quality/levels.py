"""Each constant of joining over a range of values, on given and on generated streams.

Run as ``python -m benchmarks.quality.levels``. Every stream is clustered once; its subclusters are
then joined at each threshold that is tried, at the one chosen by modularity, with other values of
the constants of that choice, and at each of the three levels. Labels are used for scoring only.
Generated streams are of the kinds of `drifting_streams`, `suggest_streams` and `detections`.
With ``--online`` the generated ones are also named block by block, as they come. Results go to
benchmarks/results/quality/levels.json.
"""

import argparse
import json
import warnings
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.compare.detections import SCENES, make_scene
from benchmarks.machine import RESULTS, commit, machine, write_results
from benchmarks.quality.drifting_streams import KINDS, SUITE, make_drifting
from benchmarks.quality.real_streams import SHARED, Row, read_npz
from benchmarks.quality.suggest_streams import FAMILIES, FIRST_TEST_SEED, make_stream
from dynmeans import DynamicMeans
from dynmeans.families import contact, find
from dynmeans.families.contact import THRESHOLDS
from dynmeans.families.evidence import Evidence
from dynmeans.families.find import build_families
from dynmeans.families.levels import Level, find_levels
from dynmeans.families.tree import PairMeasures
from dynmeans.metrics import accuracy_global, idf1
from dynmeans.parameters.single_objects import share_of_objects
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.families import Families

NAME = "quality/levels"
CONSTANTS = {"_N_NEIGHBORS": (3, 5, 8, 12), "_AS_GOOD": (0.0, 0.002, 0.005, 0.02, 0.05)}
NOISE = (0.0, 0.05, 0.1, 0.2, 1.0)  # most points that may be noise
Stream = tuple[list[FloatArray], list[IntArray]]


def streams(n_seeds: int) -> Iterator[tuple[str, str, Stream]]:
    """Yield group, name and rows of every stream; the large ones last."""
    for seed in range(n_seeds):
        for kind in KINDS:
            yield "drifting", f"{kind} {seed}", make_drifting(kind, seed)
        for family in FAMILIES:
            made = make_stream(family, FIRST_TEST_SEED + seed)
            yield "generated", f"{family} {seed}", (made.batches, made.labels)
        for kind in SCENES:
            yield "one row an object", f"{kind} {seed}", make_scene(kind, seed)
    given = {path.stem: path for path in (SHARED / "real_streams").glob("*.npz")}
    for name in sorted(given, key=lambda name: given[name].stat().st_size):
        yield "given", name, read_npz(given[name])


def measure(batches: list[FloatArray], true: list[IntArray]) -> Row:
    """Accuracy at each threshold, at the one chosen, with other constants, and at each level."""
    model = DynamicMeans(families=True, random_state=0)
    labels, _ = model.fit_sequence(batches)
    evidence = model.memory_.evidence
    evidence.settle()

    def score(families: Families) -> float:
        return float(accuracy_global(true, families.map_labels(labels)))

    by_threshold = {t: build_families(evidence, threshold=t) for t in THRESHOLDS}
    row = {"subclusters": accuracy_global(true, labels), "objects": share_of_objects(batches)}
    row |= {f"{t:g}": score(families) for t, families in by_threshold.items()}
    chosen = by_threshold[_chosen(evidence)]
    row |= {"chosen": score(chosen)}
    for name, families in (("8", by_threshold[THRESHOLDS[0]]), ("chosen", chosen)):
        row[f"idf1, {name}"] = idf1(true, families.map_labels(labels))
    for constant, values in CONSTANTS.items():
        for value in values:
            with patch.object(contact, constant, value):
                row[f"{constant} {value:g}"] = score(by_threshold[_chosen(evidence)])
    for share in NOISE:
        with patch.object(find, "_MAX_NOISE", share):
            row[f"noise {share:g}"] = score(build_families(evidence, threshold=_chosen(evidence)))
    levels = find_levels(evidence, chosen)
    row |= {name: _score_level(level, true, labels) for name, level in levels.items()}
    return row | {"best of three levels": max(row[name] for name in levels)}


def _chosen(evidence: Evidence) -> float:
    sizes = find.MIN_CLUSTER_SIZE, find.MIN_LIFE
    return contact.choose_threshold(evidence, PairMeasures.of(evidence), *sizes)


def _score_level(level: Level, true: list[IntArray], labels: list[IntArray]) -> float:
    rows = (np.searchsorted(level.subcluster_ids, batch) for batch in labels)
    return float(accuracy_global(true, [level.cluster_ids[found] for found in rows]))


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
