"""Any-time clustering of data that never fits: random subset after random subset (Sec. 4.1)."""
