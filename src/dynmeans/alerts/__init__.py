"""Alert rules over the events of a run, and their delivery."""
