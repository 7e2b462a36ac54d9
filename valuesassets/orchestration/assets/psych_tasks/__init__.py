"""The assets of psych_tasks, from its material to its page."""
