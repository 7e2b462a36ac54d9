"""What values does a language model carry? An instrument that asks, and says how far to trust the answer."""

import gc

_OBJECTS = 10_000
"""So many new ones, not Python's 700, before garbage is looked for: else a fifth of each import goes into looking."""

if 0 < gc.get_threshold()[0] < _OBJECTS:
    gc.set_threshold(_OBJECTS)
