"""Tables that psych tasks alone write."""

from functools import partial

from valuesassets.records.columns import Column, count, flag, number, probability, share, text, texts, with_ends
from valuesassets.records.tables import declare_table


def ends(estimate: Column) -> tuple[Column, Column, Column]:
    """A number and the ends of its interval."""
    name = estimate.name
    return with_ends(estimate, f"lower end of the interval of {name}", f"upper end of the interval of {name}")


VOCABULARY = (
    text("experiment", "the experiment, as the transcript names it"),
    text("participant", "the participant, as the transcript names them"),
    text("presentation?", "forward or reversed: which way round scales were shown; empty where there is one way"),
    count("mark?", "number of the mark in its transcript, by opening delimiters, from 1", low=1),
    count("block?", "number of the block that it stands in: an item, a problem, a balloon", low=1),
    text("kind?", "kind of the mark, as the task file names it"),
    text("human_answer?", "what the participant answered, word for word"),
    text("status", "read, open or unlisted; or what kept it from being read"),
    text("reason?", "why it was not read, or why a value is missing"),
    text("history?", "what stands before the mark's block: alone, own, human, other, permuted, answers, blank"),
    count("draw?", "of the model's own answers, number of the draw; 0: the likeliest each time"),
    text("layout?", "how the transcript was shown: marked, plain or chat"),
    count("n_marks?", "answers that are scored"),
    text("model", "the model family, as the study names it; of the command line, the model's name"),
    text("task", "name of the task"),
    count("n_participants?", "participants"),
    number("low", "lower end of its interval"),
    number("high", "upper end of its interval"),
    probability("p_corrected", "p-value, corrected over the models of a task"),
    flag("is_rejected?", "whether the corrected p-value is at most alpha"),
    text("scale", "name of the scale"),
    count("models?", "models"),
    count("lines?", "lines that the models are of: what counts as independent"),
    count("items?", "items"),
    text("reading?", "exact, or late: as published code reads q"),
)
"""Columns that several of these tables have; a table gives their names."""
table = partial(declare_table, vocabulary=VOCABULARY)

