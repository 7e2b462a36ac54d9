"""The program that runs on a compute node: `python -m valuesassets.node job.json`."""
