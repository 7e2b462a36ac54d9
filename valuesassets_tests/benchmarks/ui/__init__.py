"""What the UI costs beside the work that it starts: `python -m valuesassets_tests.benchmarks.ui`."""
