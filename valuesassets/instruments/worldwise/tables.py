"""Tables that worldwise alone writes: its material, what models choose, their reasons, and where these stand."""

from functools import partial

import pyarrow as pa

from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.records.columns import column, count, flag, number, probability, share, text, texts, with_ends
from valuesassets.records.tables import declare_table

LEAN_UNIT = "lean: -1 low pole, 1 high pole"
SCORE = "2 tanh((h - l) / (h + l)), h and l mean cosines to the poles' sentences; text: "
POSITION = number("position", "0 half-way between the means of the poles, 1 at the high one, -1 at the low one")
VOCABULARY = (
    text("scenario_id", "the dilemma"),
    text("axis", "the dimension that its options are poles of: IDV, PDI, MAS, UAI, LTO, IVR"),
    text("pole", "high or low"),
    column("places", "which numbers of the vector these are; all, in order, where empty", kind=pa.list_(pa.int32())),
    column("vector", "numbers of its vector, which has length one; none without a letter", kind=pa.list_(pa.float32())),
    text("culture", "the culture of the persona, as the study names it; placebo; unprompted"),
    text("form", "decide, open or advocate; choice where no text was written"),
    count("draw", "number of the answer among those to the same prompt, from 0", high=1e9),
    text(
        "readout",
        "choice: lean of next-token probabilities; decision: in writing; position_decide, position_open: of the"
        " reasons to both forms",
    ),
    count("n_scenarios?", "scenarios that it rests on"),
    probability("p_corrected", "p-value, corrected over the family of tests"),
    count("n_cultures?", "cultures compared"),
    number("threshold", "what the study asks for at least"),
)
"""Columns that several of these tables have; a table gives their names."""
MEASURE_VOCABULARY = (
    *VOCABULARY,
    text("reason?", "why a number is missing, or what has to be known to read it"),
    text("status", "ok; refused: the data it needs are not good enough; undefined: what it needs is not there"),
)
"""The same for the tables of measures, whose `status` and `reason` mean something else."""
table = partial(declare_table, vocabulary=VOCABULARY)
measure_table = partial(declare_table, vocabulary=MEASURE_VOCABULARY)

