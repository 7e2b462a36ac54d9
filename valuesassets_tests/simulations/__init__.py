"""Simulated data with a known truth, which show whether estimators and claims are right: `make simulations`."""
