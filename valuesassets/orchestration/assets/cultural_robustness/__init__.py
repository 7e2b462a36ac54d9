"""The assets of cultural robustness, from its material to its page."""
