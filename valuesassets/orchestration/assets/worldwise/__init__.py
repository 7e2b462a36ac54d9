"""The assets of worldwise, from its material to its page."""
