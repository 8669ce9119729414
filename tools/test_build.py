"""Run the tests that use the compiled module against another build of it.

Usage: ``python -S tools/test_build.py VENV build/NAME``; NAME says which tests. The interpreter
is started with -S, so that the editable install does not shadow that build; the packages of the
environment are added by hand. See ``make sanitize`` and ``make test-clang``.
"""

import sys
from pathlib import Path

environment, build = map(Path, sys.argv[1:3])
sys.path.append(str(next(environment.glob("lib/python*/site-packages")).resolve()))

import pytest  # noqa: E402

from dynmeans.engine.compiled import compiled  # noqa: E402

assert build.resolve() in Path(compiled.__file__).parents, compiled.__file__
# Only one instruction set is built.
ONE_BUILT = (
    "--deselect=tests/engine/test_compiled.py::"
    "test_every_module_that_this_machine_runs_was_built_for_the_tests"
)
TESTS = {
    "sanitized": [
        "tests/engine",
        "tests/mixture",
        "tests/estimators",
        "tests/groups",
        "tests/parameters",
        # Code of another compiler.
        "--ignore=tests/engine/gpu",
        # Workers of a cluster are started without these paths.
        "--ignore=tests/engine/dask",
        # scikit-learn's checks of array handling start many workers; they run without sanitizers.
        ONE_BUILT,
    ],
    "clang": [
        "tests/engine/test_agreement.py",
        "tests/engine/test_golden.py",
        "tests/engine/test_small_batch.py",
        "tests/parameters/test_description_length.py",
        "tests/mixture/test_gibbs.py",
    ],
}
sys.exit(
    pytest.main(
        [
            *TESTS[build.name],
            *sys.argv[3:],
            "-q",
            "-p",
            "no:cacheprovider",
            "--hypothesis-profile=sanitize",
        ]
    )
)
