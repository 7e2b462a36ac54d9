"""Tables that worldwise alone writes: its material, what models choose, their reasons, and where these stand."""

from math import inf

import pyarrow as pa

from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.records.columns import Column
from valuesassets.records.table import Table
from valuesassets.records.tables import declare_tables

SCENARIO = Column("scenario_id", pa.string(), "the dilemma")
AXIS = Column("axis", pa.string(), "the dimension that its options are poles of: IDV, PDI, MAS, UAI, LTO, IVR")
CULTURE = Column("culture", pa.string(), "the culture of the persona, as the study names it; placebo; unprompted")
POLE = Column("pole", pa.string(), "high or low")
LEAN = Column(
    "lean", pa.float64(), "2 p_high - 1: from -1, the low pole, to 1, the high one", range=(-1, 1), may_be_empty=True
)


POSITION = Column(
    "position",
    pa.float64(),
    "0 half-way between the means of the poles, 1 at the high one, -1 at the low one",
    may_be_empty=True,
)


def _share(name: str, words: str) -> Column:
    return Column(name, pa.float64(), words, range=(0, 1), may_be_empty=True)


SCENARIOS = Table(
    "worldwise/scenarios",
    "a dilemma: a situation and two options that stand for the poles of one dimension",
    SCENARIO,
    AXIS,
    Column("domain", pa.string(), "part of life that it is from"),
    "language",
    Column("situation", pa.string(), "what has happened"),
    Column("question", pa.string(), "what is asked"),
    Column("high", pa.string(), "option of the high pole"),
    Column("low", pa.string(), "option of the low pole"),
    Column("more", pa.string(), "JSON: further keys of its file", may_be_empty=True),
)
EXEMPLARS = Table(
    "worldwise/exemplars",
    "a sentence that stands for a pole of a dimension",
    AXIS,
    POLE,
    Column("pair", pa.string(), "name of the pair of sentences about the same matter", may_be_empty=True),
    "text!",
)
AXIS_VALIDITY = Table(
    "worldwise/axes/validity",
    "whether the axis of a dimension, as an embedder has it, orders sentences that it was not made of",
    Column("embedder", pa.string(), "the embedder; lexical is a bag of words"),
    AXIS,
    Column("n_high", pa.int64(), "sentences of the high pole", range=(0, 1e9)),
    Column("n_low", pa.int64(), "sentences of the low pole", range=(0, 1e9)),
    Column("is_paired", pa.bool_(), "whether they are pairs about the same matter"),
    Column("held_out_auc", pa.float64(), "share of (high, low) in order on the axis of the others", range=(0, 1)),
    "p",
    Column("is_valid", pa.bool_(), "whether answers may be placed on it: AUC from .75, p up to .05"),
    *(
        Column(f"cosine_{axis}", pa.float64(), f"cosine with the axis {axis}", range=(-1, 1), may_be_empty=True)
        for axis in AXES
    ),
    "reason?",
)
PLACES = Column("places", pa.list_(pa.int32()), "which numbers of the vector these are; all, in order, where empty")
VECTOR = Column("vector", pa.list_(pa.float32()), "numbers of its vector, which has length one; none without a letter")
EXEMPLAR_VECTORS = Table("worldwise/axes/vectors", "an exemplar as a vector", AXIS, POLE, PLACES, VECTOR)
CHOSEN = (
    "model_id model",
    CULTURE,
    SCENARIO,
    AXIS,
    "wording",
    _share("p_high_forward", "probability of the high pole among both, in the order of the trial forward"),
    _share("p_high_reversed", "the same, options exchanged"),
    _share("p_high", "mean of both orders"),
    _share("p_high_log_odds", "the same by the mean of both orders' log odds: a strong pull does not shrink it"),
    Column(
        "position_pull",
        pa.float64(),
        "log odds of the first option, half of what they differ by when the options are exchanged",
        unit="nats",
        may_be_empty=True,
    ),
    Column(
        "follows",
        pa.string(),
        "what the preferred one follows where options are exchanged: option, or position",
        may_be_empty=True,
    ),
    _share("p_valid_forward", "probability that an option is answered at all, forward"),
    _share("p_valid_reversed", "the same, options exchanged"),
    _share("p_valid", "mean of both orders"),
    Column(
        "position_bias",
        pa.float64(),
        "P(first option) minus one half, mean of both orders",
        range=(-0.5, 0.5),
        may_be_empty=True,
    ),
    LEAN,
    Column("channel", pa.string(), "exact, top (bounds), drawn (counts); never pooled"),
    "status reason?",
)
CHOICES = Table(
    "worldwise/choices", "what a model chooses in a dilemma, as a persona or without one", *CHOSEN, is_exact=True
)
DEMAND_CHOICES = Table(
    "worldwise/demand_choices",
    "the same as a persona that is told to hold the values that are typical there",
    *CHOSEN,
    is_exact=True,
)
REASONS = Table(
    "worldwise/reasons",
    "an answer that a model wrote to a dilemma, as it was and as it was understood",
    "trial_id prompt",
    SCENARIO,
    AXIS,
    CULTURE,
    Column("form", pa.string(), "decide: options, values and reason are asked for; open: a reason alone; advocate"),
    Column("pole", pa.string(), "high or low: the option that an advocate was to speak for", may_be_empty=True),
    "wording",
    Column("order", pa.string(), "forward, reversed; empty where there are no options", may_be_empty=True),
    Column("draw", pa.int64(), "number of the answer among those to the same prompt, from 0", range=(0, 1e9)),
    "text?",
    Column("status", pa.string(), "ok, declined, refused, filtered, loop, truncated, unparsed, failed, not_asked"),
    "reason?",
    Column("decision", pa.string(), "pole that was decided for: high or low", may_be_empty=True),
    Column("values", pa.list_(pa.string()), "values that were ticked, of those listed"),
    Column("unknown_values", pa.list_(pa.string()), "what was ticked beside the list"),
    Column("explanation", pa.string(), "the reason alone", may_be_empty=True),
    Column("finish_reason", pa.string(), "what ended the answer", may_be_empty=True),
    Column("prompt_tokens", pa.float64(), "tokens of the prompt, where they are counted", may_be_empty=True),
    Column("output_tokens", pa.float64(), "tokens of the answer", may_be_empty=True),
    Column("cost_usd", pa.float64(), "what it cost, where there are prices", unit="USD", may_be_empty=True),
)
REASONED = "reason"
REASON_VECTORS = Table(
    "worldwise/reason_vectors",
    "a text of an answer as a vector",
    "trial_id",
    SCENARIO,
    AXIS,
    CULTURE,
    Column("form", pa.string(), "decide, open or advocate"),
    Column("pole", pa.string(), "high or low: the option that an advocate was to speak for", may_be_empty=True),
    Column("draw", pa.int64(), "number of the answer among those to the same prompt, from 0", range=(0, 1e9)),
    Column(
        "kind",
        pa.string(),
        "reason: mean of its sentences, countries masked; seed_final, seed_stored: text composed as "
        "worldWiseAI did, of the form decide",
    ),
    PLACES,
    VECTOR,
    Column("is_truncated", pa.bool_(), "whether the embedder read only the beginning of a text"),
)
PROJECTIONS = Table(
    "worldwise/projections",
    "where a reason stands on a dimension",
    "trial_id",
    SCENARIO,
    CULTURE,
    Column("form", pa.string(), "decide, open or advocate"),
    Column("draw", pa.int64(), "number of the answer among those to the same prompt, from 0", range=(0, 1e9)),
    AXIS,
    Column("is_own_axis", pa.bool_(), "whether the dilemma stands on this dimension"),
    POSITION,
    "status reason?",
)
_SEED_SCORE = "2 tanh((h - l) / (h + l)), h and l mean cosines to the poles' sentences; text: "
SCORES = Table(
    "worldwise/scores",
    "where an answer that was made anywhere stands on a dimension, by the seed's score and by projection",
    Column("response_id", pa.string(), "the answer"),
    AXIS,
    Column("is_own_axis", pa.bool_(), "whether its dilemma stands on this dimension"),
    Column(
        "seed_final",
        pa.float64(),
        f"{_SEED_SCORE}values three times, explanation, decision",
        range=(-2, 2),
        may_be_empty=True,
    ),
    Column(
        "seed_stored", pa.float64(), f"{_SEED_SCORE}explanation, decision, values", range=(-2, 2), may_be_empty=True
    ),
    Column(
        "position",
        pa.float64(),
        "0 half-way between the poles' means, 1 at the high one, -1 at the low one; none on an axis that is not valid",
        may_be_empty=True,
    ),
    Column("is_truncated", pa.bool_(), "whether the embedder read only the beginning of one of the seed's texts"),
    "status reason?",
)
PLANTED = Table(
    "worldwise/planted",
    "what a reference model was trained to choose and to write in a dilemma",
    CULTURE,
    SCENARIO,
    AXIS,
    Column("p_high_choice", pa.float64(), "planted probability of the high pole, over both orders", range=(0, 1)),
    Column("p_high_reason", pa.float64(), "the same of decisions and reasons in writing", range=(0, 1)),
    Column("refused", pa.float64(), "planted share of answers that are refused", range=(0, 1)),
    is_exact=True,
)
PLACED_REASONS = Table(
    "worldwise/placed_reasons",
    "an answer that a model wrote to a dilemma, and where it stands on the dilemma's own dimension",
    *REASONS.columns,
    POSITION,
)
RECOVERY = Table(
    "worldwise/recovery/measures",
    "a measure of how well what was planted is found again, and what it is allowed to be",
    Column("model", pa.string(), "the model that was trained"),
    Column("measure", pa.string(), "what is measured"),
    Column("axis", pa.string(), "the dimension it is of; empty where of all", may_be_empty=True),
    Column("n", pa.int64(), "dilemmas, axes, or conditions on axes that it is of", range=(0, 1e9)),
    Column("value", pa.float64(), "what was found", may_be_empty=True),
    Column("least", pa.float64(), "what it has to be at least", may_be_empty=True),
    Column("most", pa.float64(), "what it may be at most", may_be_empty=True),
    Column("is_within", pa.bool_(), "whether it is as it has to be"),
    "reason?",
)
declare_tables(
    *(SCENARIOS, EXEMPLARS, AXIS_VALIDITY, EXEMPLAR_VECTORS, CHOICES, DEMAND_CHOICES),
    *(REASONS, REASON_VECTORS, PROJECTIONS, SCORES, PLANTED, PLACED_REASONS, RECOVERY),
)


