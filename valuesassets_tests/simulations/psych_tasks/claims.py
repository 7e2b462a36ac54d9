"""Worlds that try what psych tasks conclude: made here, analysed like a study, judged as the report judges.

Models come in lines of several sizes, which resemble each other; people's gains may be skewed, so that a few lose much
where most gain a little; models may know nothing of anybody. Each null world mimics a truth that could be mistaken for
a trait, or for a model that knows people.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.measures.keying import LABEL, TRAIT, preference_columns
from valuesassets.instruments.psych_tasks.measures.layout_effect import derive_layout_effect
from valuesassets.instruments.psych_tasks.measures.prediction import corrected, derive_prediction
from valuesassets.instruments.psych_tasks.measures.reliability import derive_reliability
from valuesassets.instruments.psych_tasks.published.published_scores import alpha_columns
from valuesassets.instruments.psych_tasks.report.claims import claims, is_above_chance
from valuesassets.instruments.psych_tasks.tables import DONORS, GAIN_ROWS
from valuesassets.measure.log_score import gain
from valuesassets.measure.means import Array
from valuesassets.measure.skewed_means import fewest_for
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.simulations.outcomes import NULL, PLANTED, Outcome, Simulation

ITEMS, LABELS = 12, 5
PEOPLE, MARKS = 36, 10
ICC = 0.9
"""Share of the variance between models that is between lines."""
SAYS_TRAIT = "Models differ more in what items say than in which labels they like."
SAYS_LABEL = "Models differ more in which labels they like than in what items say."
TOGETHER = "The items of a scale go together over models."
AGAIN = "What sets models apart comes again with other items."
FORETELLS = "What a history adds helps to foretell people."
PREDICTS = "Answers are predicted better than by what knows nothing of them."
IDENTIFIES = "A person's own history predicts them better than others'."
LAYOUT = "How transcripts are laid out changes how well people are foretold."
HOW = Inference(resamples=99)


@dataclass(frozen=True)
class Lines:
    """How models are related.

    Attributes:
        sizes: models of each line.
        flatness: standard deviation of the log of a line's factor: flat lines and peaked ones.
        tails: degrees of freedom of what sets lines apart; none where it is normal.
    """

    sizes: tuple[int, ...]
    flatness: float = 0.0
    tails: int | None = None

    @property
    def names(self) -> list[str]:
        """The line of each model."""
        return [f"line {number}" for number, size in enumerate(self.sizes) for _ in range(size)]

    def spread(self, random: np.random.Generator, *shape: int, rho: float = 0.0) -> Array:
        """(*shape, 2, models) two effects of standard deviation 1 and this correlation, alike within lines."""
        mixed = np.array([[1, 0], [rho, np.sqrt(1 - rho**2)]])
        of_lines, own = (random.normal(size=(*shape, 2, n)) for n in (len(self.sizes), sum(self.sizes)))
        if self.tails:
            of_lines /= np.sqrt(random.chisquare(self.tails, (*shape, 1, len(self.sizes))) / self.tails)
        both = np.sqrt(ICC) * np.repeat(of_lines, self.sizes, axis=-1) + np.sqrt(1 - ICC) * own
        return mixed @ both

    def factors(self, random: np.random.Generator) -> Array:
        """(models,) how peaked each is."""
        return np.repeat(np.exp(random.normal(0, self.flatness, len(self.sizes))), self.sizes)


FIVE, SIX, TWELVE = Lines((4,) * 5), Lines((4,) * 6), Lines((4, 1, 1, 7, 2, 3) * 2)
SINGLE = Lines((1,) * 12)


def of_keying(
    lines: Lines, rho: float, seed: int, step: float = 0.0, is_missing: bool = False
) -> Mapping[str, Outcome]:
    """Verdicts on a scale of which half the items are keyed the other way.

    Args:
        rho: correlation over models of what sets them apart on forward- and reverse-keyed items.
        step: answers are whole multiples of it, so that models tie; 0 where they are not.
        is_missing: whether models of strong labels leave an item without an answer.
    """
    random = np.random.default_rng([seed, 1])
    is_reverse = np.arange(ITEMS) % 2 == 1
    kept = lines.spread(random, rho=rho)[is_reverse.astype(int)].T  # (models, items)
    noise = 0.3 * lines.spread(random, ITEMS)[:, 0].T
    values = (LABELS + 1) / 2 + lines.factors(random)[:, None] * 0.4 * (kept + noise)
    if step:
        values = np.round(values / step) * step
    if is_missing:
        values[np.abs(values - 3).mean(axis=1) > 0.5, 0] = np.nan
    verdict = preference_columns(values, is_reverse, HOW.level, lines.names)["verdict"]
    return {
        claim: Outcome(None if verdict is None else verdict == verdict_of_claim)
        for claim, verdict_of_claim in ((SAYS_TRAIT, TRAIT), (SAYS_LABEL, LABEL))
    }


def of_alpha(lines: Lines, trait: float, seed: int) -> Mapping[str, Outcome]:
    """Whether items go together over models, where what they share has this standard deviation, beside an item's 1."""
    random = np.random.default_rng([seed, 2])
    values = trait * lines.spread(random)[:1].T + lines.spread(random, ITEMS)[:, 0].T
    row = alpha_columns(lines.factors(random)[:, None] * values, HOW.level, lines.names)
    beside = {"scale": "made up", "reading": "exact", "alpha_random_high": None, "alpha_label": None}
    table = pd.DataFrame([row | beside])
    return {TOGETHER: Outcome(any(each.is_supported for each in claims({"published_scores/scales": table}, False)))}


