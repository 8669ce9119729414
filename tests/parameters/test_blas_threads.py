"""The same rows give the same choice to the last bit, however many threads BLAS has."""

import os
import subprocess
import sys

_PROGRAM = """
import hashlib, pickle
import numpy as np
from dynmeans.parameters.selection import suggest

rows = np.random.default_rng(0).normal(size=(1500, 400)) * 0.97 ** np.arange(400)
found = suggest([rows[:750], rows[750:]])
print(hashlib.sha256(pickle.dumps(found)).hexdigest())
"""


def _printed(n_threads):
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(n_threads))
    command = [sys.executable, "-c", _PROGRAM]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return run.stdout


def test_a_suggestion_does_not_depend_on_the_threads_of_blas():
    assert _printed(1) == _printed(2)
