"""Files on disk: checked archives, whole-file writes, tables."""
