"""The assets of the values survey, from its material to its page."""
