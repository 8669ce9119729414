"""Rows from files, tables and standard input, cut into windows."""
