"""The assets of worldvaluesbench, from its material to its page."""
