"""Psych tasks: what answers in people's transcripts are worth to a model, exactly, and what of it is the person."""

KEEPS_TO_ITSELF = "its prompts hold what single participants answered"
"""Why nothing of it goes into a replication bundle."""

PROMPT_GROUPS = ("psych_tasks_transcripts",)
"""The groups of assets that write its prompts; `valuesassets run STUDY --only GROUP` makes them."""
