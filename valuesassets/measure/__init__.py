"""Numeric core (numpy, scipy): distributions, distances, resampling, geometry of maps."""
