"""Which question of the master a question of another language is: evidence of several kinds in one path."""
