"""Estimators in threads: BLAS stays as it was, and one estimator takes one batch at a time."""

import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from dynmeans import DDPMixture, DynamicMeans
from dynmeans.engine import blas


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_estimators_in_threads_leave_blas_as_it_was():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(800, 32))
    DynamicMeans(500.0, random_state=0).fit(points[:600])  # loads the library
    with threadpool_limits(3, user_api="blas"):
        expected = blas_threads()
        for _ in range(3):
            threads = [
                threading.Thread(target=DynamicMeans(500.0, random_state=i).fit, args=(points,))
                for i in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert blas_threads() == expected


def test_blas_is_limited_until_the_last_user_has_left_whoever_came_first():
    DynamicMeans(500.0, random_state=0).fit(np.zeros((600, 32)))
    with threadpool_limits(2, user_api="blas"):
        first, second = blas.one_thread(), blas.one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert set(blas_threads()) == {2}


class Waiting:
    """An array-like that is read only once the test says so."""

    def __init__(self):
        self.is_read, self.may_go = threading.Event(), threading.Event()

    def __array__(self, dtype=None, copy=None):
        self.is_read.set()
        assert self.may_go.wait(10)
        return np.zeros((3, 2))


@pytest.mark.parametrize("model", [DynamicMeans(1.0, random_state=0), DDPMixture(random_state=0)])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_second_thread_in_one_estimator_gets_an_error_and_the_first_its_batch(model, method):
    model = clone(model)
    slow = Waiting()
    thread = threading.Thread(target=model.partial_fit, args=(slow,))
    thread.start()
    assert slow.is_read.wait(10)
    with pytest.raises(RuntimeError, match="is in use by another thread"):
        getattr(model, method)(np.ones((2, 2)))
    slow.may_go.set()
    thread.join()
    assert model.n_steps_ == 1
    assert model.partial_fit(np.ones((2, 2))).n_steps_ == 2


def test_an_estimator_can_be_used_again_after_a_failure_and_be_pickled():
    model = DynamicMeans(1.0, random_state=0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[np.nan]])
    pickle.loads(pickle.dumps(model)).fit([[0.0]])
    assert model.fit([[0.0]]).n_steps_ == 1
