"""The tables of a study file, one module each; `records.study` combines them."""
