"""The package as installed: light to import, its names in place."""

import importlib
import pkgutil
import subprocess
import sys
from importlib.metadata import distribution

import pytest

import dynmeans


def test_every_public_name_is_there():
    for name in dynmeans.__all__:
        assert getattr(dynmeans, name) is not None
        assert name in dir(dynmeans)


def test_completion_shows_public_names_only():
    assert set(dir(dynmeans)) == {*dynmeans.__all__, "__version__"}


@pytest.mark.parametrize(
    "name",
    ["datasets", "metrics", "parameters", "plots", "report", "runs", "spark", "anytime", "groups"],
)
def test_namespaces_are_there_without_importing_them(name):
    code = (
        f"import dynmeans; print(sorted(dynmeans.{name}.__all__) == sorted(dir(dynmeans.{name})))"
    )
    code = code if name != "datasets" else "import dynmeans; print(bool(dynmeans.datasets.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize(
    "package", ["metrics", "parameters", "plots", "report", "runs", "anytime", "groups"]
)
def test_every_name_of_a_namespace_can_be_loaded(package):
    namespace = getattr(dynmeans, package)
    assert all(getattr(namespace, name) is not None for name in namespace.__all__)


def test_function_is_not_hidden_by_the_module_it_lives_in():
    code = (
        "from dynmeans.estimators.tuning import tune; from dynmeans.parameters import search;"
        "import dynmeans; print(dynmeans.tune is tune, callable(dynmeans.tune))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True"


def test_no_public_name_is_also_a_module_of_its_package():
    for package in (
        "parameters",
        "runs",
        "anytime",
        "groups",
        "spark",
        "metrics",
        "plots",
        "report",
    ):
        namespace = importlib.import_module(f"dynmeans.{package}")
        modules = {module.name for module in pkgutil.iter_modules(namespace.__path__)}
        assert not modules & set(namespace.__all__)


def test_import_loads_neither_scikit_learn_nor_scipy_nor_frames():
    code = (
        "import sys, dynmeans; dynmeans.step, dynmeans.ClusterState, dynmeans.Penalties;"
        "print([m for m in ('sklearn', 'scipy', 'pandas', 'polars', 'matplotlib')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "missing", "extra"),
    [("tune", "optuna", "tune"), ("RiverDynamicMeans", "river", "river")],
)
def test_a_name_that_needs_a_missing_package_says_how_to_get_it(name, missing, extra):
    code = f"import sys; sys.modules[{missing!r}] = None; from dynmeans import {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    told = f"dynmeans.{name} needs {missing}: pip install 'dynmeans[{extra}]'"
    told += f", or '.[{extra}]' in a checkout."
    assert done.stderr.strip().splitlines()[-1] == f"ModuleNotFoundError: {told}"


def test_only_the_command_is_an_entry_point_of_ours():
    assert {one.name for one in distribution("dynmeans").entry_points} == {"dynmeans"}
