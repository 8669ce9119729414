"""Sparse rows: the same projection for every batch and machine, and cosines that it keeps."""

import hashlib

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, random_array

import dynmeans
from dynmeans import DPMeans, DynamicMeans, WordVectors
from dynmeans.inputs.input_error import InputError
from dynmeans.spaces.sparse_rows import N_COORDINATES, project_rows

pd = pytest.importorskip("pandas")


def documents(seed=0, n=400, n_columns=5_000, n_topics=4):
    """Counts of words: each topic has words of its own, and each row forty of them."""
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(1).permutation(n_columns)[: n_topics * 20].reshape(n_topics, 20)
    truth = rng.integers(n_topics, size=n)
    columns = topics[truth[:, None], rng.integers(20, size=(n, 40))]
    rows = np.repeat(np.arange(n), 40)
    counts = coo_array((np.ones(40 * n), (rows, columns.ravel())), shape=(n, n_columns))
    return csr_array(counts), truth


def test_columns_become_signs_by_the_hash_of_their_number():
    projected = project_rows("X", csr_array(([3.0], ([0], [4_321])), shape=(1, 5_000)))
    bits = np.unpackbits(
        np.frombuffer(hashlib.shake_128((4_321).to_bytes(8, "little")).digest(128), np.uint8)
    )
    assert projected.dtype == np.float32
    assert (projected[0] * 32 / 3).tolist() == np.where(bits == 1, 1.0, -1.0).tolist()


def test_projection_keeps_cosines():
    rows = random_array((60, 20_000), density=0.01, rng=np.random.default_rng(0)).tocsr()
    rows = csr_array(rows + 0.5 * rows[np.roll(np.arange(60), 1)])
    exact, kept = rows.toarray(), project_rows("X", rows).astype(float)
    for points in (exact, kept):
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    error = (exact @ exact.T - kept @ kept.T)[np.triu_indices(60, 1)]
    assert np.abs(error).std() < 1.2 / np.sqrt(N_COORDINATES)
    assert np.abs(error).max() < 6 / np.sqrt(N_COORDINATES)


def test_few_columns_are_taken_as_they_are():
    rows = random_array((30, 1024), density=0.1, rng=np.random.default_rng(0)).tocsr()
    np.testing.assert_array_equal(project_rows("X", rows), rows.toarray().astype(np.float32))


def shuffled_within_rows(rows):
    """The same matrix with its values in another order, and one value in two parts."""
    parts = coo_array(rows)
    where = np.random.default_rng(0).permutation(parts.nnz)
    data = np.append(parts.data[where], [1.0, 1.0])
    data[0] -= 2.0
    at = [np.append(axis[where], [axis[where[0]]] * 2) for axis in parts.coords]
    return csr_array((data, tuple(at)), shape=rows.shape)


@pytest.mark.parametrize(
    "kind", [csr_matrix, csc_array, coo_array, shuffled_within_rows], ids=lambda kind: kind.__name__
)
def test_every_format_and_order_of_values_gives_the_same_bits(kind):
    rows = documents()[0]
    np.testing.assert_array_equal(project_rows("X", kind(rows)), project_rows("X", rows))


def test_rows_get_the_same_bits_in_any_batch(monkeypatch):
    rows = documents(n=5_000)[0]
    whole = project_rows("X", rows)
    np.testing.assert_array_equal(project_rows("X", rows[1_700:1_750]), whole[1_700:1_750])


