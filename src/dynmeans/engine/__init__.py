"""One step of Dynamic Means: input checked once, then run by any backend, with the same bits."""
