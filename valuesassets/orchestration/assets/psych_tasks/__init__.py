"""The assets of psych tasks, from its material to its page."""
