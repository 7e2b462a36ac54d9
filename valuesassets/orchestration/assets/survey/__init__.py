"""The assets of survey, from its material to its page."""