def of_reliability(lines: Lines, seed: int, is_skewed: bool = False, trait: float = 3.0) -> Mapping[str, Outcome]:
    """Whether intervals of coefficients over items, and over all facets, hold the truth."""
    random = np.random.default_rng([seed, 3])
    shape = (sum(lines.sizes), ITEMS, 2, 2)
    of_model, of_presentation, of_draw = lines.spread(random, 3)[:, 0, :, None]
    if is_skewed:
        of_model = np.repeat(random.gamma(4, 0.5, len(lines.sizes)) - 2, lines.sizes)[:, None]
    of_item, rest = lines.spread(random, ITEMS)[:, 0].T, lines.spread(random, *shape[1:])[..., 0, :]
    values = np.moveaxis(rest, -1, 0) + (trait * of_model + 1.5 * of_item)[:, :, None, None]
    values = values + 0.3 * np.stack([of_presentation, -of_presentation], axis=-1)[..., None]
    values = values + 0.2 * np.stack([of_draw, -of_draw], axis=-1)[:, :, None, :]
    places = pd.MultiIndex.from_product([range(n) for n in shape], names=["model", "item", "presentation", "draw"])
    frame = places.to_frame(index=False).assign(expected=values.ravel(), history="own", experiment="", scale="made up")
    frame["line"] = np.array(lines.names)[frame["model"]]
    (row,) = derive_reliability(frame, HOW.level)["scales"].to_dict("records")
    error = 1.5**2 / ITEMS + 1 / (ITEMS * 4)
    return {AGAIN: _held(row, "over_items", trait**2 / (trait**2 + error))}


def _held(row: Mapping[str, Any], name: str, truth: float) -> Outcome:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return Outcome(low > 0, (int(low <= truth <= high and low < high), 1))


Differences = Callable[[np.random.Generator, int], Array]


def skewed(random: np.random.Generator, n: int) -> Array:
    """(n,) gains of mean 0: most people gain a little, some lose much."""
    return 0.1 * (np.exp(0.5) - np.exp(random.normal(size=n)))


def seldom(random: np.random.Generator, n: int) -> Array:
    """(n,) gains of mean 0: one person in ten loses what nine gain."""
    return np.where(random.random(n) < 0.1, -0.9, 0.1) + random.normal(0, 0.05, n)


def heavy_tailed(random: np.random.Generator, n: int) -> Array:
    """(n,) gains of mean 0 with three degrees of freedom."""
    return 0.1 * random.standard_t(3, n)


def tied(random: np.random.Generator, n: int) -> Array:
    """(n,) gains of mean 0, most of them none."""
    return random.choice([-0.2, 0.0, 0.1], n, p=[0.2, 0.4, 0.4])


