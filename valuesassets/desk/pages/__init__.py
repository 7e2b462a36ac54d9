"""The read-only pages beside the UI: report, map, review pages, logs of jobs, and the documentation."""
