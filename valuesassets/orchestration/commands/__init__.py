"""Runs a study or parts of it, for the jobs of the UI and for the command line."""
