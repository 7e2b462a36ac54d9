"""WorldValuesBench: does a model move with a person's background as people do?"""

KEEPS_TO_ITSELF = "its prompts describe single respondents"
"""Why nothing of it goes into a replication bundle."""
