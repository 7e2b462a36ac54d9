"""Summaries of ended backfills: a page, a line in the sensor's log, and notices to addresses of the user."""
