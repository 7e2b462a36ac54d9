"""Sentences about questions, answers and embedders of cultural robustness that are true when passing."""

from valuesassets.orchestration.checks import ASK_AGAIN, WARN, Sentence

QUESTIONS_ASK_THE_SAME = Sentence(
    "questions_ask_the_same",
    "Every language has the same questions with the same countries, in itself, and anchors that differ.",
    "each row names the file, the prompt and the fault: mend the file, then materialise questions again.",
)
NO_TWO_QUESTIONS_READ_ALIKE = Sentence(
    "no_two_questions_read_alike",
    "No two questions of a language read alike.",
    "the pair counts twice in every mean: report it to the authors, or remove one question in all languages.",
    WARN,
)
ANSWERS_ARE_USABLE = Sentence(
    "answers_are_usable",
    "Every answer counts: it says something, in its own language, to its end. An error where a language has fewer than "
    "usable_share of them.",
    "open the page of the language: it shows prompts and answers, first those that do not count. Raise max_tokens "
    f"where answers are cut off, ask in chat where the prompt is echoed; {ASK_AGAIN}",
)
EMBEDDER_KNOWS_THE_LANGUAGES = Sentence(
    "embedder_knows_the_languages",
    "The embedder finds the translation of a question in at least half of the questions, in every language.",
    "vectors of these languages are noise: name an embedder that was trained in them, or leave the languages out.",
)
PLANTS_ARE_RECOVERED = Sentence(
    "plants_are_recovered",
    "Diversity, robustness, groups and faults planted in the reference models are recovered; no test rejects the null "
    "for the family without a signal.",
    "raise phantom.steps or samples in the study file and run again; where training has converged, report it.",
)
