"""Sentences about transcripts, marks and cells of psych tasks that are true when passing."""

from valuesassets.orchestration.checks import ASK_AGAIN, WARN, Sentence

MARKS_ARE_ACCOUNTED_FOR = Sentence(
    "every_mark_is_accounted_for",
    "Every opening delimiter of the transcripts is a mark with a status, and the ledger counts each of them once.",
    "report it: a mark was lost.",
)
MARKS_CAN_BE_ASKED = Sentence(
    "marks_can_be_asked",
    "The share of marks that are empty, broken or without candidates is at most unread_marks of the study.",
    "each row names the mark and the reason: mend the transcript, or the task file (`before`, `candidates`), and "
    "materialise transcripts of this task again.",
)
ANSWERS_ARE_CANDIDATES = Sentence(
    "answers_are_candidates",
    "What participants answered is among the candidates.",
    "other answers are read but not scored; to score them, add them to the task file's candidates.",
    WARN,
)
MARKS_STAND_BEHIND_THEIR_ITEM = Sentence(
    "marks_stand_behind_their_item",
    "Every mark of a kind with items has its item in its block, after the mark before it.",
    "the marks named are read as answers to another item: name in the task file how items begin (`block`).",
    WARN,
)
MARKS_ARE_READ = Sentence(
    "marks_are_read",
    "The share of a cell's marks that could not be read is at most unread_marks of the study.",
    f"each row names the mark, the participant and the reason; mend the task file where the mark is wrong. Else "
    f"{ASK_AGAIN}",
)
UNREAD_ANSWERS_ARE_LIKE_THE_OTHERS = Sentence(
    "unread_answers_are_like_the_others",
    "Each answer is as frequent at marks that could not be read as at marks that were read.",
    "the marks are not missing at random: do not rely on this cell until the marks named are read.",
    WARN,
)
P_VALID_IS_SUFFICIENT = Sentence(
    "candidates_are_what_the_model_says",
    "In each history, the candidates' median share of the probability is above thresholds.p_valid_cell.",
    "look at a transcript's page: the model answers something else there; another layout may help.",
    WARN,
)
READ_BEFORE_THE_ANSWER = Sentence(
    "answers_are_read_before_they_are_given",
    "Candidates are not more probable after a person's answer, where published code reads, than before it.",
    "the model seems to expect the answer one token later than it is read: look at the layout, and at how the "
    "tokenizer cuts the text before an answer.",
    WARN,
)
PLANTS_ARE_RECOVERED = Sentence(
    "planted_answers_are_recovered",
    "Answers planted in the reference model are recovered after every history, and the gains equal those of the "
    "planted response model.",
    "raise phantom.steps in the study file and materialise reference_models, then the cell again; where training has "
    "converged, the instrument is wrong for these transcripts: report it.",
)
