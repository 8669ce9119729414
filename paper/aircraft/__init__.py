"""The paper's second experiment: aircraft trajectories, all of it."""
