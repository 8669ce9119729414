"""The paper's first experiment: moving Gaussians."""
