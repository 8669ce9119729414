"""The package as installed: light to import, its names in place."""

import subprocess
import sys

import dynmeans


def test_every_public_name_is_there():
    for name in dynmeans.__all__:
        assert getattr(dynmeans, name) is not None
        assert name in dir(dynmeans)


def test_import_loads_neither_scikit_learn_nor_scipy_nor_frames():
    code = (
        "import sys, dynmeans; dynmeans.step, dynmeans.ClusterState, dynmeans.Penalties;"
        "print([m for m in ('sklearn', 'scipy', 'pandas', 'polars', 'matplotlib')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
