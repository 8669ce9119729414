"""The run folder on disk: SQLite, Parquet parts, one writer."""
