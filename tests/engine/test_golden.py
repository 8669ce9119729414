"""Recorded streams replay label for label, through every backend."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dynmeans import ClusterState, Penalties, step

BACKENDS = ["native", "reference", pytest.param("gpu", marks=pytest.mark.gpu)]
DYNMEANS = sorted(Path(__file__).parents[1].joinpath("golden").glob("*.npz"))
# Traces of the authors' own implementation lie beside the checkout where there are any.
AUTHORS = sorted(Path(__file__).parents[3].joinpath("shared", "golden").glob("*.npz"))


def batch_slices(trace):
    offsets = trace["offsets"]
    return [slice(a, b) for a, b in pairwise(offsets)]


def renamed_by_first_use(labels):
    names = {}
    return [names.setdefault(label, len(names)) for label in labels.tolist()]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("path", DYNMEANS, ids=lambda path: path.stem)
def test_our_golden_stream_replays(path, backend):
    trace = dict(np.load(path))
    new_penalty, revival_penalty, drift = trace["penalties"]
    rule = str(trace["revival"])
    penalties = Penalties(new_penalty, revival_penalty=revival_penalty, drift=drift, revival=rule)
    state = ClusterState.empty(trace["points"].shape[1])
    for t, rows in enumerate(batch_slices(trace)):
        state, clustering = step(
            trace["points"][rows],
            state,
            penalties,
            orders=trace["orders"][:, rows],
            elapsed=trace["elapsed"][t],
            sample_weight=trace["sample_weight"][rows],
            backend=backend,
        )
        np.testing.assert_array_equal(clustering.labels, trace["labels"][rows])
        np.testing.assert_allclose(clustering.cost, trace["costs"][t], rtol=1e-12)
        assert clustering.n_iter == trace["n_iter"][t]
    np.testing.assert_allclose(state.centers, trace["centers"], rtol=1e-12)


@pytest.mark.skipif(not AUTHORS, reason="the authors' traces are not beside this checkout")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("path", AUTHORS, ids=lambda path: path.stem)
def test_trace_of_the_authors_implementation_replays(path, backend):
    trace = dict(np.load(path))
    penalties = Penalties(
        float(trace["new_penalty"]),
        revival_penalty=float(trace["revival_penalty"]),
        drift=float(trace["drift"]),
        revival="exact",
    )
    state, labels, costs = ClusterState.empty(trace["points"].shape[1]), [], []
    for rows in batch_slices(trace):
        state, clustering = step(
            trace["points"][rows],
            state,
            penalties,
            orders=trace["orders"][:, rows],
            backend=backend,
        )
        labels.append(clustering.labels)
        costs.append(clustering.cost)
    found, expected = np.concatenate(labels), trace["labels"]
    if trace["n_restarts"] > 1:  # Restarts may tie, and then give other names.
        found, expected = renamed_by_first_use(found), renamed_by_first_use(expected)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(costs, trace["costs"], rtol=1e-9)
