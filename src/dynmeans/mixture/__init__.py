"""The methods the paper compares with; same records in and out."""
