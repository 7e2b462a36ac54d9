"""The assets, one file per instrument."""
