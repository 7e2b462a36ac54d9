"""Tables that worldwise alone writes: its material, what models choose, their reasons, and where these stand."""

import pyarrow as pa

from valuesassets.instruments.worldwise.dimensions import AXES
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
