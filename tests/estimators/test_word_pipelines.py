"""Texts in scikit-learn: vectors of words and clusters, in a pipeline and batch by batch."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import dynmeans
from benchmarks.quality.headlines import headlines
from dynmeans import DynamicMeans, WordVectors


@pytest.fixture(scope="module")
def news():
    frame = headlines(1_200, n_topics=5, n_weeks=12, seed=3)[0]
    frame.loc[[3, 700], "headline"] = ["12 ...", ""]
    return frame


def model():
    return DynamicMeans(space="words", n_init=1, search="paper", random_state=0)


def test_batch_by_batch_gives_the_labels_of_one_call(news):
    found = dynmeans.cluster(news, text="headline", time="when", every="1w")
    vectors, clusters, labels = WordVectors(), model(), []
    for _, texts in news.groupby(news["when"].dt.to_period("W"))["headline"]:
        rows = vectors.fit_transform_batch(texts)
        labels += clusters.partial_fit(rows).labels_.tolist()
    assert labels == found.labels.tolist()
    assert np.flatnonzero(np.array(labels) < 0).tolist() == [3, 700]


def test_a_pipeline_fits_predicts_and_scores_texts(news):
    pipeline = make_pipeline(WordVectors(), model())
    texts = news["headline"].tolist()
    labels = pipeline.fit(texts)[-1].labels_
    np.testing.assert_array_equal(pipeline.predict(texts), labels)
    assert labels[3] == labels[700] == -1
    assert np.isfinite(pipeline.score(texts))


def test_steps_of_a_pipeline_learn_from_further_batches(news):
    pipeline = make_pipeline(WordVectors(), model())
    first, second = news["headline"][:600].tolist(), news["headline"][600:].tolist()
    pipeline.fit(first)
    pipeline[-1].partial_fit(pipeline[0].partial_fit(second).transform(second))
    labels = pipeline[-1].labels_
    assert (labels >= 0).sum() == len(second) - 1
    np.testing.assert_array_equal(pipeline.predict(second), labels)


def test_a_batch_without_any_word_is_noise_and_lets_time_pass():
    clusters, vectors = model(), WordVectors()
    clusters.partial_fit(vectors.fit_transform_batch(["storm flood", "storm rain"]))
    clusters.partial_fit(vectors.fit_transform_batch(["...", "12"]))
    assert clusters.labels_.tolist() == [-1, -1]
    assert clusters.n_steps_ == 2


def test_other_spaces_refuse_rows_of_zeros_as_before():
    with pytest.raises(ValueError, match="not all zeros"):
        DynamicMeans(space="cosine").fit(np.array([[1.0, 0.0], [0.0, 0.0]]))
