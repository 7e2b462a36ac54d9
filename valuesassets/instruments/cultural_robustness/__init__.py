"""Cultural robustness: whether the language of a question carries a culture, and a named country overrides it."""
