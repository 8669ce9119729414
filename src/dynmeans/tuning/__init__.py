"""Choosing the penalties: with labels on a stream that has them."""