def of_unequal_marks(random: np.random.Generator, n: int) -> Array:
    """(n,) means of mean 0 over one to forty skewed marks of each person."""
    return np.array([skewed(random, marks).mean() for marks in random.integers(1, 41, n)])


def of_lost_people(random: np.random.Generator, n: int) -> Array:
    """(n,) skewed gains of mean 0 whose people are lost where they are foretold worst after both histories alike."""
    foretold = random.normal(size=n + n // 4)
    return skewed(random, foretold.size)[np.argsort(foretold)[n // 4 :]]


def of_gain(draw_differences: Differences, n: int, seed: int, effect: float = 0.0) -> Mapping[str, Outcome]:
    """Whether a gain of so many people, of this mean, is said to help, and whether its interval holds the mean."""
    random = np.random.default_rng([seed, 4])
    before = pd.Series(random.normal(-1.4, 0.3, n))
    difference = gain(before + draw_differences(random, n) + effect, before, HOW.level)
    row = {"model": "m", "task": "t", "gain": "content", "more": "human", "less": "permuted", "p": difference.p}
    row["n_participants"] = n
    tested = corrected(GAIN_ROWS.frame([row]), ["task"], HOW)["is_rejected"].iloc[0]
    if difference.p is None:
        return {FORETELLS: Outcome(None)}
    is_claimed = is_above_chance({"is_rejected": tested, "low": difference.low})
    return {FORETELLS: Outcome(is_claimed, (int(difference.low <= effect <= difference.high), 1))}


Law = Callable[[Array, np.random.Generator], Array]
Places = NDArray[np.int_]


def even(laws: Array, random: np.random.Generator) -> Array:
    """Even chances everywhere."""
    return np.full_like(laws, 1 / laws.shape[-1])


def place(laws: Array, random: np.random.Generator) -> Array:
    """The same liking for places at every mark."""
    return np.broadcast_to(random.dirichlet(np.ones(laws.shape[-1])), laws.shape)


def common(laws: Array, random: np.random.Generator) -> Array:
    """What people answer on the whole, with noise."""
    return 0.9 * laws.mean(axis=(0, 1)) + 0.1 * random.dirichlet(np.ones(laws.shape[-1]), laws.shape[:-1])


def people_themselves(laws: Array, random: np.random.Generator) -> Array:
    """People's own law."""
    return laws


def of_prediction(law: Law, seed: int, people: int = PEOPLE) -> Mapping[str, Outcome]:
    """Whether a model of this law is said to predict people, and whose own history does better.

    People answer five labels to ten items in an order of their own; two kinds of people like different items.
    """
    random = np.random.default_rng([seed, 5])
    items = random.dirichlet(np.full(LABELS, 0.6), MARKS)
    style = random.dirichlet(np.full(LABELS, 2.0), people)
    order = random.permuted(np.tile(np.arange(MARKS), (people, 1)), axis=1)
    of_kind = items[(order + 5 * (np.arange(people)[:, None] % 2)) % MARKS]
    laws = 0.65 * of_kind + 0.3 * style[:, None] + 0.05 / LABELS  # (people, marks, labels)
    answers = (random.random((people, MARKS, 1)) > laws.cumsum(axis=-1)[..., :-1]).sum(axis=-1)
    model_probs = law(laws, random)
    own = np.take_along_axis(model_probs, answers[..., None], axis=-1)[..., 0]
    at_place = np.take_along_axis((model_probs.sum(axis=(0, 1)) - model_probs), answers[..., None], axis=-1)[..., 0]
    person, mark = np.divmod(np.arange(people * MARKS), MARKS)
    marks = _marks(person, mark + 1, np.log(own.ravel())).assign(
        item_id=[f"item {item}" for item in order.ravel()],
        meanings=[list(map(str, range(LABELS)))] * person.size,
        human_meaning=[str(answer) for answer in answers.ravel()],
        log_share_by_place=np.log(at_place.ravel() / (people * MARKS - 1)),
        is_likeliest=(model_probs.argmax(axis=-1) == answers).ravel(),
        share_likeliest=model_probs.max(axis=-1).ravel(),
    )
    donors = _donors(model_probs, answers, order)
    tables = derive_prediction(marks, donors, HOW)
    on_page = claims({f"prediction/{name}": frame for name, frame in tables.items()}, False)
    return {
        PREDICTS: Outcome(
            any(each.is_supported and "are predicted better than by" in each.sentence for each in on_page)
        ),
        IDENTIFIES: Outcome(any(each.is_supported and "own history, be it" in each.sentence for each in on_page)),
    }


def _marks(person: Places, mark: Any, log_share: Array) -> pd.DataFrame:
    """Rows of marks that were read after people's own history."""
    return pd.DataFrame(
        {
            "model": "made up",
            "task": "made up",
            "experiment": "made up",
            "layout": "marked",
            "history": "human",
            "draw": 0,
            "kind": "answer",
            "status": str(MarkStatus.READ),
            "participant": [f"p{number}" for number in person],
            "mark": mark,
            "n_candidates": LABELS,
            "p_valid": 1.0,
            "log_prob_human": log_share,
        }
    )


def _donors(model_probs: Array, answers: Places, order: Places) -> pd.DataFrame:
    """How well each person's answers are foretold by what the model says behind everybody's, item by item."""
    by_item = np.argsort(order, axis=1)[..., None]
    ordered = np.log(np.take_along_axis(model_probs, by_item, axis=1))
    answered = np.take_along_axis(answers, by_item[..., 0], axis=1)
    scores = np.take_along_axis(ordered[None], answered[:, None, :, None], axis=-1)[..., 0].mean(axis=-1)
    who, donor = np.indices(scores.shape)
    named = ({"participant": f"p{a}", "donor": f"p{b}"} for a, b in zip(who.ravel(), donor.ravel(), strict=True))
    table = DONORS.frame([each | {"experiment": "made up", "layout": "marked"} for each in named])
    return table.assign(log_score=scores.ravel(), model="made up", task="made up")


def of_layouts(effect: float, seed: int, models: int = 8) -> Mapping[str, Outcome]:
    """Whether layouts are said to matter, with skewed differences in eight models, of which one may have an effect."""
    random = np.random.default_rng([seed, 6])
    parts = []
    people = fewest_for(models)
    for number in range(models):
        before = random.normal(-1.4, 0.3, people)
        after = before + skewed(random, people) + effect * (number == 0)
        for layout, scores in (("marked", before), ("plain", after)):
            marks = _marks(np.arange(people), 1, scores - 3)
            parts.append(marks.assign(model=f"m{number}", layout=layout, likeliest="1"))
    rows = derive_layout_effect(pd.concat(parts, ignore_index=True), HOW)["effects"]
    return {LAYOUT: Outcome(any(each.is_supported for each in claims({"layout_effect/effects": rows}, False)))}


KEYING_WRONG: Mapping[str, str] = {SAYS_TRAIT: NULL, SAYS_LABEL: NULL}
KEYING_TRAIT: Mapping[str, str] = {SAYS_TRAIT: PLANTED, SAYS_LABEL: NULL}
KEYING_LABEL: Mapping[str, str] = {SAYS_TRAIT: NULL, SAYS_LABEL: PLANTED}


def _simulation(
    world: str, outcomes: Callable[[int], Mapping[str, Outcome]], kinds: Mapping[str, str], finding: str | None = None
) -> Simulation:
    return Simulation("psych_tasks", world, kinds, outcomes, finding)


def _keyed(world: str, lines: Lines, rho: float, **how: Any) -> Simulation:
    kinds = KEYING_WRONG if rho == 0 else KEYING_TRAIT if rho < 0 else KEYING_LABEL

    return _simulation(f"keying: {world}", partial(of_keying, lines, rho, **how), kinds, "F")


def _gained(world: str, draw_differences: Differences, n: int, effect: float = 0.0) -> Simulation:
    kinds = {FORETELLS: PLANTED if effect > 0 else NULL}
    return _simulation(f"gains: {world}, {n} people", partial(of_gain, draw_differences, n, effect=effect), kinds, "L")


SIMULATIONS: tuple[Simulation, ...] = (
    _keyed("five lines of four sizes", FIVE, 0.0),
    _keyed("six lines of four sizes", SIX, 0.0),
    _keyed("twelve lines of unequal sizes", TWELVE, 0.0),
    _keyed("twelve lines, flat and peaked", Lines((4,) * 12, flatness=0.7), 0.0),
    _keyed("twenty lines with heavy tails", Lines((2,) * 20, tails=3), 0.0),
    _keyed("twelve lines, models that tie", TWELVE, 0.0, step=0.5),
    _keyed("twelve lines, strong models leave an item out", TWELVE, 0.0, is_missing=True),
    _keyed("a trait in eight lines of four sizes", Lines((4,) * 8), -1.0),
    _keyed("a trait in twelve lines of unequal sizes", TWELVE, -0.95),
    _keyed("a liking for labels in twenty lines, flat and peaked", Lines((3,) * 20, flatness=0.7), 0.97),
    _simulation("alpha: five lines, items have nothing in common", partial(of_alpha, FIVE, 0.0), {TOGETHER: NULL}, "F"),
    _simulation(
        "alpha: twelve lines, flat and peaked, items have nothing in common",
        partial(of_alpha, Lines((4,) * 12, flatness=0.7), 0.0),
        {TOGETHER: NULL},
        "F",
    ),
    _simulation("alpha: twelve lines with a trait", partial(of_alpha, TWELVE, 1.0), {TOGETHER: PLANTED}, "F"),
    _simulation("reliability: twelve models", partial(of_reliability, SINGLE), {AGAIN: PLANTED}, "K"),
    _simulation("reliability: five lines of four sizes", partial(of_reliability, FIVE), {AGAIN: PLANTED}, "K"),
    _simulation("reliability: six models", partial(of_reliability, Lines((1,) * 6)), {AGAIN: PLANTED}, "K"),
    _simulation(
        "reliability: twelve models with a skewed trait",
        partial(of_reliability, SINGLE, is_skewed=True),
        {AGAIN: PLANTED},
        "K",
    ),
    *(_gained("most gain a little, some lose much", skewed, n) for n in (6, 12, 30, 50)),
    _gained("one in ten loses what nine gain", seldom, 30),
    _gained("heavy tails", heavy_tailed, 30),
    _gained("most neither gain nor lose", tied, 50),
    _gained("unequal numbers of marks", of_unequal_marks, 30),
    _gained("who is foretold worst is lost", of_lost_people, 40),
    _gained("a gain of .2 with a skewed spread of .2", skewed, 100, 0.2),
    _gained("a gain of .1 with heavy tails", heavy_tailed, 100, 0.1),
    *(
        _simulation(f"prediction: {world}", partial(of_prediction, law), {PREDICTS: NULL, IDENTIFIES: NULL}, "O")
        for world, law in (
            ("readings are even chances", even),
            ("a liking for places", place),
            ("what people answer on the whole", common),
        )
    ),
    _simulation(
        "prediction: people's own law",
        partial(of_prediction, people_themselves),
        {PREDICTS: PLANTED, IDENTIFIES: PLANTED},
        "O",
    ),
    _simulation("layouts: eight models, none matters", partial(of_layouts, 0.0), {LAYOUT: NULL}, "L"),
    _simulation("layouts: one of eight models", partial(of_layouts, 0.3), {LAYOUT: PLANTED}, "L"),
)

BASES: Mapping[str, str] = {
    SAYS_TRAIT: "Fisher's interval of a correlation over lines of models, and Spearman's test of the lines' means. "
    "Lines are independent, five or more.",
    SAYS_LABEL: "The same, for the correlation of the other sign.",
    TOGETHER: "Feldt's interval of alpha over lines of models. Lines are independent.",
    AGAIN: "Feldt's interval over lines of models. Lines are independent.",
    FORETELLS: "Student's t over people, and t with its skewness taken off; the larger p. People are independent, "
    "30 or more.",
    PREDICTS: "The same, against each answer that knows nothing of the person.",
    IDENTIFIES: "The same, of the share of pairs.",
    LAYOUT: "The same, of the difference between layouts.",
}
"""What each claim is tested by, and what the test takes for granted."""
