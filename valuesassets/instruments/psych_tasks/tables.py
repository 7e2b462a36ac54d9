"""Tables that psych tasks alone write."""

from math import inf

import pyarrow as pa

from valuesassets.records.columns import Column
from valuesassets.records.table import Table
from valuesassets.records.tables import declare_tables


def text(name: str, words: str, is_needed: bool = False) -> Column:
    """A column of texts."""
    return Column(name, pa.string(), words, may_be_empty=not is_needed)


def count(name: str, words: str, low: float = 0, is_needed: bool = False) -> Column:
    """A column of whole numbers."""
    return Column(name, pa.int64(), words, range=(low, inf), may_be_empty=not is_needed)


def number(name: str, words: str, unit: str = "", low: float = -inf, high: float = inf) -> Column:
    """A column of numbers; empty where there is none."""
    return Column(name, pa.float64(), words, unit, (low, high), may_be_empty=True)


def yes(name: str, words: str, is_needed: bool = False) -> Column:
    """A column of true and false."""
    return Column(name, pa.bool_(), words, may_be_empty=not is_needed)


MODEL = text("model", "the model family, as the study names it; of the command line, the model's name", is_needed=True)
TASK = text("task", "name of the task", is_needed=True)
EXPERIMENT = text("experiment", "the experiment, as the transcript names it", is_needed=True)
PARTICIPANT = text("participant", "the participant, as the transcript names them", is_needed=True)
PRESENTATION = text(
    "presentation", "forward or reversed: which way round scales were shown; empty where there is one way"
)
MARK = count("mark", "number of the mark in its transcript, by opening delimiters, from 1", 1)
BLOCK = count("block", "number of the block that it stands in: an item, a problem, a balloon", 1)
KIND = text("kind", "kind of the mark, as the task file names it")
STATUS = text("status", "read, open or unlisted; or what kept it from being read", is_needed=True)
REASON = text("reason", "why it was not read, or why a value is missing")
HUMAN_ANSWER = text("human_answer", "what the participant answered, word for word")
HISTORY = text("history", "what stands before the mark's block: alone, own, human, other, permuted, answers, blank")
DRAW = count("draw", "of the model's own answers, number of the draw; 0: the likeliest each time")
LAYOUT = text("layout", "how the transcript was shown: marked, plain or chat")
LOW, HIGH = number("low", "lower end of its interval"), number("high", "upper end of its interval")
P = number("p", "p-value, uncorrected", "probability", 0, 1)
P_CORRECTED = number("p_corrected", "p-value, corrected over the models of a task", "probability", 0, 1)
IS_REJECTED = yes("is_rejected", "whether the corrected p-value is at most alpha")