SCENARIOS = table(
    "worldwise/scenarios",
    "a dilemma: a situation and two options that stand for the poles of one dimension",
    "scenario_id axis",
    text("domain", "part of life that it is from"),
    "language",
    text("situation", "what has happened"),
    text("question", "what is asked"),
    text("high", "option of the high pole"),
    text("low", "option of the low pole"),
    text("more?", "JSON: further keys of its file"),
)
EXEMPLARS = table(
    "worldwise/exemplars",
    "a sentence that stands for a pole of a dimension",
    "axis pole",
    text("pair?", "name of the pair of sentences about the same matter"),
    "text",
)
AXIS_VALIDITY = table(
    "worldwise/axes/validity",
    "whether the axis of a dimension, as an embedder has it, orders sentences that it was not made of",
    text("embedder", "the embedder; lexical is a bag of words"),
    "axis",
    count("n_high", "sentences of the high pole", high=1e9),
    count("n_low", "sentences of the low pole", high=1e9),
    flag("is_paired", "whether they are pairs about the same matter"),
    share("held_out_auc!", "share of (high, low) in order on the axis of the others", unit=""),
    "p",
    flag("is_valid", "whether answers may be placed on it: AUC from .75, p up to .05"),
    *(number(f"cosine_{axis}", f"cosine with the axis {axis}", "", -1, 1) for axis in AXES),
    "reason?",
)
EXEMPLAR_VECTORS = table("worldwise/axes/vectors", "an exemplar as a vector", "axis pole places vector")
CHOICES = table(
    "worldwise/choices",
    "what a model chooses in a dilemma, as a persona or without one",
    "model_id model culture scenario_id axis wording",
    share("p_high_forward", "probability of the high pole among both, in the order of the trial forward", unit=""),
    share("p_high_reversed", "the same, options exchanged", unit=""),
    share("p_high", "mean of both orders", unit=""),
    share(
        "p_high_log_odds", "the same by the mean of both orders' log odds: a strong pull does not shrink it", unit=""
    ),
    number(
        "position_pull",
        "log odds of the first option, half of what they differ by when the options are exchanged",
        "nats",
    ),
    text("follows?", "what the preferred one follows where options are exchanged: option, or position"),
    share("p_valid_forward", "probability that an option is answered at all, forward", unit=""),
    share("p_valid_reversed", "the same, options exchanged", unit=""),
    share("p_valid", "mean of both orders", unit=""),
    number("position_bias", "P(first option) minus one half, mean of both orders", "", -0.5, 0.5),
    number("lean", "2 p_high - 1: from -1, the low pole, to 1, the high one", "", -1, 1),
    text("channel", "exact, top (bounds), drawn (counts); never pooled"),
    "status reason?",
    is_exact=True,
)
DEMAND_CHOICES = table(
    "worldwise/demand_choices",
    "the same as a persona that is told to hold the values that are typical there",
    *CHOICES.columns,
    is_exact=True,
)
REASONS = table(
    "worldwise/reasons",
    "an answer that a model wrote to a dilemma, as it was and as it was understood",
    "trial_id prompt scenario_id axis culture",
    text("form", "decide: options, values and reason are asked for; open: a reason alone; advocate"),
    text("pole?", "high or low: the option that an advocate was to speak for"),
    "wording",
    text("order?", "forward, reversed; empty where there are no options"),
    "draw text?",
    text("status", "ok, declined, refused, filtered, loop, truncated, unparsed, failed, not_asked"),
    "reason?",
    text("decision?", "pole that was decided for: high or low"),
    texts("values", "values that were ticked, of those listed"),
    texts("unknown_values", "what was ticked beside the list"),
    text("explanation?", "the reason alone"),
    text("finish_reason?", "what ended the answer"),
    number("prompt_tokens", "tokens of the prompt, where they are counted"),
    number("output_tokens", "tokens of the answer"),
    number("cost_usd", "what it cost, where there are prices", "USD"),
)
REASON_VECTORS = table(
    "worldwise/reason_vectors",
    "a text of an answer as a vector",
    "trial_id scenario_id axis culture",
    text("form", "decide, open or advocate"),
    text("pole?", "high or low: the option that an advocate was to speak for"),
    "draw",
    text(
        "kind",
        "reason: mean of its sentences, countries masked; seed_final, seed_stored: text composed as "
        "worldWiseAI did, of the form decide",
    ),
    "places vector",
    flag("is_truncated", "whether the embedder read only the beginning of a text"),
)
REASONED = "reason"
"""The kind of vector that stands for a reason."""
PROJECTIONS = table(
    "worldwise/projections",
    "where a reason stands on a dimension",
    "trial_id scenario_id culture",
    text("form", "decide, open or advocate"),
    "draw axis",
    flag("is_own_axis", "whether the dilemma stands on this dimension"),
    POSITION,
    "status reason?",
)
SCORES = table(
    "worldwise/scores",
    "where an answer that was made anywhere stands on a dimension, by worldWiseAI's score and by projection",
    text("response_id", "the answer"),
    "axis",
    flag("is_own_axis", "whether its dilemma stands on this dimension"),
    number("seed_final", f"{SCORE}values three times, explanation, decision", "", -2, 2),
    number("seed_stored", f"{SCORE}explanation, decision, values", "", -2, 2),
    number(
        "position",
        "0 half-way between the poles' means, 1 at the high one, -1 at the low one; none on an axis that is not valid",
    ),
    flag("is_truncated", "whether the embedder read only the beginning of one of worldWiseAI's texts"),
    "status reason?",
)
PLANTED = table(
    "worldwise/planted",
    "what a reference model was trained to choose and to write in a dilemma",
    "culture scenario_id axis",
    share("p_high_choice!", "planted probability of the high pole, over both orders", unit=""),
    share("p_high_reason!", "the same of decisions and reasons in writing", unit=""),
    share("refused!", "planted share of answers that are refused", unit=""),
    is_exact=True,
)
PLACED_REASONS = table(
    "worldwise/placed_reasons",
    "an answer that a model wrote to a dilemma, and where it stands on the dilemma's own dimension",
    *REASONS.columns,
    POSITION,
)
RECOVERY = table(
    "worldwise/recovery/measures",
    "a measure of how well what was planted is found again, and what it is allowed to be",
    text("model", "the model that was trained"),
    text("measure", "what is measured"),
    text("axis?", "the dimension it is of; empty where of all"),
    count("n", "dilemmas, axes, or conditions on axes that it is of", high=1e9),
    number("value", "what was found"),
    number("least", "what it has to be at least"),
    number("most", "what it may be at most"),
    flag("is_within", "whether it is as it has to be"),
    "reason?",
)
SEED_ERRORS = table(
    "worldwise/seed_scores/errors",
    "a culture on an axis: the mean error of the published score",
    "model culture axis",
    number("error", "mean distance of the score from the target", "", 0, 4),
    number("error_zero", "the same of a score of zero everywhere", "", 0, 4),
)
ADVOCATES = measure_table(
    "worldwise/quality_report/advocates",
    "an axis of a model: whether what it says for the poles is distinguished",
    "model axis",
    share("auc", "share of (high, low) advocates of the same dilemma in order, mean over dilemmas"),
    probability("p", "how often poles exchanged at random within dilemmas do as well"),
    flag("is_told_apart?", "true if the AUC is at least .75, p at most .05, and each pole has at least five texts"),
    count("n_advocates?", "answers of advocates that were read"),
    "reason",
)
CONVERGENT = table(
    "worldwise/quality_report/convergent_validity",
    "an axis of a model: whether positions of reasons go with the values that the same answers tick",
    "model axis",
    number("r", "correlation with ticked values of the axis, both less their means in the dilemma", "", -1, 1),
    share("discriminant", "mean size of the correlations with values of other axes, over all valid axes", unit=""),
    count("n_answers?", "answers that were placed"),
)
SEED_MEASURES = measure_table(
    "worldwise/seed_scores/measures",
    "a figure that worldWiseAI published, of this study's answers, beside what needs no answer",
    text("composition", "final, stored: how the text that is scored was composed; empty where none is"),
    text("measure", "its name"),
    number("value", "the figure"),
    number("zero", "the same of a score of zero everywhere"),
    number("others_mean", "the same of the mean target of the other cultures"),
    number("exchanged", "mean over exchanges of the cultures' targets"),
    probability("p", "how often an exchange does as well"),
    "reason",
)
SEED_FIGURES = table(
    "worldwise/seed_scores/figures",
    "a point of one of the figures that worldWiseAI published, with its null",
    text("figure", "which of them"),
    text("score", "the row that it stands in"),
    text("model", "the model, or all"),
    number("value", "as published work computes it"),
    number("null", "the same without any answer or persona, see the figure"),
)
CULTURAL_PROFILES = measure_table(
    "worldwise/cultural_profiles/profiles",
    "a condition of a model on an axis: means over scenarios",
    "model readout culture axis",
    *with_ends(number("lean", "mean lean, or position of reasons", LEAN_UNIT)),
    *with_ends(number("effect", "mean of lean less the placebo's in the same scenario", LEAN_UNIT)),
    number("z", "score of the culture's country, in standard deviations over countries"),
    "n_scenarios",
    count("n_compared?", "scenarios that the effect rests on"),
    "status reason",
)
AGREEMENT = measure_table(
    "worldwise/alignment/agreement",
    "a correlation of a model's cultures with their countries' scores, over cultures and axes",
    "model readout",
    text(
        "kind",
        "what is subtracted: means of axes (axis-centred), of cultures too (double-centred), or what habits "
        "of answering do (style-centred)",
    ),
    *with_ends(number("r", "correlation", "", -1, 1)),
    probability(
        "p",
        "one-sided, labels of cultures permuted jointly over axes; the larger of that as if cultures were "
        "independent and that which allows for culture zones",
    ),
    probability("p_corrected", "corrected over models, for each readout and kind"),
    number("null_low", "lower end of the middle of those under permuted labels, as much as intervals cover", "", -1, 1),
    number("null_high", "upper end", "", -1, 1),
    "n_cultures n_scenarios status reason",
)
VERDICTS = measure_table(
    "worldwise/alignment/verdicts",
    "a readout of a model: what its correlations amount to",
    "model readout",
    text("verdict?", "what they amount to; empty where there are none"),
    "reason",
)
FLATTENING = measure_table(
    "worldwise/alignment/flattening",
    "a readout of a model: how far its cultures lie apart",
    "model readout",
    *with_ends(
        number("slope", "change of the lean per standard deviation of the country scores, axes centred", LEAN_UNIT)
    ),
    number("slope_least", "the slope with all missing answers on the pole that lowers it most", LEAN_UNIT),
    number("slope_most", "the slope with all missing answers on the pole that raises it most", LEAN_UNIT),
    number(
        "culture_share",
        "variance between cultures' means on an axis over all variance among cultures within scenarios; "
        "below 0 by chance",
        "share",
        high=1,
    ),
    count("n_pairs?", "pairs of cultures compared"),
    count("n_told_apart?", "pairs of them that are distinguished"),
    "n_cultures n_scenarios status reason",
)
CULTURE_PAIRS = measure_table(
    "worldwise/alignment/culture_pairs",
    "a pair of cultures of a model",
    "model readout culture",
    text("other_culture", "the other culture"),
    number("distance", "root mean square, over axes, of the mean difference of leans", LEAN_UNIT, 0),
    "p",
    probability("p_corrected", "corrected over pairs (smallest p, step-down)"),
    flag("is_told_apart?", "whether the corrected p-value is below the level"),
    "n_scenarios status reason",
)
PERSONA_SHIFT = measure_table(
    "worldwise/persona_shift/shifts",
    "a condition of a model beside the placebo: which values are ticked",
    "model culture",
    share("tvd", "total variation distance of the shares of ticked values, means over scenarios"),
    share("tvd_by_chance", "its mean with both conditions swapped within scenarios"),
    *with_ends(number("tvd_excess", "the distance less its mean by chance", "share", -1, 1)),
    "p p_corrected n_scenarios status reason",
)
NEAREST_PERSONA = measure_table(
    "worldwise/persona_shift/nearest_persona",
    "a culture of a model: how far its persona is from answers without one",
    "model readout",
    text("culture?", "the culture of the persona; empty where none can be ranked"),
    number("distance", "root mean square difference of leans over scenarios", LEAN_UNIT, 0),
    count("rank?", "1 is nearest"),
    share("p_nearest", "share of resamples of scenarios in which it is nearest"),
    number("mean_rank", "its mean rank in them", low=1),
    "n_scenarios status reason",
)
SAY_DO_GAP = measure_table(
    "worldwise/say_do_gap/gaps",
    "an axis of a model: what is written less what is chosen",
    "model form",
    text("measure", "decision: share decided for the high pole less p_high; position: of reasons less the lean"),
    "axis",
    *with_ends(number("gap", "mean over scenarios", "probability; lean for positions")),
    number("gap_least", "the gap with all missing texts on the low pole"),
    number("gap_most", "the gap with all missing texts on the high pole"),
    probability("p", "two-sided, signs of scenarios flipped"),
    probability("p_corrected", "corrected over axes and models (largest statistic, step-down)"),
    "n_scenarios status reason",
)
CARICATURE = measure_table(
    "worldwise/stereotyping/caricature",
    "a culture of a model: whether its persona's reasons are told from the placebo's, countries masked",
    "model form culture",
    share("accuracy", "pairs of reasons to the same scenario that are told, other scenarios teaching"),
    share("accuracy_by_chance", "its mean with both conditions swapped within scenarios"),
    "p p_corrected n_scenarios status reason",
)
STEREOTYPED_WORDS = table(
    "worldwise/stereotyping/words",
    "a condition of a model and a form: how often its reasons name the country and generalise",
    "model form culture",
    *with_ends(number("own_names", "names of the own country or people", "per 100 words", 0)),
    *with_ends(number("generalising", "sentences that say of a group what always holds", "per 100 words", 0)),
    count("n_words?", "words counted"),
    "n_scenarios",
)
RELIABILITY = measure_table(
    "worldwise/reliability/readouts",
    "a readout of a model: whether what sets its cultures apart replicates",
    "model readout",
    *with_ends(share("order_agreement", "generalizability over both orders of how cultures differ", unit="")),
    *with_ends(share("wording_agreement", "the same over wordings", unit="")),
    *with_ends(share("scenario_agreement", "the same over scenarios, of means on an axis", unit="")),
    "threshold",
    flag("is_reliable?", "whether all that was measured reaches the threshold; empty where nothing was"),
    "reason",
)
CHOICE_ORDERS = measure_table(
    "worldwise/reliability/orders",
    "what the choices of a model follow: its options, or the places at which they stand",
    "model",
    count("n_choices?", "choices asked for"),
    count("n_read?", "choices that were read in both orders, every option with some probability"),
    count("n_low_p_valid?", "choices left out of every analysis, since too seldom an option is answered at all"),
    count("n_scenarios?", "dilemmas of those that were read"),
    probability("p_valid", "median P_valid"),
    share("changed", "share of choices whose preferred option changes when both are exchanged"),
    number("position_pull", "mean pull of the first option", "nats"),
    share("pull_share", "mean square of the pull over that of pull and lean, in log odds: 1 is position"),
    number("agreement", "1 less variance of pulls over mean square of leans: how leans come back in the other order"),
    share("agreement_low", "lower end of its interval over dilemmas", unit=""),
    share("agreement_high", "upper end", unit=""),
    "threshold",
    text("follow?", "options; options under a pull, where position decides most single choices; position; neither"),
    flag("is_evidence?", "whether analyses may rest on the choices; empty where it was not measured"),
    "reason",
)
STATUSES = measure_table(
    "worldwise/quality_report/statuses",
    "a status of a condition of a model in a form",
    "model form culture",
    text("status", "ok, or what became of the answer"),
    count("n_status?", "answers with this status"),
    count("n?", "answers in all"),
    *with_ends(share("rate", "share of answers with this status; Wilson interval")),
)
BOUNDS = table(
    "worldwise/quality_report/bounds",
    "a condition of a model on an axis: what missing answers could change",
    "model readout culture axis",
    *(
        number(f"{name}_{end}", f"the mean {name} with all missing answers on the pole that {changes} it", LEAN_UNIT)
        for name in ("lean", "effect")
        for end, changes in (("least", "lowers"), ("most", "raises"))
    ),
    count("n_missing?", "answers without a number, single orders and draws"),
)
REFUSALS = measure_table(
    "worldwise/quality_report/refusals",
    "a form of a model: whether refusals depend on the persona",
    "model form",
    share("rate_least", "share of answers declined, refused or filtered, of the persona with the fewest"),
    share("rate_most", "the same of the persona with the most"),
    "p p_corrected",
    count("n_conditions?", "personas compared, the placebo among them"),
    "n_scenarios status reason",
)
