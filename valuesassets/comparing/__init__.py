"""Comparison of answers: grids and their scales, distances, permutation tests, and simulations with a known truth."""
