"""The section on lost marks: the statuses of all marks, and the histories after which they are asked."""

from valuesassets.instruments.psych_tasks.material.statuses import STATUSES, MarkStatus
from valuesassets.instruments.psych_tasks.report.gates import cell_counts
from valuesassets.instruments.psych_tasks.report.pictures import token_shares
from valuesassets.records.frames import parts_of, rows
from valuesassets.reporting.page_parts import tabulate
from valuesassets.reporting.parts import Section
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import draw_figures

HISTORIES = {
    "alone": "the instructions and this question, nothing that anybody answered.",
    "own": "what the model itself would have answered to the questions before.",
    "human": "what this person answered to the questions before.",
    "other": "what another person answered, who was shown the same.",
    "permuted": "this person's answers at each other's places, so that their way to use the scale is left, and not "
    "what they answered to which question.",
    "answers": "this person's answers alone, without any question.",
    "blank": "a question without content, so that only a liking for labels is left.",
}
"""The texts before the question, in a sentence each."""
MOST_CELLS = 150


def lost(run: Run, name: str) -> list[Section]:
    """The section, with its figures and tables."""
    section = Section("lost", run.analyses[name].title)
    ledger = section.need(run.table(name))
    if ledger is None:
        return [section]
    section.paragraphs.append(
        "A mark is a place in a transcript where a person answered. Each is asked after several histories, and each "
        "time it has one status: nothing is dropped without one, so the sums below are those of the transcripts. Which "
        "marks of whom were lost stands in the page of transcripts of each cell."
    )
    section.paragraphs.append("What stands before the question is its history:")
    section.paragraphs += [f"{name}: {words}" for name, words in HISTORIES.items() if (ledger["history"] == name).any()]
    draw_figures(section, run, name, tells_missing=False)
    counts = {status: int(part["marks"].sum()) for (status,), part in parts_of(ledger, ["status"])}
    tabulate(
        section,
        "Marks by status, over all models and histories.",
        [
            {"status": str(status).replace("_", " "), "what": words, "marks": counts[str(status)]}
            for status, words in STATUSES.items()
            if str(status) in counts
        ],
    )
    cells = cell_counts(ledger)
    worst = cells.sort_values("share_lost", ascending=False, kind="stable")
    tabulate(section, "Cells and their histories, those that lost most first.", worst, most=MOST_CELLS)
    unread = rows(
        ledger, ~ledger["status"].isin([str(MarkStatus.READ)]) & (ledger["marks"] + ledger["transcripts"] > 0)
    )
    grouped = unread.groupby(["task", "model", "history", "kind", "status"], sort=False, dropna=False)
    tabulate(section, "Everything that is not plainly read.", grouped[["marks", "transcripts"]].sum().reset_index())
    tabulate(section, "Share of candidates that have several tokens.", token_shares(ledger))
    return [section]
