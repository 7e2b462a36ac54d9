"""Benchmarks of the scoring engine: `make bench`, docs/benchmarks.md."""
