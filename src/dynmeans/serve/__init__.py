"""A run in the browser while it grows, and a small HTTP interface to it."""
