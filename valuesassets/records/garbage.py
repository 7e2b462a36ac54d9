"""How often a program of ours looks for garbage. A library leaves that to whoever imports it."""

import gc

OBJECTS = 10_000
"""So many new objects, not Python's 700, before garbage is looked for: else a fifth of each import goes into it."""


def collect_seldom() -> None:
    """Have this process look for garbage seldom; called by programs as they start, never where one is imported."""
    if 0 < gc.get_threshold()[0] < OBJECTS:
        gc.set_threshold(OBJECTS)
