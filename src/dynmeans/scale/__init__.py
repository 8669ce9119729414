"""Many streams, more rows than memory, Spark: the same step at other sizes."""
