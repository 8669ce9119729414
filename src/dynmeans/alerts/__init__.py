"""Rules over what happens in a run, and who is told."""
