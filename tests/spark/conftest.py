"""The driver runs in a process of its own; it is no module of tests."""

collect_ignore = ["spark_driver.py"]
