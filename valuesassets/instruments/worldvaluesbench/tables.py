"""Tables that WorldValuesBench alone writes."""

import pyarrow as pa

from valuesassets.records.columns import Column
from valuesassets.records.table import Table
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, declare_tables


def _number(name: str, words: str, unit: str = "", low: float = float("-inf"), high: float = float("inf")) -> Column:
    return Column(name, pa.float64(), words, unit, (low, high), may_be_empty=True)


LEVELS = (
    Column("continent", pa.string(), "continent of the country", may_be_empty=True),
    Column("settlement", pa.string(), "urban or rural", may_be_empty=True),
    Column("education", pa.string(), "level of education", may_be_empty=True),
)
EFFECTIVE_N = _number("effective_n", "people after weighting: (sum of weights)^2 / sum of squared weights", "", 0)
FLOOR = _number("w1_floor_unit", "expected distance of a perfect model: so few people were asked", "scale units", 0, 1)
FACTOR = Column("factor", pa.string(), "all groups, or the factor whose levels are compared")
CATEGORY = Column("category", pa.string(), "category of the question")
MEASURES = (
    _number("slope", "share of people's moves between groups that the model makes: 1 as people, 0 not at all"),
    _number(
        "exaggeration",
        "size of the model's moves over that of people's; empty where the noise of its drawn answers is not known",
        "",
        0,
    ),
    _number(
        "direction",
        "whether the model moves the way people do; may pass 1 by chance; empty where its own moves may be noise",
    ),
    _number("skill", "share gained of what knowing the groups can gain in ranked probability score"),
)
INTERVAL = (
    _number("slope_low", "lower end of the slope's interval, people resampled within groups"),
    _number("slope_high", "its upper end"),
)
AWARENESS_FACTORS = Table(
    "worldvaluesbench/awareness/factors",
    "a model: all groups, or a factor",
    "model",
    FACTOR,
    *MEASURES[:1],
    *INTERVAL,
    *MEASURES[1:],
    _number("p_value", "p-value of a slope above 0: levels exchanged in all ways, uncorrected", "probability", 0, 1),
    Column("n_arrangements", pa.int64(), "ways to exchange levels; fewer than 20 give no p-value", range=(1, 1e9)),
    _number(
        "p_corrected",
        "p-value, corrected over models, of single factors over models and factors; empty for further wordings",
        "probability",
        0,
        1,
    ),
    _number("p_opposite", "p-value of a slope below 0, uncorrected", "probability", 0, 1),
    _number("p_opposite_corrected", "p-value of a slope below 0, corrected as the other", "probability", 0, 1),
    _number("slope_category_low", "lower end of the slope's interval, categories left out one by one"),
    _number("slope_category_high", "its upper end"),
    Column("n_levels", pa.int64(), "groups, or levels of the factor", range=(0, 1e9)),
    Column("n_questions", pa.int64(), "questions that compare two or more of them", range=(0, 1e9)),
    _number("a_hh", "people's between-group component, summed over questions; below 0 by chance"),
    _number("a_mh", "the component that people and model share"),
    _number("a_mm", "the model's component, without the noise of drawn answers; empty where that is not known"),
    _number("prompt_gain_unit", "mean ranked probability score without attributes less that with them", "", -1, 1),
    _number("prompt_gain_low", "lower end of its interval, over people within groups"),
    _number("skill_low", "lower end of the skill's interval, over people within groups"),
    _number("planted_slope", "slope of a model that was made up beforehand"),
)
AWARENESS_CATEGORIES = Table(
    "worldvaluesbench/awareness/categories",
    "a model and a category of questions, all groups",
    "model",
    CATEGORY,
    Column("n_questions", pa.int64(), "questions that compare two or more groups", range=(0, 1e9)),
    *MEASURES[:1],
    *INTERVAL,
    *MEASURES[1:],
)
AWARENESS_QUESTIONS = Table(
    "worldvaluesbench/awareness/questions",
    "a model and a question, all groups",
    "model",
    Column("question_id", pa.string(), "id of the question, as WVS-7 has it"),
    CATEGORY,
    *MEASURES[:1],
    *INTERVAL,
    *MEASURES[1:],
)
AWARENESS_STYLE_FREE = Table(
    "worldvaluesbench/awareness/style_free",
    "a model, by mean answers: each group's mean over questions is taken off both sides",
    "model",
    *MEASURES,
)
RELIABILITY = Table(
    "worldvaluesbench/awareness/reliability",
    "a model and two wordings",
    "model",
    Column("wording", pa.string(), "one wording"),
    Column("other_wording", pa.string(), "the other"),
    _number("reliability", "A_01 / sqrt(A_00 A_11): whether the model moves alike under both; may pass 1 by chance"),
    Column("can_be_ranked", pa.bool_(), "whether it reaches .5, so that models may be ranked"),
)
HUMAN_GROUPS = Table(
    "worldvaluesbench/human_groups",
    "an answer of a question in a group",
    Column("question_id", pa.string(), "id of the question, as WVS-7 has it"),
    *LEVELS,
    Column("n", pa.int64(), "people who answered", range=(0, 1e9)),
    EFFECTIVE_N,
    _number("dk_rate", "weighted share who gave no answer, of the data set's people who were asked", "share", 0, 1),
    _number("borrowed_n", "people that the additive fit counts as; infinite: shrunken shares are the fit", "", 0),
    FLOOR,
    Column("response_value", pa.int64(), "code of the answer"),
    _number("prob", "weighted share of the answer", "probability", 0, 1),
    _number("prob_shrunken", "the same, drawn towards the additive fit of the factors", "probability", 0, 1),
)
declare_tables(
    AWARENESS_FACTORS, AWARENESS_CATEGORIES, AWARENESS_QUESTIONS, AWARENESS_STYLE_FREE, RELIABILITY, HUMAN_GROUPS
)
QUESTION = Column("question_id", pa.string(), "id of the question, as WVS-7 has it")
COUNT = (0, float("inf"))
SUBSET = Column("subset", pa.string(), "all people, or those of a level")


