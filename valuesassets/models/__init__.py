"""Loading, scoring, sampling and training models: the only home of torch and transformers."""

import os

# Else every process of the hub's library asks the hub for a list of coding agents, offline jobs too.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
