"""Sentences about people, ratings files and cells of WorldValuesBench that are true when passing."""

from valuesassets.orchestration.checks import WARN, Sentence

QUESTIONS_FIT_THEIR_CODES = Sentence(
    "questions_agree_with_their_codes",
    "Every question has a label's place for each code of its scale, and recodes lead onto the scale.",
    "the bundled list of questions is wrong there: report it.",
)
ANSWERS_ARE_ON_THEIR_SCALE = Sentence(
    "answers_are_on_their_scale",
    "Every question has answers, all of them on its scale.",
    "look whether the file is of wave 7 and has codes, not labels; a question that nobody was asked is left out of all "
    "scores.",
)
IDS_ARE_RESOLVED = Sentence(
    "ids_are_resolved",
    "Every participant has an id of their own; people who shared one are counted in the ledger.",
    "see the ledger of dataset_statistics; say repeated_ids in the study file as you want them treated.",
)
COUNTRIES_HAVE_CONTINENTS = Sentence(
    "every_country_has_a_continent",
    "Every participant's country has a continent.",
    "people without one are in no group; look at their B_COUNTRY.",
)
EDUCATION_HAS_LEVELS = Sentence(
    "every_education_has_a_level",
    "Every code of education, 0 to 8, has a level.",
    "people of that code are in no group; look at their Q275.",
)
RATINGS_ARE_COMPLETE = Sentence(
    "ratings_are_complete",
    "Of every ratings file, less than 2 % of the ratings are missing or off the scale.",
    "look at them in the file; they are left out of the scores, on both sides.",
    WARN,
)
BLIND_RATINGS_ARE_BLIND = Sentence(
    "ratings_without_attributes_do_not_know_the_group",
    "What was answered without attributes does not depend on the person's group (p > .01).",
    "the prompts were not alike for all people: make these ratings again from prompts without attributes; the column "
    "of what attributes gain says nothing until then.",
    WARN,
)
EVERY_PROMPT_IS_READ = Sentence(
    "every_prompt_is_read",
    "Every question has a distribution for every profile, in both orders.",
    "the reason stands in each row, the log of the readings says more; mend it and materialise the cell again.",
)
P_VALID_IS_SUFFICIENT = Sentence(
    "p_valid_is_sufficient",
    "No prompt's P_valid lies below the threshold, and the median is above the cell's.",
    "nothing, where the model just does not answer in the form asked; where most are low, read the prompts of trials.",
    WARN,
)
READOUTS_AGREE = Sentence(
    "sampled_answers_agree_with_exact_ones",
    "What was sampled and parsed differs from the distribution read by no more than the draw makes of it (3 sd).",
    "see the rows of readouts: sampled answers are parsed from text, so that a difference is one of the two readouts'; "
    "report it where the model is one that was trained here.",
)