def _count(name: str, words: str) -> Column:
    return Column(name, pa.int64(), words, range=COUNT)


def _unit(name: str, words: str) -> Column:
    return _number(name, words, "scale units", 0, 1)


RATING_DISTRIBUTIONS = Table(
    "worldvaluesbench/rating_distributions",
    "an answer of a model to a question, for a profile (`Q1@B_COUNTRY=156,...`) or without one",
    *PROBE_DISTRIBUTIONS.columns,
    is_exact=True,
)
READOUTS = Table(
    "worldvaluesbench/readout_comparison/readouts",
    "a model and a way to read its answers, over all prompts; and the scores under it",
    "model",
    Column("readout", pa.string(), "exact, greedy (its mode), sampled, or the paper's prompt by its figure"),
    _count("n_prompts", "prompts, in each order"),
    _count("n_answers", "answers that are ratings on the scale"),
    _count("n_unparsed", "answers that are none"),
    _unit("w1_unit", "mean distance from the exact distribution: of the same prompt, but for the paper's prompts"),
    _unit("w1_expected_unit", "what drawing alone makes of it, where the same prompt was sampled"),
    _number(
        "w1_allowed_unit", "the most that is put down to the draw: three standard deviations more", "scale units", 0
    ),
    _number("w1_seed", "the benchmark's own score, mean over questions", "scale units", 0),
    *MEASURES[:1],
    *INTERVAL,
    *MEASURES[1:],
)
declare_tables(
    RATING_DISTRIBUTIONS,
    READOUTS,
    Table(
        "worldvaluesbench/readout_comparison/prompts",
        "a prompt in one order and a way to read it",
        "model question_id wording",
        Column("order", pa.string(), "forward or reversed; averaged, where the prompt itself was not read"),
        Column("readout", pa.string(), "greedy (its mode), sampled, or the paper's prompt by its figure"),
        _count("n", "answers that are ratings on the scale"),
        _count("n_unparsed", "answers that are none"),
        _unit("w1_unit", "distance from the exact distribution"),
        _unit("w1_expected_unit", "what drawing alone makes of it: mean"),
        _unit("w1_expected_sd", "and standard deviation"),
    ),
    Table(
        "worldvaluesbench/value_questions",
        "a question that is asked",
        QUESTION,
        CATEGORY,
        Column("text", pa.string(), "the question, in our words"),
        Column("lo", pa.int64(), "code of the first answer"),
        Column("hi", pa.int64(), "code of the last answer"),
        Column("labels", pa.list_(pa.string()), "the answers' texts; empty for points between labelled ends"),
        Column("recodes", pa.string(), "codes of the survey that stand for others here", may_be_empty=True),
        Column("missing", pa.string(), "codes of the survey that count as no answer here", may_be_empty=True),
    ),
    Table(
        "worldvaluesbench/splits",
        "a person",
        Column("participant_id", pa.string(), "id of the person"),
        Column("split", pa.string(), "train, valid or test"),
    ),
    Table(
        "worldvaluesbench/probe_samples",
        "a person who is asked about, and a question",
        QUESTION,
        Column("participant_id", pa.string(), "id of the person"),
        *LEVELS,
    ),
    Table(
        "worldvaluesbench/benchmark_scores/scores",
        "a model, a subset of people and a question",
        "model",
        SUBSET,
        QUESTION,
        _count("n_people", "people who answered"),
        _count("n_ratings", "ratings that were given"),
        _count("n_missing", "ratings that are lacking"),
        _count("n_out_of_scale", "ratings that are not on the scale"),
        _number(
            "w1_seed",
            "the benchmark's own score: ratings against answers of all whom the model's file names",
            "scale units",
            0,
        ),
        _unit("w1_unit", "distance of ratings from answers, of people who have both, on the scale"),
        FLOOR,
        _unit("w1_uniform_unit", "distance of uniform answers"),
        _unit("w1_majority_unit", "distance of the answer that most people give"),
    ),
    Table(
        "worldvaluesbench/benchmark_scores/threshold_shares",
        "a model, a subset of people and a threshold",
        "model",
        SUBSET,
        Column("threshold", pa.float64(), "distance on the scale, 0 to 1, that is counted as near"),
        _count("n_questions", "questions that have a w1_seed: those that the model rates"),
        _number("share", "share of them whose w1_seed is at most the threshold", "share", 0, 1),
        _number("share_unit", "the same of w1_unit, over questions that have one", "share", 0, 1),
    ),
    Table(
        "worldvaluesbench/benchmark_scores/perfect_shares",
        "a threshold: a model whose only fault is that few people were asked",
        "model",
        Column("attributes", pa.string(), "always empty: it is asked nothing", may_be_empty=True),
        SUBSET,
        Column("threshold", pa.float64(), "distance on the scale, 0 to 1, that is counted as near"),
        _number("share", "share of questions at most so far away, mean over draws of people", "share", 0, 1),
        _number("share_low", "lower end of the band that 95 of 100 draws lie in", "share", 0, 1),
        _number("share_high", "its upper end", "share", 0, 1),
    ),
    Table(
        "worldvaluesbench/benchmark_scores/pooled_answers",
        "an answer of all people, or of a model for all of them",
        QUESTION,
        "model",
        Column("attributes", pa.string(), "with or without, of a model", may_be_empty=True),
        "response_value",
        _number("prob", "weighted share of the answer", "probability", 0, 1),
    ),
    Table(
        "worldvaluesbench/benchmark_scores/shown_people",
        "a model and one of some people of different groups who answered a question",
        QUESTION,
        Column("person", pa.int64(), "number of the person among those shown, from 1"),
        Column("background", pa.string(), "levels of the person's group"),
        "response_value model",
        Column("expected_value", pa.float64(), "mean answer that the model gives for the person, in codes"),
        Column("prompt", pa.string(), "the question as it is put about one person, in its first wording and order"),
    ),
    Table(
        "worldvaluesbench/awareness/group_means",
        "a model, a question and a group of people",
        "model",
        QUESTION,
        *LEVELS,
        _count("n", "people who answered and were rated"),
        _number("human_mean_unit", "people's mean answer", "scale units", 0, 1),
        _number("model_mean_unit", "the model's", "scale units", 0, 1),
    ),
    Table(
        "worldvaluesbench/benchmark_scores/ledger",
        "what was left out of the scores, and how often",
        Column("what", pa.string(), "what was left out"),
        Column("model", pa.string(), "the model it concerns; empty: all of them"),
        Column("question_id", pa.string(), "the question it concerns; empty: all of them"),
        _count("n", "how many"),
        _count("of", "of how many"),
    ),
    Table(
        "worldvaluesbench/group_distances",
        "a model, a question and a group of people",
        "model",
        QUESTION,
        *LEVELS,
        _count("n", "people who answered and were rated"),
        EFFECTIVE_N,
        _unit("w1_unit", "distance of the model's answers from the group's"),
        FLOOR,
        _number("w1_excess_unit", "w1_unit less the floor", "scale units", -1, 1),
        _number("cramer_unit", "squared distance between distribution functions, without bias; below 0 by chance"),
    ),
)

