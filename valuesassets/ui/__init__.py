"""What `make ui` starts: looked at before, started, watched and stopped here, without Dagster.

Dagster's own servers are processes of `valuesassets.orchestration.web_ui`, named as strings.
"""