TRANSCRIPTS = Table(
    "psych_tasks/transcripts",
    "a participant's transcript",
    EXPERIMENT,
    PARTICIPANT,
    PRESENTATION,
    text("text", "the transcript, word for word", is_needed=True),
)
TASK_MARKS = Table(
    "psych_tasks/marks",
    "an opening delimiter of a transcript; or a transcript without any",
    EXPERIMENT,
    PARTICIPANT,
    PRESENTATION,
    MARK,
    BLOCK,
    KIND,
    count("start", "first character of the answer in the transcript"),
    count("end", "the character behind it"),
    HUMAN_ANSWER,
    Column("candidates", pa.list_(pa.string()), "what may be answered", may_be_empty=True),
    STATUS,
    REASON,
)
ASKED_MARKS = Table(
    "psych_tasks/asked_marks",
    "a mark of a participant in one history, and the trial and span that ask it",
    text("trial_id", "the trial; empty where this history cannot be had there"),
    count("span", "number of the trial's span, from 0"),
    EXPERIMENT,
    PARTICIPANT,
    MARK,
    HISTORY,
    DRAW,
    LAYOUT,
    REASON,
)
MARKS = Table(
    "psych_tasks/answer_distributions/marks",
    "a mark of a participant after one history; one that no history asks stands there once",
    EXPERIMENT,
    PARTICIPANT,
    PRESENTATION,
    HISTORY,
    DRAW,
    LAYOUT,
    MARK,
    BLOCK,
    KIND,
    STATUS,
    REASON,
    HUMAN_ANSWER,
    number("log_prob_human", "log-probability of what the participant answered, not renormalised", "nats", high=0),
    number("log_prob_human_late", "the same as published code reads it", "nats", high=0),
    number("p_valid", "probability that the answer is one of the candidates", "probability", 0, 1),
    number(
        "p_valid_late", "the same as published code reads it; no probability where numbers have several tokens", "", 0
    ),
    number("resolution_mass", "where one candidate begins another: that its end could be told", "probability", 0, 1),
    count("context_tokens", "tokens before the answer"),
    count("n_candidates", "how many candidates there are"),
    count("n_multi_token", "candidates of several tokens"),
    count("n_tokens_human", "tokens of what the participant answered"),
    text("likeliest", "the likeliest candidate"),
    number("share_likeliest", "its share of the candidates' probability", "share", 0, 1),
    yes("is_likeliest", "whether that is what the participant answered"),
    number("expected_label", "expected answer as a number, as the scale was shown"),
    number("expected_value", "the same, as a forward presentation shows the scale"),
    number("human_value", "what the participant answered, as a forward presentation shows the scale"),
    number("label_lean", "slope of log-probabilities along the labels, as the scale was shown", "nats, end to end"),
    number("value_low", "lower end of the scale"),
    number("value_high", "upper end of the scale"),
    text("item_id", "what is asked there, as a hash: the same for all people, in whichever order they were shown it"),
    Column(
        "meanings",
        pa.list_(pa.string()),
        "what each candidate means: its value, turned with the scale, or its role; else its text",
        may_be_empty=True,
    ),
    text("human_meaning", "what the participant's answer means"),
    number(
        "log_share_by_place",
        "log of the mean share that the model gives to the answer's place at other marks of the kind",
        "nats",
        high=0,
    ),
    added_later=("label_lean", "item_id", "meanings", "human_meaning", "log_share_by_place"),
)
CANDIDATES = Table(
    "psych_tasks/answer_distributions/candidates",
    "a candidate at a mark that was read",
    EXPERIMENT,
    PARTICIPANT,
    HISTORY,
    DRAW,
    LAYOUT,
    MARK,
    text("candidate", "what may be answered", is_needed=True),
    number("log_prob", "log-probability, not renormalised", "nats"),
    number(
        "log_prob_late", "the same as published code reads it: one row late, later tokens behind the human's", "nats"
    ),
    count("n_tokens", "tokens of the candidate there"),
)
DONORS = Table(
    "psych_tasks/answer_distributions/donors",
    "a participant's answers, scored after the history of somebody who was shown the same (themselves too)",
    EXPERIMENT,
    PARTICIPANT,
    text("donor", "whose history it is", is_needed=True),
    LAYOUT,
    count("n_marks", "answers that are scored"),
    number("log_score", "mean log of the answers' shares", "nats", high=0),
)
LEDGER = Table(
    "psych_tasks/mark_ledger",
    "marks of one kind and status in a history",
    MODEL,
    TASK,
    text("experiment", "the experiment, as transcripts name it"),
    HISTORY,
    DRAW,
    LAYOUT,
    KIND,
    STATUS,
    count("marks", "how many"),
    count("transcripts", "in how many transcripts"),
    number("share_multi_token", "share of the candidates that have several tokens", "share", 0, 1),
    number("p_valid", "median P_valid of those that were read", "probability", 0, 1),
    number(
        "moved_by_item",
        "median of |ln share of the answer - ln of the mean share of its place|: 0 where a model goes by place alone",
        "nats",
        0,
    ),
    added_later=("moved_by_item",),
)
PLANTED_MARKS = Table(
    "psych_tasks/calibration/marks",
    "a mark of a reference model: planted against read",
    EXPERIMENT,
    PARTICIPANT,
    MARK,
    HISTORY,
    DRAW,
    LAYOUT,
    number("tvd", "total variation between what was planted and what was read", "share", 0, 1),
    number("tvd_late", "the same as published code reads it, renormalised", "", 0, 1),
    number("log_score", "log of the share that the model gives to the participant's answer", "nats", high=0),
    number("log_score_planted", "the same by the law that was planted", "nats", high=0),
)
RECOVERY = Table(
    "psych_tasks/calibration/recovery",
    "a history: how well what was planted came back",
    HISTORY,
    LAYOUT,
    count("n_marks", "marks that were asked"),
    count("n_read", "of them, those that were read"),
    number("tvd_mean", "mean total variation between planted and read", "", 0, 1),
    number("tvd_p95", "its 95th percentile", "", 0, 1),
    number("tvd_late_mean", "the mean as published code reads it", "", 0, 1),
    yes("is_recovered", "whether all were read, within the bounds", is_needed=True),
)
PLANTED_GAINS = Table(
    "psych_tasks/calibration/gains",
    "a gain: what the law gives, and what was read",
    text("gain", "format, style or content", is_needed=True),
    LAYOUT,
    count("n_participants", "participants that it is taken over"),
    number("planted", "by the law", "nats"),
    number("estimate", "as read", "nats"),
    yes("is_recovered", "whether the two are near enough", is_needed=True),
)
PREDICTION_SCORES = Table(
    "psych_tasks/prediction/scores",
    "a model in a task after one history; or what a model has to beat: uniform, place, crowd, counting",
    MODEL,
    TASK,
    LAYOUT,
    HISTORY,
    count("n_participants", "participants"),
    count("n_marks", "answers that are scored"),
    number("log_score", "mean log of the answers' shares, within and then over participants", "nats", high=0),
    number("log_score_low", "lower end of its interval over participants", "nats"),
    number("log_score_high", "upper end of its interval", "nats"),
    number("skill", "1 + log score / log of the number of candidates: 1 certain and right, 0 as even chances", high=1),
    number("skill_low", "lower end of its interval"),
    number("skill_high", "upper end of its interval"),
    number("accuracy", "share of answers that were the likeliest candidate", "share", 0, 1),
    REASON,
)
GAIN_ROWS = Table(
    "psych_tasks/prediction/gains",
    "a step of the ladder of a model in a task: what one history adds to another",
    MODEL,
    TASK,
    LAYOUT,
    text(
        "gain",
        "format, style, content, person, history, task text, shortcut; over uniform, place, crowd, counting",
        is_needed=True,
    ),
    text("more", "the history that knows more", is_needed=True),
    text("less", "what it is held against", is_needed=True),
    count("n_participants", "participants who have both"),
    number("estimate", "mean difference of log scores", "nats"),
    LOW,
    HIGH,
    P,
    P_CORRECTED,
    IS_REJECTED,
    REASON,
)
IDENTIFICATION = Table(
    "psych_tasks/prediction/identification",
    "a model in a task: whose history foretells whose answers",
    MODEL,
    TASK,
    LAYOUT,
    count("n_participants", "participants"),
    count("n_donors", "pairs of a participant and another who was shown the same"),
    number("share", "pairs in which one's own history foretells the answers better; .5 by chance", "share", 0, 1),
    LOW,
    HIGH,
    P,
    P_CORRECTED,
    IS_REJECTED,
    REASON,
)
QUANTILES = Table(
    "psych_tasks/prediction/quantiles",
    "answers whose likeliest candidate has a share of the probability between two bounds",
    MODEL,
    TASK,
    LAYOUT,
    number("low", "least share of these"),
    number("high", "greatest share of these"),
    count("n_marks", "answers"),
    number("foretold", "mean share of the likeliest candidate", "share", 0, 1),
    number("observed", "how often it was the answer", "share", 0, 1),
)
SCALE = text("scale", "name of the scale", is_needed=True)
MODELS, ITEMS = count("models", "models"), count("items", "items")
LINES = count("lines", "lines that the models are of: what counts as independent")


