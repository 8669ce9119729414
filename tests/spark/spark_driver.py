"""A Spark driver that follows a folder of Parquet files into a run, and dies where it is told to.

Usage: spark_driver.py follow MASTER INPUT RUN CHECKPOINT DEATH, with DEATH none, before:N or
after:N: by SIGKILL, JVM, workers and all, before or after this process's N-th commit of the run.
Or: spark_driver.py label MASTER ROWS STATE OUT, to label the rows of a file.
Or: spark_driver.py resume_and_label MASTER INPUT RUN CHECKPOINT OUT, both in one session.
"""

import os
import signal
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")  # PySpark's, about pandas

from pyspark.sql import SparkSession  # noqa: E402

from dynmeans.runs.store import store  # noqa: E402
from dynmeans.spark import assign_udf, foreach_batch  # noqa: E402


def follow(master: str, source: str, run_folder: str, checkpoint: str, death: str) -> None:
    """Take in every file that no earlier driver took in."""
    take_in = into_run(run_folder)
    kind, _, number = death.partition(":")
    if kind == "before":
        store.insert_commit = dying(store.insert_commit, int(number), is_before=True)
    elif kind == "after":
        take_in = dying(take_in, int(number), is_before=False)
    spark = open_session(master, Path(checkpoint).parent)
    run_stream(spark, source, take_in, checkpoint)
    spark.stop()


def into_run(run_folder: str):
    """Make the function under test."""
    return foreach_batch(
        run_folder,
        features=["x", "y"],
        time="seen",
        id="name",
        new_penalty=2.0,
        random_state=3,
        n_threads=1,
    )


def run_stream(spark: SparkSession, source: str, take_in, checkpoint: str) -> None:
    """Hand over the files that the checkpoint does not know, one by one."""
    schema = spark.read.parquet(source).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(source)
    query = (
        stream.writeStream.foreachBatch(take_in)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def resume_and_label(master: str, source: str, run_folder: str, checkpoint: str, out: str) -> None:
    """Follow a stream twice; in between Spark loses its last commit, as if it had died then.

    Then label the rows of all files with the run, and write down the epochs that were handed over.
    """
    spark, take_in, epochs = open_session(master, Path(out).parent), into_run(run_folder), []

    def note_and_take_in(frame, epoch_id):
        epochs.append(epoch_id)
        take_in(frame, epoch_id)

    run_stream(spark, source, note_and_take_in, checkpoint)
    for name in (str(epochs[-1]), f".{epochs[-1]}.crc"):
        Path(checkpoint, "commits", name).unlink(missing_ok=True)
    run_stream(spark, source, note_and_take_in, checkpoint)
    assign = assign_udf(run_folder)
    labels = spark.read.parquet(source).select("name", assign("x", "y").alias("cluster_id"))
    labels.toPandas().assign(epochs=str(epochs)).to_csv(out, index=False)
    spark.stop()


def label(master: str, rows: str, memory: str, out: str) -> None:
    """Write the labels beside the names of the rows."""
    spark = open_session(master, Path(out).parent)
    assign = assign_udf(memory)
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
        # Short runs: compiling well takes longer than it saves.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
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
    commands = {"follow": follow, "label": label, "resume_and_label": resume_and_label}
    commands[sys.argv[1]](*sys.argv[2:])
