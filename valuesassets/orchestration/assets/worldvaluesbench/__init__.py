"""The assets of WorldValuesBench, from its material to its page."""
