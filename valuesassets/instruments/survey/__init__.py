"""The values survey: from questionnaires to the cultural map; one file per asset noun."""

PROMPT_GROUPS = ("questionnaires",)
"""The groups of assets that write its prompts; `valuesassets run STUDY --only GROUP` makes them."""

DRAWS = True  # it counts the written answers of families that have `draws`
