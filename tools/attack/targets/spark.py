"""Spark: micro-batches equal the estimator, epochs come again, rows are labeled as predicted."""

import importlib.util
import os
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attack.targets import Case, Skipped
from dynmeans import DynamicMeans, Run

_TESTS = Path(__file__).parents[3] / "tests" / "spark"


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """One local session for all cases."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        raise Skipped("pyspark or java is not installed")
    warnings.simplefilter("ignore")  # PySpark's, about pandas
    os.environ["PYSPARK_PYTHON"] = sys.executable
    sys.path.insert(0, str(_TESTS))
    import spark_driver  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        session = spark_driver.open_session("local[2]", Path(folder))
        numbers = iter(range(10**9))
        try:
            yield lambda rng: _attack(rng, session, Path(folder) / f"run{next(numbers)}")
        finally:
            session.stop()


def _attack(rng: random.Random, session: Any, folder: Path) -> None:
    from dynmeans.spark import assign_udf, foreach_batch  # noqa: PLC0415

    numbers = np.random.default_rng(rng.getrandbits(64))
    parameters = {"new_penalty": rng.uniform(0.2, 4), "random_state": rng.randrange(2**32)}
    model = DynamicMeans(**parameters)
    take_in = foreach_batch(folder, features=["x", "y"], id="name", n_threads=1, **parameters)
    expected: list[int] = []
    for epoch in range(rng.randint(1, 3)):
        points = np.round(numbers.normal(0, 3, size=(rng.randint(1, 30), 2)), rng.choice([0, 2]))
        names = [f"r{epoch}-{i:03}" for i in range(len(points))]
        frame = pd.DataFrame({"name": names, "x": points[:, 0], "y": points[:, 1]})
        for _ in range(rng.choice([1, 1, 2])):  # An epoch that comes again changes nothing.
            take_in(session.createDataFrame(frame).repartition(rng.randint(1, 3)), epoch)
        expected += model.partial_fit(points).labels_.tolist()
    with Run.open(folder) as run:
        run.verify()
        labels, state = run.labels(), run.cluster_state
    found = labels.sort_values("row_id")["cluster_id"].tolist()
    if found != expected:
        raise AssertionError("labels of micro-batches differ from those of the estimator")
    if not np.array_equal(state.ids, model.state_.ids):
        raise AssertionError("clusters of micro-batches differ from those of the estimator")
    rows = session.createDataFrame(frame).select(
        "name", assign_udf(str(folder))("x", "y").alias("c")
    )
    assigned = rows.toPandas().sort_values("name")["c"].tolist()
    if assigned != model.predict(points).tolist():
        raise AssertionError("rows are labeled otherwise than predicted")
