"""Tables that WorldValuesBench alone writes."""

from functools import partial

import pyarrow as pa

from valuesassets.records.columns import code, count, flag, number, probability, scale_share, share, text, texts
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, declare_table

VOCABULARY = (
    text("question_id", "id of the question, as WVS-7 has it"),
    number("slope", "share of people's moves between groups that the model makes: 1 as people, 0 not at all"),
    number("slope_low", "lower end of the slope's interval, people resampled within groups"),
    number("slope_high", "its upper end"),
    number(
        "exaggeration",
        "size of the model's moves over that of people's; empty where the noise of its drawn answers is not known",
        low=0,
    ),
    number(
        "direction",
        "whether the model moves the way people do; may pass 1 by chance; empty where its own moves may be noise",
    ),
    number("skill", "share gained of what knowing the groups can gain in ranked probability score"),
    text("category", "category of the question"),
    text("continent?", "continent of the country"),
    text("settlement?", "urban or rural"),
    text("education?", "level of education"),
    count("n", "people who answered and were rated"),
    number("effective_n", "people after weighting: (sum of weights)^2 / sum of squared weights", low=0),
    scale_share("w1_floor_unit", "expected distance of a perfect model: so few people were asked"),
    probability("prob", "weighted share of the answer"),
    text("participant_id", "id of the person"),
    text("split", "train, valid or test; full: all of them"),
    text("subset", "all people, or those of a level"),
    number("threshold!", "distance on the scale, 0 to 1, that is counted as near"),
)
"""Columns that several of these tables have; a table gives their names."""
N_UNPARSED = count("n_unparsed", "answers that are none")
MEASURES = "slope slope_low slope_high exaggeration direction skill"
table = partial(declare_table, vocabulary=VOCABULARY)

