"""Sentences about people, ratings files and cells of WorldValuesBench that are true when passing."""

from valuesassets.orchestration.checks import WARN, Sentence

QUESTIONS_FIT_THEIR_CODES = Sentence(
    "questions_agree_with_their_codes",
    "Every code of a question's scale has a label, and every recoded value is on the scale.",
    "the bundled list of questions is wrong: report it.",
)
ANSWERS_ARE_ON_THEIR_SCALE = Sentence(
    "answers_are_on_their_scale",
    "Every question has answers, all of them on its scale.",
    "check that the file is of wave 7 and has codes, not labels; a question that nobody answered is left out of all "
    "scores.",
)
IDS_ARE_RESOLVED = Sentence(
    "ids_are_resolved",
    "Every participant has an id of their own; people who shared one are counted in the ledger.",
    "see the ledger of dataset_statistics; set repeated_ids in the study file to how they are to be treated.",
)
COUNTRIES_HAVE_CONTINENTS = Sentence(
    "every_country_has_a_continent",
    "Every participant's country has a continent.",
    "people without a continent are in no group; look at their B_COUNTRY.",
)
EDUCATION_HAS_LEVELS = Sentence(
    "every_education_has_a_level",
    "Every code of education, 0 to 8, has a level.",
    "people of that code are in no group; look at their Q275.",
)
RATINGS_ARE_COMPLETE = Sentence(
    "ratings_are_complete",
    "In every ratings file, less than 2 % of the ratings are missing or off the scale.",
    "look at these ratings in the file; they are left out of the scores, for people and models alike.",
    WARN,
)
BLIND_RATINGS_ARE_BLIND = Sentence(
    "ratings_without_attributes_do_not_know_the_group",
    "Ratings given without attributes do not depend on the person's group (p > .01).",
    "the prompts were not alike for all people: make these ratings again from prompts without attributes; until then "
    "the column of what attributes gain has no meaning.",
    WARN,
)
EVERY_PROMPT_IS_READ = Sentence(
    "every_prompt_is_read",
    "Every question has a distribution for every profile, in both orders.",
    "each row names the reason, the log of the readings has more; mend it and materialise the cell again.",
)
P_VALID_IS_SUFFICIENT = Sentence(
    "p_valid_is_sufficient",
    "No prompt's P_valid is below the threshold for a question, and the median is above that for a cell.",
    "nothing, where the model does not answer in the form asked; where most are low, read the prompts of trials.",
    WARN,
)
READOUTS_AGREE = Sentence(
    "sampled_answers_agree_with_exact_ones",
    "Sampled and parsed answers differ from the exact distribution by at most 3 standard deviations of the draw.",
    "see the rows of readouts: sampled answers are parsed from text, so that either readout may be off; report it "
    "where the model was trained here.",
)
