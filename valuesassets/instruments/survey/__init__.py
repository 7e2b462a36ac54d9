"""The values survey: from questionnaires to the cultural map; one file per asset noun."""

TABLE = "questionnaires"
"""Its table of the study file, where it is not called as the instrument is."""
