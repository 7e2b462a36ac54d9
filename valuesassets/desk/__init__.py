"""Dagster on one machine: its servers, the start of runs, what is stale, and summaries of backfills.

The package is independent of surveys and models and imports only `records`. `valuesassets ui` starts Dagster's servers
by name, as processes of `valuesassets.desk.web_ui`, and does not import Dagster itself.
"""
