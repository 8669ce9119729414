"""Labels, profiles and names out of a run, as files."""