def _text(name: str, words: str) -> Column:
    return Column(name, pa.string(), words)


def _number(name: str, words: str, unit: str = "", low: float = -inf, high: float = inf) -> Column:
    return Column(name, pa.float64(), words, unit, (low, high), may_be_empty=True)


def _with_ends(name: str, words: str, unit: str = "", low: float = -inf, high: float = inf) -> tuple[Column, ...]:
    """An estimate and the ends of its interval; the ends may pass the range."""
    lower, upper = (
        _number(f"{name}_{end}", f"{said} end of its interval", unit)
        for end, said in (("low", "lower"), ("high", "upper"))
    )
    return _number(name, words, unit, low, high), lower, upper


def _count(name: str, words: str) -> Column:
    return Column(name, pa.int64(), words, range=(0, inf), may_be_empty=True)


def _flag(name: str, words: str) -> Column:
    return Column(name, pa.bool_(), words, may_be_empty=True)


MODEL = _text("model", "the model family, as the study names it")
READOUT = _text(
    "readout",
    "choice: lean of next-token probabilities; decision: in writing; position_decide, "
    "position_open: of the reasons to both forms",
)
FORM = _text("form", "decide, open or advocate; choice where no text was written")
STATUS = _text("status", "ok; refused: what it rests on does not carry it; undefined: what it needs is not there")
REASON = Column("reason", pa.string(), "why a number is missing, or what has to be known to read it", may_be_empty=True)
N_SCENARIOS = _count("n_scenarios", "scenarios that it rests on")
N_CULTURES = _count("n_cultures", "cultures compared")
P = _number("p", "p-value, uncorrected", "probability", 0, 1)
P_CORRECTED = _number("p_corrected", "p-value, corrected over the family of tests", "probability", 0, 1)
LEAN_UNIT = "lean: -1 low pole, 1 high pole"

