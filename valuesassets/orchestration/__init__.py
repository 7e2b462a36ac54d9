"""The graph: assets, checks, partitions, resources, IO managers and jobs, thin over the instruments."""
