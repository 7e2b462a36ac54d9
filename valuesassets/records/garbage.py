"""How often our programs collect garbage; the library itself leaves that to its importer."""

import gc

OBJECTS = 10_000
"""New objects between two collections; with Python's 700, collections take a fifth of the time of each import."""


def collect_seldom() -> None:
    """Let this process collect garbage seldom; programs call it when they start, imports never do."""
    if 0 < gc.get_threshold()[0] < OBJECTS:
        gc.set_threshold(OBJECTS)
