"""The same rows give the same choice to the last bit, whatever kernels and threads BLAS has."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from dynmeans.parameters.principal_axes import (
    principal_axes,
    rotate_rows,
    round_axes,
    scatter_matrix,
)

_PROGRAM = """
import hashlib, pickle
import numpy as np
from dynmeans.parameters.selection import suggest

rows = np.random.default_rng(0).normal(size=(1500, 400)) * 0.97 ** np.arange(400)
found = suggest([rows[:750], rows[750:]])
print(hashlib.sha256(pickle.dumps(found)).hexdigest())
"""
# 24 features that follow 8 directions, made without a product of matrices.
_CORRELATED = """
import hashlib, pickle
import numpy as np
from dynmeans import DynamicMeans
from dynmeans.parameters.selection import suggest

rng = np.random.default_rng(0)
mix = rng.normal(size=(8, 24))
centers = rng.normal(0, 2.5, size=(5, 8))
batches = []
for _ in range(10):
    parts = centers[rng.integers(5, size=80)] + rng.normal(size=(80, 8))
    rows = np.sum(parts[:, :, None] * mix, axis=1)
    batches.append(rows + 0.01 * rng.normal(size=rows.shape))
model = DynamicMeans(families=True, random_state=0)
labels, _ = model.fit_sequence(batches)
found = suggest(batches), labels, model.families_.tree.heights, model.families_.tree.contacts
print(hashlib.sha256(pickle.dumps(found)).hexdigest())
"""


def _printed(program, **variables):
    command = [sys.executable, "-c", program]
    environment = os.environ | variables
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return run.stdout


def test_a_suggestion_does_not_depend_on_the_threads_of_blas():
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    one, two = (_printed(_PROGRAM, **dict.fromkeys(names, n)) for n in "12")
    assert one == two


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86-64"
)
def test_a_suggestion_does_not_depend_on_the_kernels_of_blas():
    found = {
        _printed(_CORRELATED, OPENBLAS_CORETYPE=name) for name in ("Haswell", "SkylakeX", "Nehalem")
    }
    assert len(found) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_axes_are_those_of_lapack(n):
    rows = np.random.default_rng(n).normal(size=(200, n)) * 0.9 ** np.arange(n)
    scatter = scatter_matrix(rows)
    np.testing.assert_allclose(scatter, rows.T @ rows, atol=1e-3)
    values, axes = principal_axes(scatter)
    np.testing.assert_allclose(values, np.linalg.eigh(scatter)[0], rtol=1e-9)
    np.testing.assert_allclose((axes * values) @ axes.T, scatter, atol=1e-9)
    kept = round_axes(axes)
    np.testing.assert_allclose(rotate_rows(rows, kept), rows @ kept, rtol=1e-12, atol=1e-12)


def test_axes_of_zeros_and_of_a_diagonal():
    assert principal_axes(np.zeros((3, 3)))[0].tolist() == [0.0, 0.0, 0.0]
    assert principal_axes(np.diag([3.0, 1.0, 2.0]))[0].tolist() == [1.0, 2.0, 3.0]
    assert scatter_matrix(np.empty((0, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert rotate_rows(np.empty((0, 2)), np.eye(2)).shape == (0, 2)