PERSONAS = Table(
    "worldvaluesbench/personas",
    "a background that somebody asked for has; what is missing of it is empty",
    Column("profile", pa.string(), "what is known: attributes and codes, as B_COUNTRY=156,H_URBRURAL=1"),
    Column("<attribute>", pa.int64(), "code or number of the attribute", may_be_empty=True, pattern=r"[A-Z]\w*\d*"),
    Column("n_people", pa.int64(), "people asked for who have it", range=(1, float("inf"))),
    Column("n_questions", pa.int64(), "questions that they are asked", range=(1, float("inf"))),
)
DECODED_RATINGS = Table(
    "worldvaluesbench/decoded_ratings",
    "an answer that was written, and the rating that is read from it; the text stays where none is",
    "trial_id question_id",
    Column("profile", pa.string(), "background that the prompt names; empty without", may_be_empty=True),
    "order wording sample",
    Column("rating", pa.int64(), "code of the rating, on the question's scale or off it", may_be_empty=True),
    Column("is_on_scale", pa.bool_(), "whether there is a rating and it is one of the scale's"),
    "text? status reason?",
)
RATING_ORDERS = Table(
    "worldvaluesbench/benchmark_scores/orders",
    "what the ratings of a model follow: the answers, or the places at which they stand",
    "model",
    _number("n_prompts", "prompts that were read in both orders, with attributes and without", "", 0),
    _number("n_low_p_valid", "prompts left out of every score, since too seldom any answer is given", "", 0),
    _number("n_questions", "questions that they are of", "", 0),
    _number("p_valid", "median P_valid", "probability", 0, 1),
    _number("changed", "share of prompts whose most probable answer is another one in the other order", "share", 0, 1),
    _number("pull_unit", "mean pull of what is listed first: half the difference of expected ratings", "scale units"),
    _number("agreement", "1 less variance of pulls over that of expected ratings: how these come back"),
    _number("agreement_low", "lower end of its interval over questions", "", 0, 1),
    _number("agreement_high", "upper end", "", 0, 1),
    _number("threshold", "what is asked for at least"),
    Column(
        "follow",
        pa.string(),
        "options; options under a pull, where position decides most single ratings; position; neither",
        may_be_empty=True,
    ),
    Column("is_evidence", pa.bool_(), "whether scores may rest on them; empty where unknown", may_be_empty=True),
    "reason?",
)
declare_tables(PERSONAS, DECODED_RATINGS, RATING_ORDERS)

