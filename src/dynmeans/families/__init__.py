"""Families of identities: clusters of any shape, at every scale, from one run."""
