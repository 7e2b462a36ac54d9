"""The assets of cultural_robustness, from its material to its page."""
