"""The questions of blocks that print variable codes: each block is choices, a grid with scales, or an answer list."""

import dataclasses
from collections.abc import Sequence

from valuesassets.instruments.survey.material.forms.layout.blocks import Block, Reading, read_list
from valuesassets.instruments.survey.material.forms.layout.grids import read_choices, read_grid


def read_tables(blocks: Sequence[Block]) -> list[Reading]:
    """The readings of a form in its order. A question without answers waits for the table below the next one."""
    readings: list[Reading] = []
    waiting: list[Block] = []
    letters = "abcdefghABCDEFGH"
    for block in blocks:
        chosen = read_choices(block, waiting)
        asked = {reading.code for reading in chosen}
        readings = [each for each in readings if each.options or each.code not in asked]  # now with its answers
        found = chosen or read_grid(block) or read_list(block)
        earlier = readings[-1] if readings else None
        for reading in found:
            if not reading.stem and earlier and earlier.source_id.rstrip(letters) == reading.source_id.rstrip(letters):
                reading = dataclasses.replace(reading, stem=earlier.stem)  # `Q52B` goes on with the words of `Q52A`
            readings.append(reading)
        waiting = [] if any(reading.options for reading in found) else [*waiting, block]
    return readings
