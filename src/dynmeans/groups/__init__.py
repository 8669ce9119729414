"""Many small streams at once: independent Dynamic Means for each key of a data frame."""
