"""The Dagster graph of a study: assets, checks, partitions, resources, IO managers, jobs and sensors.

It only wires: instruments and the shared packages derive what the assets hold.
"""

import warnings

import dagster as dg

# We use preview and beta features (partitioned asset checks, the sensor's code server); the pinned version fixes them.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
warnings.filterwarnings("ignore", category=dg.BetaWarning)