TRANSCRIPTS = table(
    "psych_tasks/transcripts",
    "a participant's transcript",
    "experiment participant presentation",
    text("text", "the transcript, word for word"),
)
TASK_MARKS = table(
    "psych_tasks/marks",
    "an opening delimiter of a transcript; or a transcript without any",
    "experiment participant presentation mark block kind",
    count("start?", "first character of the answer in the transcript"),
    count("end?", "the character behind it"),
    "human_answer",
    texts("candidates?", "what may be answered"),
    "status reason",
)
ASKED_MARKS = table(
    "psych_tasks/asked_marks",
    "a mark of a participant in one history, and the trial and span that ask it",
    text("trial_id?", "the trial; empty where this history cannot be had there"),
    count("span?", "number of the trial's span, from 0"),
    "experiment participant mark history draw layout reason",
)
MARKS = table(
    "psych_tasks/answer_distributions/marks",
    "a mark of a participant after one history; one that no history asks stands there once",
    "experiment participant presentation history draw layout mark block kind status reason human_answer",
    number("log_prob_human", "log-probability of what the participant answered, not renormalised", "nats", high=0),
    number("log_prob_human_late", "the same as published code reads it", "nats", high=0),
    probability("p_valid", "probability that the answer is one of the candidates"),
    number(
        "p_valid_late", "the same as published code reads it; no probability where numbers have several tokens", low=0
    ),
    probability("resolution_mass", "where one candidate begins another: that its end could be told"),
    count("context_tokens?", "tokens before the answer"),
    count("n_candidates?", "how many candidates there are"),
    count("n_multi_token?", "candidates of several tokens"),
    count("n_tokens_human?", "tokens of what the participant answered"),
    text("likeliest?", "the likeliest candidate"),
    share("share_likeliest", "its share of the candidates' probability"),
    flag("is_likeliest?", "whether that is what the participant answered"),
    number("expected_label", "expected answer as a number, as the scale was shown"),
    number("expected_value", "the same, as a forward presentation shows the scale"),
    number("human_value", "what the participant answered, as a forward presentation shows the scale"),
    number("label_lean", "slope of log-probabilities along the labels, as the scale was shown", "nats, end to end"),
    number("value_low", "lower end of the scale"),
    number("value_high", "upper end of the scale"),
    text("item_id?", "what is asked there, as a hash: the same for all people, in whichever order they were shown it"),
    texts("meanings?", "what each candidate means: its value, turned with the scale, or its role; else its text"),
    text("human_meaning?", "what the participant's answer means"),
    number(
        "log_share_by_place",
        "log of the mean share that the model gives to the answer's place at other marks of the kind",
        "nats",
        high=0,
    ),
    added_later=("label_lean", "item_id", "meanings", "human_meaning", "log_share_by_place"),
)
CANDIDATES = table(
    "psych_tasks/answer_distributions/candidates",
    "a candidate at a mark that was read",
    "experiment participant history draw layout mark",
    text("candidate", "what may be answered"),
    number("log_prob", "log-probability, not renormalised", "nats"),
    number(
        "log_prob_late", "the same as published code reads it: one row late, later tokens behind the human's", "nats"
    ),
    count("n_tokens?", "tokens of the candidate there"),
)
DONORS = table(
    "psych_tasks/answer_distributions/donors",
    "a participant's answers, scored after the history of somebody who was shown the same (themselves too)",
    "experiment participant",
    text("donor", "whose history it is"),
    "layout n_marks",
    number("log_score", "mean log of the answers' shares", "nats", high=0),
)
LEDGER = table(
    "psych_tasks/mark_ledger",
    "marks of one kind and status in a history",
    "model task",
    text("experiment?", "the experiment, as transcripts name it"),
    "history draw layout kind status",
    count("marks?", "how many"),
    count("transcripts?", "in how many transcripts"),
    share("share_multi_token", "share of the candidates that have several tokens"),
    probability("p_valid", "median P_valid of those that were read"),
    number(
        "moved_by_item",
        "median of |ln share of the answer - ln of the mean share of its place|: 0 where a model goes by place alone",
        "nats",
        0,
    ),
    added_later=("moved_by_item",),
)
PLANTED_MARKS = table(
    "psych_tasks/calibration/marks",
    "a mark of a reference model: planted against read",
    "experiment participant mark history draw layout",
    share("tvd", "total variation between what was planted and what was read"),
    share("tvd_late", "the same as published code reads it, renormalised", unit=""),
    number("log_score", "log of the share that the model gives to the participant's answer", "nats", high=0),
    number("log_score_planted", "the same by the response model that was planted", "nats", high=0),
)
RECOVERY = table(
    "psych_tasks/calibration/recovery",
    "a history: how well what was planted came back",
    "history layout",
    count("n_marks?", "marks that were asked"),
    count("n_read?", "of them, those that were read"),
    share("tvd_mean", "mean total variation between planted and read", unit=""),
    share("tvd_p95", "its 95th percentile", unit=""),
    share("tvd_late_mean", "the mean as published code reads it", unit=""),
    flag("is_recovered", "whether all were read, within the bounds"),
)
PLANTED_GAINS = table(
    "psych_tasks/calibration/gains",
    "a gain: by the planted response model, and as it was read",
    text("gain", "format, style or content"),
    "layout",
    count("n_participants?", "participants that it is taken over"),
    number("planted", "by the planted response model", "nats"),
    number("estimate", "as read", "nats"),
    flag("is_recovered", "whether the two are near enough"),
)
PREDICTION_SCORES = table(
    "psych_tasks/prediction/scores",
    "a model in a task after one history; or what a model has to beat: uniform, place, crowd, counting",
    "model task layout history n_participants n_marks",
    *with_ends(
        number("log_score", "mean log of the answers' shares, within and then over participants", "nats", high=0),
        "lower end of its interval over participants",
    ),
    *with_ends(
        number(
            "skill", "1 + log score / log of the number of candidates: 1 certain and right, 0 as even chances", high=1
        )
    ),
    share("accuracy", "share of answers that were the likeliest candidate"),
    "reason",
)
GAIN_ROWS = table(
    "psych_tasks/prediction/gains",
    "a step of the ladder of a model in a task: what one history adds to another",
    "model task layout",
    text("gain", "format, style, content, person, history, task text, shortcut; over uniform, place, crowd, counting"),
    text("more", "the history that knows more"),
    text("less", "what it is held against"),
    count("n_participants?", "participants who have both"),
    number("estimate", "mean difference of log scores", "nats"),
    "low high p p_corrected is_rejected reason",
)
IDENTIFICATION = table(
    "psych_tasks/prediction/identification",
    "a model in a task: whose history predicts whose answers",
    "model task layout n_participants",
    count("n_donors?", "pairs of a participant and another who was shown the same"),
    share("share", "pairs in which one's own history predicts the answers better; .5 by chance"),
    "low high p p_corrected is_rejected reason",
)
QUANTILES = table(
    "psych_tasks/prediction/quantiles",
    "answers whose likeliest candidate has a share of the probability between two bounds",
    "model task layout",
    number("low", "least share of these"),
    number("high", "greatest share of these"),
    count("n_marks?", "answers"),
    share("foretold", "mean share of the likeliest candidate"),
    share("observed", "how often it was the answer"),
)
KEYING_MODELS = table(
    "psych_tasks/keying/models",
    "a model's answers to a scale, each item alone, on the labels as they were shown",
    "model",
    text("line?", "the line of models that it is of, as the study declares it or by its name"),
    "task experiment scale",
    number("forward_mean", "mean over forward-keyed items and presentations"),
    number("reverse_mean", "mean over reverse-keyed ones, nothing recoded"),
    number("trait", "midpoint + half of their difference"),
    number("bias", "half of their sum, less the midpoint: what is liked of the labels"),
    number(
        "trait_lean", "the trait in log-odds: half the difference of mean leans, which likings keep as it is", "nats"
    ),
    number("bias_lean", "the bias in log-odds: half their sum", "nats, end to end"),
    "reason",
)
KEYING_SCALES = table(
    "psych_tasks/keying/scales",
    "a scale over models: does it measure what items say, or which label a model likes?",
    "task experiment scale models lines items",
    *ends(number("rho", "correlation over models of forward and reverse means; interval over lines")),
    probability("p", "p-value of the rank correlation of lines' means"),
    *ends(number("pi_bias", "(1 + rho) / 2: share of a liking for labels", "share")),
    text("verdict?", "label preference, trait, or not told apart"),
    "reason",
)
PUBLISHED_SCORES = table(
    "psych_tasks/published_scores/scores",
    "an item's published score of a model: what people answered, weighted by how likely the model found it",
    "model task experiment scale",
    count("item?", "number of the item"),
    number("score", "sum of h q(h) / sum of q(h) over participants, re-keyed"),
    "reading reason",
)
PUBLISHED_SCALES = table(
    "psych_tasks/published_scores/scales",
    "alpha of a scale's published scores over models, beside what gives it without any trait",
    "task experiment scale reading models lines items",
    *ends(number("alpha", "Cronbach's alpha over models, Feldt's interval over lines")),
    number("null_low", "alpha without any covariance: lower end of its band"),
    number("null_high", "upper end of its band"),
    *ends(number("alpha_random", "mean alpha of models with random logits, and the range of most")),
    number("alpha_permuted", "mean alpha where probabilities are dealt anew among participants"),
    number("alpha_label", "alpha of the same models asked without any item"),
    "reason",
)
RELIABILITY_SCALES = table(
    "psych_tasks/reliability/scales",
    "a scale in a history without human answers: would models be set apart alike under other conditions?",
    "task",
    text("history?", "alone or own"),
    "experiment scale models lines items",
    count("presentations?", "ways round that the scale was shown"),
    count("draws?", "draws of the model's own answers"),
    *ends(number("generalizability", "share of the variance of mean scores that would replicate, over all facets")),
    *ends(number("over_items", "the same over other items alone")),
    *ends(number("over_presentations", "the same over other presentations alone")),
    *ends(number("over_draws", "the same over other draws alone")),
    "reason",
)
RELIABILITY_COMPONENTS = table(
    "psych_tasks/reliability/components",
    "a source of variance of a scale's answers",
    "task",
    text("history?", "alone or own"),
    "experiment scale",
    text("source?", "what varies: model, item, presentation, draw, and how they go together"),
    number("variance", "its variance", "scale units squared"),
    share("share", "its share of all that has to do with models"),
)
LAYOUT_EFFECTS = table(
    "psych_tasks/layout_effect/effects",
    "a model in a task after one history: another layout less the first",
    "model task history",
    text("layout", "the layout"),
    text("against", "the layout that it is held against"),
    "n_participants",
    count("n_marks?", "marks that both have"),
    number("log_score_difference", "mean difference of log scores", "nats"),
    "low high p",
    probability("p_corrected", "p-value, corrected over all comparisons of layouts"),
    "is_rejected",
    number("p_valid_difference", "mean difference of P_valid", "probability", -1, 1),
    share("share_other_likeliest", "marks with another likeliest candidate"),
    "reason",
)
