"""The assets: a factory per file for those that several instruments have, and a folder per instrument."""