PARTICIPANT = Column(
    "participant_id", pa.string(), "the person: D_INTERVIEW, numbered on where several people share it"
)
SPLIT = Column("split", pa.string(), "train, valid or test; full: all of them")
N_PEOPLE = Column("n", pa.int64(), "people, rows or answers counted", range=(0, float("inf")))

PARTICIPANTS = Table(
    "worldvaluesbench/participants",
    "a person: where from, which split, which group, 42 attributes",
    PARTICIPANT,
    Column("interview_id", pa.string(), "D_INTERVIEW as the file has it"),
    Column("country", pa.int64(), "ISO 3166-1 numeric; 909 is Northern Ireland's sample"),
    Column("weight", pa.float64(), "W_WEIGHT, with mean 1 within the country", range=(0, float("inf"))),
    SPLIT,
    Column("continent", pa.string(), "of the country; empty where none is known", may_be_empty=True),
    Column("settlement", pa.string(), "urban or rural; empty where unknown", may_be_empty=True),
    Column("education", pa.string(), "level of the highest education; empty where unknown", may_be_empty=True),
    Column(
        "<attribute>",
        pa.int64(),
        "code of a variable of WVS-7; below 0 missing; empty where the file has none",
        may_be_empty=True,
        pattern=r"[A-Z][A-Z0-9_]*",
    ),
)
VALUE_ANSWERS = Table(
    "worldvaluesbench/value_answers",
    "a person: a column per question",
    PARTICIPANT,
    Column(
        "<question id>",
        pa.int16(),
        "the answer on the question's scale; below 0 no answer and why; empty where the file has none",
        may_be_empty=True,
        pattern=r"Q\d+[A-Z]?",
    ),
)
STATISTICS = Table(
    "worldvaluesbench/dataset_statistics/splits",
    "a split",
    SPLIT,
    Column("participants", pa.int64(), "people", range=(0, float("inf"))),
    Column("examples", pa.int64(), "answers of people to questions", range=(0, float("inf"))),
)
QUESTION_STATISTICS = Table(
    "worldvaluesbench/dataset_statistics/questions",
    "a question: how many people answered it",
    "question_id",
    N_PEOPLE,
    *(
        Column(f"n_{name}", pa.int64(), f"the same in {name}", range=(0, float("inf")))
        for name in ("train", "valid", "test")
    ),
)
LEDGER = Table(
    "worldvaluesbench/dataset_statistics/ledger",
    "what was done to rows of the file, or is not in it",
    Column("what", pa.string(), "dropped, merged, renumbered, missing, or unlike the seed's"),
    Column("subject", pa.string(), "the id, column or factor that it concerns"),
    N_PEOPLE,
    Column("why", pa.string(), "the reason"),
)
declare_tables(PARTICIPANTS, VALUE_ANSWERS, STATISTICS, QUESTION_STATISTICS, LEDGER)
