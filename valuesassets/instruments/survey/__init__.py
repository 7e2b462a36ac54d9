"""The values survey: from questionnaires to the cultural map; one file per asset noun."""
