"""The words of the toy's page: what it opens with, its one section, what can be claimed and what it rests on."""

from valuesassets.records.frames import records
from valuesassets.reporting.page_parts import in_short
from valuesassets.reporting.parts import Claim, Gate, Section
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import analysis_sections


def opening(run: Run) -> Section:
    """A sentence for each model."""
    answers = {row["model"]: f"says yes to {row['task']} with probability {row['yes']:.2f}." for row in _leanings(run)}
    return in_short(answers, run.gates, claims(run))


def sections(run: Run) -> list[Section]:
    """A section for each analysis."""
    return analysis_sections(run)


def leanings(run: Run, name: str) -> list[Section]:
    """How probable yes is in each task."""
    section = Section("leanings", run.analyses[name].title)
    section.need(run.table(name))
    section.paragraphs += [f"{row['model']} says yes to {row['task']}: {row['yes']:.2f}." for row in _leanings(run)]
    return [section]


def gates(run: Run) -> list[Gate]:
    """Whether every cell was read."""
    n_read, n_cells = len(_leanings(run)), len(run.found["cells"])
    return [Gate("Every cell was read.", n_read == n_cells, f"{n_read} of {n_cells}")]


def claims(run: Run) -> list[Claim]:
    """What the page supports and what it does not."""
    return [Claim("Anything about people.", False, "no people were asked")]


def methods(run: Run) -> list[str]:
    """Sentences for a paper."""
    return [f"Models were asked yes-or-no questions in {len({row['task'] for row in _leanings(run)})} tasks."]


def sources(run: Run) -> tuple[str, ...]:
    """Keys of the entries of what the page rests on."""
    return ("valuesassets",)


def _leanings(run: Run) -> list[dict[str, object]]:
    return records(run.tables["leanings"]) if "leanings" in run.tables else []
