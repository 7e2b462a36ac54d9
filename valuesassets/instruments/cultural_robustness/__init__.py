"""Cultural robustness: whether the language of a question carries a culture, and a named country overrides it."""

PROMPT_GROUPS = ("cultural_robustness_questions",)
"""The groups of assets that write its prompts; `valuesassets run STUDY --only GROUP` makes them."""
