"""A step on an NVIDIA GPU: the same bits as the specification."""
