"""The paper's experiments: one configuration in, one results file and its figures out."""
