"""A Spark driver that follows a folder of Parquet files into a run, and dies where it is told to.

Usage: spark_driver.py follow MASTER INPUT RUN CHECKPOINT DEATH, with DEATH none, before:N or
after:N: by SIGKILL, JVM, workers and all, before or after this process's N-th commit of the run.
Or: spark_driver.py label MASTER ROWS STATE OUT, to label the rows of a file.
"""

import os
import signal
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")  # PySpark's, about pandas

from pyspark.sql import SparkSession  # noqa: E402

from dynmeans import DynamicMeans  # noqa: E402
from dynmeans.runs import store  # noqa: E402
from dynmeans.spark import assign_udf, foreach_batch  # noqa: E402


def follow(master: str, source: str, run_folder: str, checkpoint: str, death: str) -> None:
    """Take in every file that no earlier driver took in."""
    take_in = foreach_batch(
        run_folder,
        features=["x", "y"],
        time="seen",
        id="name",
        model=DynamicMeans(new_penalty=2.0, random_state=3, n_threads=1),
    )
    kind, _, number = death.partition(":")
    if kind == "before":
        store.insert_commit = dying(store.insert_commit, int(number), is_before=True)
    elif kind == "after":
        take_in = dying(take_in, int(number), is_before=False)
    spark = open_session(master, Path(checkpoint).parent)
    schema = spark.read.parquet(source).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(source)
    query = (
        stream.writeStream.foreachBatch(take_in)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.stop()


def label(master: str, rows: str, state: str, out: str) -> None:
    """Write the labels beside the names of the rows."""
    spark = open_session(master, Path(out).parent)
    assign = assign_udf(state, model=DynamicMeans(new_penalty=2.0))
    frame = spark.read.parquet(rows).repartition(4)
    frame.select("name", assign("x", "y").alias("cluster_id")).toPandas().to_csv(out, index=False)
    spark.stop()


def open_session(master: str, scratch: Path) -> SparkSession:
    """Start Spark with as little around it as it can do with."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "700m",
        "spark.executor.memory": "500m",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.local.dir": str(scratch / "local"),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def dying(function, number, is_before):
    """Wrap a function so that all of this process group is killed at its N-th call."""
    calls = 0

    def call_or_die(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == number and is_before:
            os.killpg(0, signal.SIGKILL)
        value = function(*arguments, **options)
        if calls == number:
            os.killpg(0, signal.SIGKILL)
        return value

    return call_or_die


if __name__ == "__main__":
    {"follow": follow, "label": label}[sys.argv[1]](*sys.argv[2:])