CULTURAL_PROFILES = Table(
    "worldwise/cultural_profiles/profiles",
    "a condition of a model on an axis: means over scenarios",
    MODEL,
    READOUT,
    CULTURE,
    AXIS,
    *_with_ends("lean", "mean lean, or position of reasons", LEAN_UNIT),
    *_with_ends("effect", "mean of lean less the placebo's in the same scenario", LEAN_UNIT),
    _number("z", "score of the culture's country, in standard deviations over countries"),
    N_SCENARIOS,
    _count("n_compared", "scenarios that the effect rests on"),
    STATUS,
    REASON,
)
AGREEMENT = Table(
    "worldwise/alignment/agreement",
    "a correlation of a model's cultures with their countries' scores, over cultures and axes",
    MODEL,
    READOUT,
    _text(
        "kind",
        "what is taken off: means of axes (axis-centred), of cultures too (double-centred), or what habits "
        "of answering do (style-centred)",
    ),
    *_with_ends("r", "correlation", "", -1, 1),
    _number(
        "p",
        "one-sided, labels of cultures permuted jointly over axes; the larger of that as if cultures were independent "
        "and that which allows for culture zones",
        "probability",
        0,
        1,
    ),
    _number("p_corrected", "corrected over models, for each readout and kind", "probability", 0, 1),
    _number(
        "null_low", "lower end of the middle of those under permuted labels, as much as intervals cover", "", -1, 1
    ),
    _number("null_high", "upper end", "", -1, 1),
    N_CULTURES,
    N_SCENARIOS,
    STATUS,
    REASON,
)
VERDICTS = Table(
    "worldwise/alignment/verdicts",
    "a readout of a model: what its correlations amount to",
    MODEL,
    READOUT,
    Column("verdict", pa.string(), "what they amount to; empty where there are none", may_be_empty=True),
    REASON,
)
FLATTENING = Table(
    "worldwise/alignment/flattening",
    "a readout of a model: how far its cultures lie apart",
    MODEL,
    READOUT,
    *_with_ends("slope", "change of the lean per standard deviation of the country scores, axes centred", LEAN_UNIT),
    _number("slope_least", "the slope with all missing answers on the pole that lowers it most", LEAN_UNIT),
    _number("slope_most", "the slope with all missing answers on the pole that raises it most", LEAN_UNIT),
    _number(
        "culture_share",
        "variance between cultures' means on an axis over all variance among cultures within "
        "scenarios; below 0 by chance",
        "share",
        high=1,
    ),
    _count("n_pairs", "pairs of cultures compared"),
    _count("n_told_apart", "pairs of them that are told apart"),
    N_CULTURES,
    N_SCENARIOS,
    STATUS,
    REASON,
)
CULTURE_PAIRS = Table(
    "worldwise/alignment/culture_pairs",
    "a pair of cultures of a model",
    MODEL,
    READOUT,
    CULTURE,
    _text("other_culture", "the other culture"),
    _number("distance", "root mean square, over axes, of the mean difference of leans", LEAN_UNIT, 0),
    P,
    _number("p_corrected", "corrected over pairs (smallest p, step-down)", "probability", 0, 1),
    _flag("is_told_apart", "whether the corrected p-value is below the level"),
    N_SCENARIOS,
    STATUS,
    REASON,
)
PERSONA_SHIFT = Table(
    "worldwise/persona_shift/shifts",
    "a condition of a model beside the placebo: which values are ticked",
    MODEL,
    CULTURE,
    _number("tvd", "total variation distance of the shares of ticked values, means over scenarios", "share", 0, 1),
    _number("tvd_by_chance", "its mean with both conditions swapped within scenarios", "share", 0, 1),
    *_with_ends("tvd_excess", "the distance less its mean by chance", "share", -1, 1),
    P,
    P_CORRECTED,
    N_SCENARIOS,
    STATUS,
    REASON,
)
NEAREST_PERSONA = Table(
    "worldwise/persona_shift/nearest_persona",
    "a culture of a model: how far its persona is from answers without one",
    MODEL,
    READOUT,
    Column("culture", pa.string(), "the culture of the persona; empty where none can be ranked", may_be_empty=True),
    _number("distance", "root mean square difference of leans over scenarios", LEAN_UNIT, 0),
    _count("rank", "1 is nearest"),
    _number("p_nearest", "share of resamples of scenarios in which it is nearest", "share", 0, 1),
    _number("mean_rank", "its mean rank in them", "", 1),
    N_SCENARIOS,
    STATUS,
    REASON,
)
SAY_DO_GAP = Table(
    "worldwise/say_do_gap/gaps",
    "an axis of a model: what is written less what is chosen",
    MODEL,
    FORM,
    _text("measure", "decision: share decided for the high pole less p_high; position: of reasons less the lean"),
    AXIS,
    *_with_ends("gap", "mean over scenarios", "probability; lean for positions"),
    _number("gap_least", "the gap with all missing texts on the low pole"),
    _number("gap_most", "the gap with all missing texts on the high pole"),
    _number("p", "two-sided, signs of scenarios flipped", "probability", 0, 1),
    _number("p_corrected", "corrected over axes and models (largest statistic, step-down)", "probability", 0, 1),
    N_SCENARIOS,
    STATUS,
    REASON,
)
CARICATURE = Table(
    "worldwise/stereotyping/caricature",
    "a culture of a model: whether its persona's reasons are told from the placebo's, countries masked",
    MODEL,
    FORM,
    CULTURE,
    _number("accuracy", "pairs of reasons to the same scenario that are told, other scenarios teaching", "share", 0, 1),
    _number("accuracy_by_chance", "its mean with both conditions swapped within scenarios", "share", 0, 1),
    P,
    P_CORRECTED,
    N_SCENARIOS,
    STATUS,
    REASON,
)
STEREOTYPED_WORDS = Table(
    "worldwise/stereotyping/words",
    "a condition of a model and a form: how often its reasons name the country and generalise",
    MODEL,
    FORM,
    CULTURE,
    *_with_ends("own_names", "names of the own country or people", "per 100 words", 0),
    *_with_ends("generalising", "sentences that say of a group what always holds", "per 100 words", 0),
    _count("n_words", "words counted"),
    N_SCENARIOS,
)
RELIABILITY = Table(
    "worldwise/reliability/readouts",
    "a readout of a model: whether what sets its cultures apart replicates",
    MODEL,
    READOUT,
    *_with_ends("order_agreement", "generalizability over both orders of how cultures differ", "", 0, 1),
    *_with_ends("wording_agreement", "the same over wordings", "", 0, 1),
    *_with_ends("scenario_agreement", "the same over scenarios, of means on an axis", "", 0, 1),
    _number("threshold", "what the study asks for at least"),
    _flag("is_reliable", "whether all that was measured reaches the threshold; empty where nothing was"),
    REASON,
)
CHOICE_ORDERS = Table(
    "worldwise/reliability/orders",
    "what the choices of a model follow: its options, or the places at which they stand",
    MODEL,
    _count("n_choices", "choices asked for"),
    _count("n_read", "choices that were read in both orders, every option with some probability"),
    _count("n_low_p_valid", "choices left out of every analysis, since too seldom an option is answered at all"),
    _count("n_scenarios", "dilemmas of those that were read"),
    _number("p_valid", "median P_valid", "probability", 0, 1),
    _number("changed", "share of choices whose preferred option changes when both are exchanged", "share", 0, 1),
    _number("position_pull", "mean pull of the first option", "nats"),
    _number(
        "pull_share", "mean square of the pull over that of pull and lean, in log odds: 1 is position", "share", 0, 1
    ),
    _number("agreement", "1 less variance of pulls over mean square of leans: how leans come back in the other order"),
    _number("agreement_low", "lower end of its interval over dilemmas", "", 0, 1),
    _number("agreement_high", "upper end", "", 0, 1),
    _number("threshold", "what the study asks for at least"),
    Column(
        "follow",
        pa.string(),
        "options; options under a pull, where position decides most single choices; position; neither",
        may_be_empty=True,
    ),
    _flag("is_evidence", "whether analyses may rest on the choices; empty where it was not measured"),
    REASON,
)
STATUSES = Table(
    "worldwise/quality_report/statuses",
    "a status of a condition of a model in a form",
    MODEL,
    FORM,
    CULTURE,
    _text("status", "ok, or what became of the answer"),
    _count("n_status", "answers with this status"),
    _count("n", "answers in all"),
    *_with_ends("rate", "share of answers with this status; Wilson interval", "share", 0, 1),
)
BOUNDS = Table(
    "worldwise/quality_report/bounds",
    "a condition of a model on an axis: what missing answers could change",
    MODEL,
    READOUT,
    CULTURE,
    AXIS,
    *(
        _number(f"{name}_{end}", f"the mean {said} with all missing answers on the {pole}", LEAN_UNIT)
        for name, said in (("lean", "lean"), ("effect", "effect"))
        for end, pole in (("least", "pole that lowers it"), ("most", "pole that raises it"))
    ),
    _count("n_missing", "answers without a number, single orders and draws"),
)
REFUSALS = Table(
    "worldwise/quality_report/refusals",
    "a form of a model: whether refusals depend on the persona",
    MODEL,
    FORM,
    _number(
        "rate_least", "share of answers declined, refused or filtered, of the persona with the fewest", "share", 0, 1
    ),
    _number("rate_most", "the same of the persona with the most", "share", 0, 1),
    P,
    P_CORRECTED,
    _count("n_conditions", "personas compared, the placebo among them"),
    N_SCENARIOS,
    STATUS,
    REASON,
)
ADVOCATES = Table(
    "worldwise/quality_report/advocates",
    "an axis of a model: whether what it says for the poles is told apart",
    MODEL,
    AXIS,
    _number("auc", "share of (high, low) advocates of the same dilemma in order, mean over dilemmas", "share", 0, 1),
    _number("p", "how often poles exchanged at random within dilemmas do as well", "probability", 0, 1),
    _flag("is_told_apart", "whether it is .75 at least, p .05 at most, and each pole has five texts"),
    _count("n_advocates", "answers of advocates that were read"),
    REASON,
)
CONVERGENT = Table(
    "worldwise/quality_report/convergent_validity",
    "an axis of a model: whether positions of reasons go with the values that the same answers tick",
    MODEL,
    AXIS,
    _number("r", "correlation with ticked values of the axis, both less their means in the dilemma", "", -1, 1),
    _number("discriminant", "mean size of the correlations with values of other axes, over all valid axes", "", 0, 1),
    _count("n_answers", "answers that were placed"),
)
SEED_MEASURES = Table(
    "worldwise/seed_scores/measures",
    "a figure that worldWiseAI published, of this study's answers, beside what needs no answer",
    _text("composition", "final, stored: how the text that is scored was composed; empty where none is"),
    _text("measure", "its name"),
    _number("value", "the figure"),
    _number("zero", "the same of a score of zero everywhere"),
    _number("others_mean", "the same of the mean target of the other cultures"),
    _number("exchanged", "mean over exchanges of the cultures' targets"),
    _number("p", "how often an exchange does as well", "probability", 0, 1),
    REASON,
)
SEED_FIGURES = Table(
    "worldwise/seed_scores/figures",
    "a point of one of the figures that worldWiseAI published, with its null",
    _text("figure", "which of them"),
    _text("score", "the row that it stands in"),
    _text("model", "the model, or all"),
    _number("value", "as published work computes it"),
    _number("null", "the same without any answer or persona, see the figure"),
)
SEED_ERRORS = Table(
    "worldwise/seed_scores/errors",
    "a culture on an axis: the mean error of the published score",
    MODEL,
    CULTURE,
    AXIS,
    _number("error", "mean distance of the score from the target", "", 0, 4),
    _number("error_zero", "the same of a score of zero everywhere", "", 0, 4),
)
declare_tables(
    SEED_ERRORS,
    ADVOCATES,
    CONVERGENT,
    SEED_MEASURES,
    SEED_FIGURES,
    CULTURAL_PROFILES,
    AGREEMENT,
    VERDICTS,
    FLATTENING,
    CULTURE_PAIRS,
    PERSONA_SHIFT,
    NEAREST_PERSONA,
    SAY_DO_GAP,
    CARICATURE,
    STEREOTYPED_WORDS,
    RELIABILITY,
    CHOICE_ORDERS,
    STATUSES,
    BOUNDS,
    REFUSALS,
)
