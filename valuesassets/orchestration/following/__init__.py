"""Assets that are made again automatically when cells arrive."""