AWARENESS_FACTORS = table(
    "worldvaluesbench/awareness/factors",
    "a model: all groups, or a factor",
    "model",
    text("factor", "all groups, or the factor whose levels are compared"),
    MEASURES,
    probability("p_value", "p-value of a slope above 0: levels exchanged in all ways, uncorrected"),
    count("n_arrangements", "ways to exchange levels; fewer than 20 give no p-value", low=1, high=1e9),
    probability(
        "p_corrected",
        "p-value, corrected over models, of single factors over models and factors; empty for further wordings",
    ),
    probability("p_opposite", "p-value of a slope below 0, uncorrected"),
    probability("p_opposite_corrected", "p-value of a slope below 0, corrected as the other"),
    number("slope_category_low", "lower end of the slope's interval, categories left out one by one"),
    number("slope_category_high", "its upper end"),
    count("n_levels", "groups, or levels of the factor", high=1e9),
    count("n_questions", "questions that compare two or more of them", high=1e9),
    number("a_hh", "people's between-group component, summed over questions; below 0 by chance"),
    number("a_mh", "the component that people and model share"),
    number("a_mm", "the model's component, without the noise of drawn answers; empty where that is not known"),
    number("prompt_gain_unit", "mean ranked probability score without attributes less that with them", "", -1, 1),
    number("prompt_gain_low", "lower end of its interval, over people within groups"),
    number("skill_low", "lower end of the skill's interval, over people within groups"),
    number("planted_slope", "slope of a model that was made up beforehand"),
)
AWARENESS_CATEGORIES = table(
    "worldvaluesbench/awareness/categories",
    "a model and a category of questions, all groups",
    "model category",
    count("n_questions", "questions that compare two or more groups", high=1e9),
    MEASURES,
)
AWARENESS_QUESTIONS = table(
    "worldvaluesbench/awareness/questions", "a model and a question, all groups", "model question_id category", MEASURES
)
AWARENESS_STYLE_FREE = table(
    "worldvaluesbench/awareness/style_free",
    "a model, by mean answers: each group's mean over questions is subtracted on both sides",
    "model slope exaggeration direction skill",
)
RELIABILITY = table(
    "worldvaluesbench/awareness/reliability",
    "a model and two wordings",
    "model",
    text("wording", "one wording"),
    text("other_wording", "the other"),
    number("reliability", "A_01 / sqrt(A_00 A_11): whether the model moves alike under both; may pass 1 by chance"),
    flag("can_be_ranked", "whether it reaches .5, so that models may be ranked"),
)
HUMAN_GROUPS = table(
    "worldvaluesbench/human_groups",
    "an answer of a question in a group",
    "question_id continent settlement education",
    count("n", "people who answered", high=1e9),
    "effective_n",
    share("dk_rate", "weighted share who gave no answer, of the data set's people who were asked"),
    number("borrowed_n", "people that the additive fit counts as; infinite: shrunken shares are the fit", low=0),
    "w1_floor_unit",
    code("response_value", "code of the answer"),
    "prob",
    probability("prob_shrunken", "the same, drawn towards the additive fit of the factors"),
)
RATING_DISTRIBUTIONS = table(
    "worldvaluesbench/rating_distributions",
    "an answer of a model to a question, for a profile (`Q1@B_COUNTRY=156,...`) or without one",
    *PROBE_DISTRIBUTIONS.columns,
    where_used=[*PROBE_DISTRIBUTIONS.where_used],
    is_exact=True,
)
READOUTS = table(
    "worldvaluesbench/readout_comparison/readouts",
    "a model and a way to read its answers, over all prompts; and the scores under it",
    "model",
    text("readout", "exact, greedy (its mode), sampled, or the paper's prompt by its figure"),
    count("n_prompts", "prompts, in each order"),
    count("n_answers", "answers that are ratings on the scale"),
    N_UNPARSED,
    scale_share(
        "w1_unit", "mean distance from the exact distribution: of the same prompt, but for the paper's prompts"
    ),
    scale_share("w1_expected_unit", "what drawing alone makes of it, where the same prompt was sampled"),
    number(
        "w1_allowed_unit", "the most that is put down to the draw: three standard deviations more", "scale units", 0
    ),
    number("w1_seed", "the benchmark's own score, mean over questions", "scale units", 0),
    MEASURES,
)
declare_table(
    "worldvaluesbench/readout_comparison/prompts",
    "a prompt in one order and a way to read it",
    "model question_id wording",
    text("order", "forward or reversed; averaged, where the prompt itself was not read"),
    text("readout", "greedy (its mode), sampled, or the paper's prompt by its figure"),
    count("n", "answers that are ratings on the scale"),
    N_UNPARSED,
    scale_share("w1_unit", "distance from the exact distribution"),
    scale_share("w1_expected_unit", "what drawing alone makes of it: mean"),
    scale_share("w1_expected_sd", "and standard deviation"),
)
table(
    "worldvaluesbench/value_questions",
    "a question that is asked",
    "question_id category",
    text("text", "the question, in our words"),
    code("lo", "code of the first answer"),
    code("hi", "code of the last answer"),
    texts("labels", "the answers' texts; empty for points between labelled ends"),
    text("recodes?", "codes of the survey that stand for others here"),
    text("missing?", "codes of the survey that count as no answer here"),
)
table("worldvaluesbench/splits", "a person", "participant_id", text("split", "train, valid or test"))
table(
    "worldvaluesbench/probe_samples",
    "a person who is asked about, and a question",
    "question_id participant_id continent settlement education",
)
table(
    "worldvaluesbench/benchmark_scores/scores",
    "a model, a subset of people and a question",
    "model subset question_id",
    count("n_people", "people who answered"),
    count("n_ratings", "ratings that were given"),
    count("n_missing", "ratings that are lacking"),
    count("n_out_of_scale", "ratings that are not on the scale"),
    number(
        "w1_seed",
        "the benchmark's own score: ratings against answers of all whom the model's file names",
        "scale units",
        0,
    ),
    scale_share("w1_unit", "distance of ratings from answers, of people who have both, on the scale"),
    "w1_floor_unit",
    scale_share("w1_uniform_unit", "distance of uniform answers"),
    scale_share("w1_majority_unit", "distance of the answer that most people give"),
)
table(
    "worldvaluesbench/benchmark_scores/threshold_shares",
    "a model, a subset of people and a threshold",
    "model subset threshold",
    count("n_questions", "questions that have a w1_seed: those that the model rates"),
    share("share", "share of them whose w1_seed is at most the threshold"),
    share("share_unit", "the same of w1_unit, over questions that have one"),
)
table(
    "worldvaluesbench/benchmark_scores/perfect_shares",
    "a threshold: the share that a perfect model reaches when only this many people are asked",
    "model",
    text("attributes?", "always empty: it is asked nothing"),
    "subset threshold",
    share("share", "share of questions at most so far away, mean over draws of people"),
    share("share_low", "lower end of the band that 95 of 100 draws lie in"),
    share("share_high", "its upper end"),
)
table(
    "worldvaluesbench/benchmark_scores/pooled_answers",
    "an answer of all people, or of a model for all of them",
    "question_id model",
    text("attributes?", "with or without, of a model"),
    "response_value prob",
)
table(
    "worldvaluesbench/benchmark_scores/shown_people",
    "a model and one of some people of different groups who answered a question",
    "question_id",
    code("person", "number of the person among those shown, from 1"),
    text("background", "levels of the person's group"),
    "response_value model",
    number("expected_value!", "mean answer that the model gives for the person, in codes"),
    text("prompt", "the question as it is put about one person, in its first wording and order"),
)
table(
    "worldvaluesbench/awareness/group_means",
    "a model, a question and a group of people",
    "model question_id continent settlement education n",
    scale_share("human_mean_unit", "people's mean answer"),
    scale_share("model_mean_unit", "the model's"),
)
table(
    "worldvaluesbench/benchmark_scores/ledger",
    "what was left out of the scores, and how often",
    text("what", "what was left out"),
    text("model", "the model it concerns; empty: all of them"),
    text("question_id", "the question it concerns; empty: all of them"),
    count("n", "how many"),
    count("of", "of how many"),
)
table(
    "worldvaluesbench/group_distances",
    "a model, a question and a group of people",
    "model question_id continent settlement education n effective_n",
    scale_share("w1_unit", "distance of the model's answers from the group's"),
    "w1_floor_unit",
    number("w1_excess_unit", "w1_unit less the floor", "scale units", -1, 1),
    number("cramer_unit", "squared distance between distribution functions, without bias; below 0 by chance"),
)
PERSONAS = table(
    "worldvaluesbench/personas",
    "a background that at least one respondent has; unknown attributes are empty",
    text("profile", "what is known: attributes and codes, as B_COUNTRY=156,H_URBRURAL=1"),
    code("<attribute>?", "code or number of the attribute", pattern=r"[A-Z]\w*\d*"),
    count("n_people", "people asked for who have it", low=1),
    count("n_questions", "questions that they are asked", low=1),
)
DECODED_RATINGS = declare_table(
    "worldvaluesbench/decoded_ratings",
    "an answer that was written, and the rating that is read from it; the text stays where none is",
    "trial_id question_id",
    text("profile?", "background that the prompt names; empty without"),
    "order wording sample",
    code("rating?", "code of the rating, on the question's scale or off it"),
    flag("is_on_scale", "whether there is a rating and it is one of the scale's"),
    "text? status reason?",
)
RATING_ORDERS = table(
    "worldvaluesbench/benchmark_scores/orders",
    "what the ratings of a model follow: the answers, or the places at which they stand",
    "model",
    number("n_prompts", "prompts that were read in both orders, with attributes and without", low=0),
    number("n_low_p_valid", "prompts left out of every score, since too seldom any answer is given", low=0),
    number("n_questions", "questions that they are of", low=0),
    probability("p_valid", "median P_valid"),
    share("changed", "share of prompts whose most probable answer is another one in the other order"),
    number("pull_unit", "mean pull of what is listed first: half the difference of expected ratings", "scale units"),
    number("agreement", "1 less variance of pulls over that of expected ratings: how these come back"),
    share("agreement_low", "lower end of its interval over questions", unit=""),
    share("agreement_high", "upper end", unit=""),
    number("threshold", "what is asked for at least"),
    text("follow?", "options; options under a pull, where position decides most single ratings; position; neither"),
    flag("is_evidence?", "whether scores may rest on them; empty where unknown"),
    "reason?",
)
PARTICIPANT = text("participant_id", "the person: D_INTERVIEW, numbered on where several people share it")
N_PEOPLE = count("n", "people, rows or answers counted")
PARTICIPANTS = table(
    "worldvaluesbench/participants",
    "a person: where from, which split, which group, 42 attributes",
    PARTICIPANT,
    text("interview_id", "D_INTERVIEW as the file has it"),
    code("country", "ISO 3166-1 numeric; 909 is Northern Ireland's sample"),
    number("weight!", "W_WEIGHT, with mean 1 within the country", low=0),
    "split",
    text("continent?", "of the country; empty where none is known"),
    text("settlement?", "urban or rural; empty where unknown"),
    text("education?", "level of the highest education; empty where unknown"),
    code(
        "<attribute>?",
        "code of a variable of WVS-7; below 0 missing; empty where the file has none",
        pattern=r"[A-Z][A-Z0-9_]*",
    ),
)
VALUE_ANSWERS = table(
    "worldvaluesbench/value_answers",
    "a person: a column per question",
    PARTICIPANT,
    code(
        "<question id>?",
        "the answer on the question's scale; below 0 no answer and why; empty where the file has none",
        pattern=r"Q\d+[A-Z]?",
        kind=pa.int16(),
    ),
)
STATISTICS = table(
    "worldvaluesbench/dataset_statistics/splits",
    "a split",
    "split",
    count("participants", "people"),
    count("examples", "answers of people to questions"),
)
QUESTION_STATISTICS = declare_table(
    "worldvaluesbench/dataset_statistics/questions",
    "a question: how many people answered it",
    "question_id",
    N_PEOPLE,
    *(count(f"n_{split}", f"the same in {split}") for split in ("train", "valid", "test")),
)
LEDGER = table(
    "worldvaluesbench/dataset_statistics/ledger",
    "what was done to rows of the file, or is not in it",
    text("what", "dropped, merged, renumbered, missing, or unlike the seed's"),
    text("subject", "the id, column or factor that it concerns"),
    N_PEOPLE,
    text("why", "the reason"),
)