def test_matrix_is_never_dense_as_a_whole():
    tracemalloc = pytest.importorskip("tracemalloc")
    rows = documents(n=6_000, n_columns=200_000)[0]
    tracemalloc.start()
    project_rows("X", rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6_000 * N_COORDINATES * 4 + 64e6  # all of it in float32 would be 4.8 GB


def model(**parameters):
    return DynamicMeans(space="cosine", random_state=0, **parameters)


def test_estimator_follows_topics_in_sparse_batches_and_predicts():
    found, known = model(), {}
    for seed in range(3):
        rows, truth = documents(seed)
        labels = found.partial_fit(rows).labels_
        pairs = set(zip(truth.tolist(), labels.tolist(), strict=True))
        assert len(pairs) == 4
        assert known == {} or dict(pairs) == known
        known = dict(pairs)
        np.testing.assert_array_equal(found.predict(rows), labels)
    assert found.n_features_in_ == 5_000
    assert found.cluster_centers_.shape == (4, N_COORDINATES)


def test_batches_of_another_number_of_columns_are_refused():
    found = model().partial_fit(documents()[0])
    other = documents(n_columns=6_000)[0]
    for call in (found.partial_fit, found.predict):
        with pytest.raises(ValueError, match="X has 6000 features, but DynamicMeans is expecting"):
            call(other)
    assert found.n_features_in_ == 5_000


def test_memory_resumes_on_sparse_batches(tmp_path):
    batches = [documents(seed)[0] for seed in range(4)]
    whole, begun = model(), model()
    for batch in batches:
        whole.partial_fit(batch)
    for batch in batches[:2]:
        begun.partial_fit(batch)
    begun.memory_.save(tmp_path / "memory.dm")
    resumed = DynamicMeans.from_memory(type(begun.memory_).load(tmp_path / "memory.dm"))
    for batch in batches[2:]:
        resumed.partial_fit(batch)
    assert resumed.memory_.clusters == whole.memory_.clusters
    assert resumed.n_features_in_ == 5_000


def test_a_sequence_of_sparse_batches_is_that_of_one_after_the_other():
    batches = [documents(seed)[0] for seed in range(3)]
    found, _ = model().fit_sequence(batches)
    one_by_one = model()
    for batch, labels in zip(batches, found, strict=True):
        np.testing.assert_array_equal(one_by_one.partial_fit(batch).labels_, labels)


@pytest.mark.parametrize("space", ["raw", "standard", "auto", "landmarks"])
def test_other_spaces_refuse_sparse_rows_and_name_the_way_out(space):
    with pytest.raises(InputError, match="X as a sparse matrix needs space='cosine', got '"):
        DynamicMeans(1.0, space=space).fit(documents()[0])


def test_estimators_without_a_space_refuse_sparse_rows():
    with pytest.raises(InputError, match="X as a sparse matrix needs space='cosine'"):
        DPMeans(1.0).fit(documents()[0])


def test_a_row_of_zeros_has_no_direction():
    rows = csr_array(documents()[0].multiply((np.arange(400) != 3)[:, None]))
    with pytest.raises(InputError, match="rows that are not all zeros; row 3 is"):
        model().fit(rows)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_values_out_of_range_are_refused(value):
    rows = documents()[0]
    rows.data[7] = value
    with pytest.raises(ValueError, match="X must be finite"):
        model().fit(rows)


def test_one_call_takes_a_sparse_matrix_and_leaves_rows_of_zeros_out():
    rows, truth = documents()
    rows = csr_matrix(rows.multiply((np.arange(400) != 3)[:, None]))
    frame = pd.DataFrame({"time": pd.date_range("2024-01-01", periods=400, freq="min")})
    with pytest.warns(dynmeans.DroppedRowsWarning, match="1 row"):
        found = dynmeans.cluster(frame, features=rows, time="time", every="100min")
    labels = np.asarray(found.labels, float)
    assert np.flatnonzero(np.isnan(labels)).tolist() == [3]
    kept = np.delete(np.arange(400), 3)
    assert len(set(zip(truth[kept].tolist(), labels[kept].tolist(), strict=True))) == 4
    with pytest.raises(InputError, match="features as a sparse matrix needs space='cosine'"):
        dynmeans.cluster(frame, features=rows, time="time", every="100min", space="raw")


GIVE_FEATURES = r"got a sparse matrix of shape \(6, 9\)\. .*features=matrix, space=.cosine"


def counts_and_frame():
    return csr_array(np.eye(6, 9)), pd.DataFrame({"window": np.arange(6) // 3})


@pytest.mark.parametrize("use", ["fit", "fit_transform", "partial_fit"])
def test_word_vectors_refuse_a_sparse_matrix_and_name_the_way_out(use):
    counts, _ = counts_and_frame()
    with pytest.raises(InputError, match=f"X must be a list of texts, {GIVE_FEATURES}"):
        getattr(WordVectors(), use)(counts)


def test_one_call_refuses_a_sparse_matrix_as_text_and_takes_it_as_features():
    counts, frame = counts_and_frame()
    with pytest.raises(InputError, match=f"text must name a column of texts, {GIVE_FEATURES}"):
        dynmeans.cluster(frame, text=counts, window_column="window")
    with pytest.raises(InputError, match=r"frame must .*features=matrix, space=.cosine"):
        dynmeans.cluster(counts, text="text", window_column="window")
    options = {"window_column": "window", "new_penalty": 0.5, "space": "cosine"}
    found = dynmeans.cluster(frame, features=counts, **options)
    assert len(found.labels) == 6


def test_one_call_refuses_texts_in_place_of_the_name_of_their_column():
    with pytest.raises(InputError, match="text must name a column of texts, got list"):
        dynmeans.cluster(counts_and_frame()[1], text=["rain"] * 6, window_column="window")
