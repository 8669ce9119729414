"""Rows from where streams live, and labels and events back to such places."""
