"""What the survey's report says of families whose answers are drawn: how many draws are an option, and the limits."""

import pandas as pd

from valuesassets.figures.drawn_answers import draw_standings
from valuesassets.reporting.parts import Box, Refused, Section
from valuesassets.reporting.run import Run

ANCHOR, FOUND = "draws", "drawn_answers"
"""The section's anchor, and the run's table of standings: a row for each cell and standing, with `n` draws."""
LIMITS = (
    "A model that shows no probabilities is asked the same question many times, and the share of each option among its "
    "answers is counted. Few draws are noisy: that noise is in the intervals of these families, and it is subtracted "
    "from their distances.",
    "Which draws are an option is not chosen at random. A model that often declines to answer shows the answers that "
    "it does not decline; P_valid and the standings of the texts stand beside every number.",
    "The draws of a provider cannot be repeated: asked again, it gives others. The numbers rest on the stored texts.",
    "A text counts where it says one option and nothing else. Texts that might mean an option are never guessed at.",
)


def draws_box(run: Run) -> list[Box]:
    """The box of the share of draws that are an option; none in studies without drawn families."""
    if not run.study.has_draws:
        return []
    question, standings = "Do the written answers name an option?", run.part(FOUND)
    if isinstance(standings, Refused):
        return [Box(question, "unknown", "Not known", standings.reason, ANCHOR)]
    share = _share_of_options(standings)
    outcome = "yes" if share >= 0.9 else "partly" if share >= 0.5 else "no"
    because = (
        "The rest declines, hedges or is cut off, and is not chosen at random; all texts are kept with their standing."
    )
    return [Box(question, outcome, f"{share:.0%} of {int(standings['n'].sum()):,} draws", because, ANCHOR)]


def draws_section(run: Run) -> list[Section]:
    """The section on drawn answers; none in studies without drawn families."""
    if not run.study.has_draws:
        return []
    section, standings = Section(ANCHOR, "Drawn answers"), run.part(FOUND)
    section.paragraphs += LIMITS
    if isinstance(standings, Refused):
        section.refusals.append(standings.reason)
        return [section]
    section.draw(
        draw_standings(standings, run.study.is_planted),
        "For each cell whose answers are drawn a bar: the share of its draws that are no option, by what they are.",
        "Draws that are no option, by what they are. The texts, those first: the asset survey/drawn_answers.",
    )
    section.tabulate("Draws of each cell, by what their texts say.", _by_cell(standings))
    return [section]


def _share_of_options(standings: pd.DataFrame) -> float:
    return float(standings.loc[standings["standing"] == "option", "n"].sum() / standings["n"].sum())


def _by_cell(standings: pd.DataFrame) -> pd.DataFrame:
    wide = standings.pivot_table(index=["model", "language"], columns="standing", values="n", fill_value=0, sort=False)
    return wide.astype(int).reset_index().rename_axis(columns=None)
