"""Run the tests that use the compiled module against its sanitized build.

The interpreter is started with -S, so that the editable install does not shadow that build;
the packages of the given environment are added by hand. See ``make sanitize``.
"""

import sys
from pathlib import Path

site_packages = next(Path(sys.argv[1]).glob("lib/python*/site-packages"))
sys.path.append(str(site_packages.resolve()))

import pytest  # noqa: E402

from dynmeans.engine.compiled import compiled  # noqa: E402

assert "sanitized" in compiled.__file__, compiled.__file__
tests = [
    "tests/engine",
    "tests/mixture",
    "tests/estimators",
    "tests/scale/groups",
    "tests/parameters",
    # Code of another compiler.
    "--ignore=tests/engine/gpu",
    # Only one instruction set is built here.
    "--deselect=tests/engine/test_compiled.py::"
    "test_every_module_that_this_machine_runs_was_built_for_the_tests",
    # Workers of a cluster are started without these paths.
    "--ignore=tests/engine/dask",
    "--ignore=tests/scale/groups/test_dask_groups.py",
]
# scikit-learn's checks of array handling start many workers; they are run without sanitizers.
sys.exit(
    pytest.main(
        [*tests, *sys.argv[2:], "-q", "-p", "no:cacheprovider", "--hypothesis-profile=sanitize"]
    )
)
