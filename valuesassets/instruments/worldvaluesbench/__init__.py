"""WorldValuesBench: does a model move with a person's background as people do?"""

KEEPS_TO_ITSELF = "its prompts describe single respondents"
"""Why nothing of it goes into a replication bundle."""

PROMPT_GROUPS = ("worldvaluesbench_people", "worldvaluesbench_prompts")
"""The groups of assets that write its prompts; `valuesassets run STUDY --only GROUP` makes them."""
