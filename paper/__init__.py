"""The paper's experiments, beside the package: `python -m paper synthetic` or `aircraft`."""
