"""Checks of what comes from outside, before it becomes a record."""
