"""Answers as arrays, and what cells and countries are compared by; see the analyses that use it."""
