"""Rules over what happens in a run, and their targets."""
