"""Random streams for the engine in JavaScript, and what the compiled module finds in them."""

import numpy as np

from dynmeans import Penalties
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.sequence import step_sequence
from dynmeans.records.orders import VisitingOrders


def random_stream(seed):
    """Return one stream as JSON values: moving blobs, or a lattice where distances tie."""
    rng = np.random.default_rng(seed)
    d, n_clusters = int(rng.integers(1, 6)), int(rng.integers(1, 12))
    centers = rng.normal(size=(n_clusters, d)) * 4
    batches = []
    for _ in range(int(rng.integers(1, 8))):
        n = int(rng.choice([0, 1, 7, 60, 300, 900]))
        points = centers[rng.integers(n_clusters, size=n)] + rng.normal(size=(n, d)) * 0.3
        batches.append(np.rint(2 * points) / 2 if seed % 3 == 0 else points)
        centers = centers + rng.normal(size=centers.shape) * 0.1
    return {
        "nFeatures": d,
        "batches": [batch.ravel().tolist() for batch in batches],
        "elapsed": rng.choice([1.0, 1.0, 0.5, 3.25], size=len(batches)).tolist(),
        "penalties": {
            "newPenalty": float(rng.choice([0.3, 1.0, 6.0]) * d),
            "maxGap": float(rng.choice([1.5, 4.0, 6.8])),
            "reach": float(rng.choice([1.0, 1.2, 3.0])),
            "revival": str(rng.choice(["paper", "exact"])),
            "motion": str(rng.choice(["random_walk", "constant_velocity"])),
        },
        "options": {
            "nInit": int(rng.integers(1, 4)),
            "randomState": int(rng.integers(2**32)),
            "search": str(rng.choice(["paper", "split", "deep"])),
        },
    }


def random_sphere_stream(seed):
    """Return one stream of unit rows, with centers on the unit sphere."""
    stream, rng = random_stream(seed), np.random.default_rng(seed)
    d = stream["nFeatures"] = int(rng.choice([1, 2, 3, 5, 8, 17, 40]))
    topics = rng.normal(size=(int(rng.integers(1, 12)), d))
    batches = []
    for batch in stream["batches"]:
        n = min(len(batch), 300)
        rows = topics[rng.integers(len(topics), size=n)]
        rows = rows + rng.choice([0.1, 0.6]) * rng.normal(size=(n, d))
        if seed % 3 == 0:
            rows = np.rint(rows) + (np.rint(rows) == 0).all(axis=1)[:, None]
        batches.append((rows / np.linalg.norm(rows, axis=1, keepdims=True)).ravel().tolist())
    cosine = float(rng.uniform(-0.2, 0.95))
    changes = {"newPenalty": 2 * (1 - cosine), "motion": "random_walk", "centers": "sphere"}
    penalties = stream["penalties"] | changes
    options = stream["options"] | {"search": "paper"}
    return stream | {"batches": batches, "penalties": penalties, "options": options}


def found_here(stream):
    """Return what the compiled module finds, as the columns that JavaScript prints."""
    d, given = stream["nFeatures"], stream["penalties"]
    penalties = Penalties(
        given["newPenalty"],
        max_gap=given["maxGap"],
        reach=given["reach"],
        revival=given["revival"],
        motion=given["motion"],
    ).with_centers(given.get("centers", "mean"))
    options = stream["options"]
    entropy = compiled.entropy_of_seed(options["randomState"])
    orders = VisitingOrders(entropy, options["nInit"], search=options["search"])
    batches = [Batch(np.array(b).reshape(-1, d), None) for b in stream["batches"]]
    steps = []
    for state, clustering in step_sequence(batches, penalties, orders, stream["elapsed"]):
        velocities = [] if state.velocities is None else state.velocities
        columns = (
            *(clustering.labels, clustering.ids, clustering.counts, clustering.centers),
            *(clustering.cost_trace, state.ids, state.centers, state.weights, state.ages),
            *(state.counts, velocities),
        )
        steps.append([np.ravel(column).astype(float).tolist() for column in columns])
    return {"steps": steps, "next": int(state.next_id)}