def ends(name: str, words: str, unit: str = "") -> tuple[Column, Column, Column]:
    """A number and the ends of its interval."""
    return (
        number(name, words, unit),
        number(f"{name}_low", f"lower end of the interval of {name}", unit),
        number(f"{name}_high", f"upper end of the interval of {name}", unit),
    )


KEYING_MODELS = Table(
    "psych_tasks/keying/models",
    "a model's answers to a scale, each item alone, on the labels as they were shown",
    MODEL,
    text("line", "the line of models that it is of, as the study declares it or by its name"),
    TASK,
    EXPERIMENT,
    SCALE,
    number("forward_mean", "mean over forward-keyed items and presentations"),
    number("reverse_mean", "mean over reverse-keyed ones, nothing recoded"),
    number("trait", "midpoint + half of their difference"),
    number("bias", "half of their sum, less the midpoint: what is liked of the labels"),
    number(
        "trait_lean", "the trait in log-odds: half the difference of mean leans, which likings keep as it is", "nats"
    ),
    number("bias_lean", "the bias in log-odds: half their sum", "nats, end to end"),
    REASON,
)
KEYING_SCALES = Table(
    "psych_tasks/keying/scales",
    "a scale over models: does it measure what items say, or which label a model likes?",
    TASK,
    EXPERIMENT,
    SCALE,
    MODELS,
    LINES,
    ITEMS,
    *ends("rho", "correlation over models of forward and reverse means; interval over lines"),
    number("p", "p-value of the rank correlation of lines' means", "probability", 0, 1),
    *ends("pi_bias", "(1 + rho) / 2: share of a liking for labels", "share"),
    text("verdict", "label preference, trait, or not told apart"),
    REASON,
)
PUBLISHED_SCORES = Table(
    "psych_tasks/published_scores/scores",
    "an item's published score of a model: what people answered, weighted by how likely the model found it",
    MODEL,
    TASK,
    EXPERIMENT,
    SCALE,
    count("item", "number of the item"),
    number("score", "sum of h q(h) / sum of q(h) over participants, re-keyed"),
    text("reading", "exact, or late: as published code reads q"),
    REASON,
)
PUBLISHED_SCALES = Table(
    "psych_tasks/published_scores/scales",
    "alpha of a scale's published scores over models, beside what gives it without any trait",
    TASK,
    EXPERIMENT,
    SCALE,
    text("reading", "exact, or late: as published code reads q"),
    MODELS,
    LINES,
    ITEMS,
    *ends("alpha", "Cronbach's alpha over models, Feldt's interval over lines"),
    number("null_low", "alpha without any covariance: lower end of its band"),
    number("null_high", "upper end of its band"),
    *ends("alpha_random", "mean alpha of models with random logits, and the range of most"),
    number("alpha_permuted", "mean alpha where probabilities are dealt anew among participants"),
    number("alpha_label", "alpha of the same models asked without any item"),
    REASON,
)
RELIABILITY_SCALES = Table(
    "psych_tasks/reliability/scales",
    "a scale in a history without human answers: would models be set apart alike under other conditions?",
    TASK,
    text("history", "alone or own"),
    EXPERIMENT,
    SCALE,
    MODELS,
    LINES,
    ITEMS,
    count("presentations", "ways round that the scale was shown"),
    count("draws", "draws of the model's own answers"),
    *ends("generalizability", "share of the variance of mean scores that would replicate, over all facets"),
    *ends("over_items", "the same over other items alone"),
    *ends("over_presentations", "the same over other presentations alone"),
    *ends("over_draws", "the same over other draws alone"),
    REASON,
)
RELIABILITY_COMPONENTS = Table(
    "psych_tasks/reliability/components",
    "a source of variance of a scale's answers",
    TASK,
    text("history", "alone or own"),
    EXPERIMENT,
    SCALE,
    text("source", "what varies: model, item, presentation, draw, and how they go together"),
    number("variance", "its variance", "scale units squared"),
    number("share", "its share of all that has to do with models", "share", 0, 1),
)
LAYOUT_EFFECTS = Table(
    "psych_tasks/layout_effect/effects",
    "a model in a task after one history: another layout less the first",
    MODEL,
    TASK,
    HISTORY,
    text("layout", "the layout", is_needed=True),
    text("against", "the layout that it is held against", is_needed=True),
    count("n_participants", "participants"),
    count("n_marks", "marks that both have"),
    number("log_score_difference", "mean difference of log scores", "nats"),
    LOW,
    HIGH,
    P,
    number("p_corrected", "p-value, corrected over all comparisons of layouts", "probability", 0, 1),
    IS_REJECTED,
    number("p_valid_difference", "mean difference of P_valid", "probability", -1, 1),
    number("share_other_likeliest", "marks with another likeliest candidate", "share", 0, 1),
    REASON,
)
declare_tables(
    *(TRANSCRIPTS, TASK_MARKS, ASKED_MARKS, MARKS, CANDIDATES, DONORS, LEDGER, PLANTED_MARKS, RECOVERY, PLANTED_GAINS),
    *(PREDICTION_SCORES, GAIN_ROWS, IDENTIFICATION, QUANTILES, KEYING_MODELS, KEYING_SCALES, PUBLISHED_SCORES),
    *(PUBLISHED_SCALES, RELIABILITY_SCALES, RELIABILITY_COMPONENTS, LAYOUT_EFFECTS),
)
