"""The cosine below which a vector starts a cluster, as chosen on the first rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import normalized_mutual_info_score

import dynmeans
from benchmarks.compare.embeddings import _BASE, KINDS, embeddings
from dynmeans import DynamicMeans
from dynmeans.records.suggestion import SuggestionWarning


def fit(rows, n_batches=6, **options):
    model = DynamicMeans(
        space="cosine:centered", search="paper", n_init=1, random_state=0, **options
    )
    labels, _ = model.fit_sequence(np.array_split(rows, n_batches))
    return np.concatenate(labels), model


def cosine_of(model):
    return 1.0 - model.penalties_.new_penalty / 2.0


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        ("384 features, 40 clusters, cosine 0.6", 0.98),
        ("64 features", 0.95),
        ("3 clusters", 0.95),
        ("300 clusters", 0.97),
        ("cosine 0.9", 0.98),
        ("cosine 0.4", 0.9),
        ("a common direction", 0.98),
        ("sizes as 1 / rank", 0.95),
        ("clusters in groups of 5", 0.85),
        ("few strong axes", 0.7),
        ("all of these", 0.8),
    ],
)
@pytest.mark.filterwarnings("error::dynmeans.records.suggestion.SuggestionWarning")
def test_clusters_of_generated_embeddings_are_found_by_default(kind, least):
    rows, truth = embeddings(**(_BASE | KINDS[kind]), seed=7)
    assert normalized_mutual_info_score(truth, fit(rows)[0]) >= least


def test_rows_without_groups_give_an_answer_and_a_warning():
    rows, _ = embeddings(**(_BASE | {"n_clusters": 1}), seed=1)
    with pytest.warns(SuggestionWarning, match="the rows form no clear groups"):
        labels, _ = fit(rows)
    assert len(labels) == len(rows)


@pytest.mark.parametrize("rows", [np.ones((50, 4)), np.eye(4)])
def test_rows_that_say_nothing_get_the_usual_cosine_and_a_warning(rows):
    model = DynamicMeans(space="cosine", search="paper", n_init=1, random_state=0)
    with pytest.warns(SuggestionWarning, match="too few, or too similar, to learn a scale"):
        model.fit(rows)
    assert cosine_of(model) == pytest.approx(0.3)


def test_the_choice_does_not_depend_on_the_order_of_rows_nor_on_later_batches():
    rows, _ = embeddings(**(_BASE | {"n_rows": 8_000, "n_features": 32}), seed=3)
    found = [fit(part, 4)[1] for part in (rows, np.concatenate([rows, -rows]))]
    turned = [part[::-1] for part in np.array_split(rows, 4)]
    model = DynamicMeans(space="cosine:centered", search="paper", n_init=1, random_state=0)
    model.fit_sequence(turned)
    assert model.penalties_ == found[0].penalties_


def test_clusters_that_are_born_later_are_found():
    rows, truth = embeddings(**(_BASE | {"n_rows": 6_000, "n_features": 128}), seed=5)
    order = np.argsort((truth >= 20) & (np.arange(6_000) >= 0), kind="stable")
    labels, _ = fit(rows[order], 8)
    assert normalized_mutual_info_score(truth[order], labels) >= 0.95


def test_sparse_rows_of_few_shared_columns_are_no_clusters_of_one():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    truth = rng.integers(30, size=2_000)
    dense = np.zeros((2_000, 3_000), np.float32)
    for row, topic in enumerate(truth):
        dense[row, topic * 40 + rng.choice(40, 5, replace=False)] = rng.uniform(1, 3, 5)
        dense[row, rng.choice(np.arange(1_200, 3_000), 3, replace=False)] = rng.uniform(1, 3, 3)
    matrix = scipy_sparse.csr_array(dense)
    frame = pd.DataFrame({"part": np.arange(2_000) // 500})
    found = dynmeans.cluster(frame, features=matrix, window_column="part")
    assert normalized_mutual_info_score(truth, found.labels) >= 0.85
    assert found.labels.nunique() <= 60
    model = DynamicMeans(space="cosine", search="paper", n_init=1, random_state=0)
    assert len(np.unique(model.fit(matrix).labels_)) <= 300


def test_a_number_that_is_asked_for_chooses_the_cosine():
    rows, _ = embeddings(**(_BASE | {"n_features": 64}), seed=2)
    few, many = (len(np.unique(fit(rows, 1, n_clusters=n)[0])) for n in (20, 60))
    assert 14 <= few <= 27
    assert 44 <= many <= 80


@pytest.mark.parametrize("n_clusters", [None, 12])
def test_one_call_shows_vectors_in_clusters_or_in_the_number_asked_for(n_clusters):
    rows, truth = embeddings(**(_BASE | {"n_features": 64, "n_rows": 2_000}), seed=4)
    frame = pd.DataFrame({"part": np.arange(2_000) // 500})
    found = dynmeans.cluster(frame, features=rows, window_column="part", n_clusters=n_clusters)
    if n_clusters is not None:
        assert found.labels.nunique() == len(found.clusters) == 12
        assert found.summary().startswith("2,000 rows in 4 windows")
        assert "12 clusters" in found.summary()
        return
    assert normalized_mutual_info_score(truth, found.labels) >= 0.93
    assert found.labels.nunique() <= 60
    assert set(found.levels) == {"fine", "default", "coarse"}
