"""Parameters from data alone: lambda, max_gap and reach without labels."""
