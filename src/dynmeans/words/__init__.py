"""Texts as vectors, window by window: words by their signs and by the company they keep."""
