"""Sentences about transcripts, marks and cells of psych tasks that are true when passing."""

from valuesassets.orchestration.checks import ASK_AGAIN, WARN, Sentence

MARKS_ARE_ACCOUNTED_FOR = Sentence(
    "every_mark_is_accounted_for",
    "Every opening delimiter of the transcripts is a mark with a status, and the ledger's sums are theirs.",
    "report it: a mark was lost.",
)
MARKS_CAN_BE_ASKED = Sentence(
    "marks_can_be_asked",
    "No more marks than unread_marks of the study are empty, broken or without candidates.",
    "each row says which mark and why: mend the transcript, or the task file (`before`, `candidates`), and materialise "
    "transcripts of this task again.",
)
ANSWERS_ARE_CANDIDATES = Sentence(
    "answers_are_candidates",
    "What participants answered is among the candidates.",
    "they are read all the same and scored nowhere; where they should count, add them to the task file.",
    WARN,
)
MARKS_STAND_BEHIND_THEIR_ITEM = Sentence(
    "marks_stand_behind_their_item",
    "Between the mark before and itself, in its block, every mark of a kind with items has its item.",
    "what is read there is of another item: name in the task file what items begin with (`block`).",
    WARN,
)
MARKS_ARE_READ = Sentence(
    "marks_are_read",
    "No more of a cell's marks than unread_marks of the study were not read.",
    f"each row says which mark of whom and why; mend the task file where it is the mark's fault. Else {ASK_AGAIN}",
)
UNREAD_ANSWERS_ARE_LIKE_THE_OTHERS = Sentence(
    "unread_answers_are_like_the_others",
    "Answers at marks that were not read are given as often as at those that were.",
    "what was lost is no random part: do not lean on this cell until the marks named are read.",
    WARN,
)
P_VALID_IS_SUFFICIENT = Sentence(
    "candidates_are_what_the_model_says",
    "The candidates have, in the median of each history, more of the probability than thresholds.p_valid_cell.",
    "look at a transcript's page: the model says something else there; another layout may help.",
    WARN,
)
READ_BEFORE_THE_ANSWER = Sentence(
    "answers_are_read_before_they_are_given",
    "Candidates are no likelier in the row behind a person's answer, where published code reads, than before it.",
    "the answer seems to be expected one token later than it is read: look at the layout, and at how the tokenizer "
    "cuts what stands before an answer.",
    WARN,
)
PLANTS_ARE_RECOVERED = Sentence(
    "planted_answers_are_recovered",
    "What was planted into the reference model is read back after every history, and the gains are those of the law.",
    "raise phantom.steps in the study file and materialise reference_models, then the cell again; where training has "
    "converged, the instrument is wrong for these transcripts: report it.",
)
