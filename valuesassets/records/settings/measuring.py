"""The tables of a study file on measuring: how questions are asked, what is usable, when a difference counts."""

from typing import Annotated, Literal

import pydantic

from valuesassets.records.settings.kinds import CellName, Count, LanguageCode, Positive, Record, Share


class Elicitation(Record):
    """How each question is asked."""

    orders: Literal["both", "all", "cyclic"] | Positive = "both"
    """In which orders a question's options are shown: forward and reversed (`both`); with them all permutations of up
    to four options (`all`), every cyclic shift (`cyclic`), or so many seeded random orders (a number)."""
    wordings: Positive = 1
    """How many answer cues of the language's lexicon each question is asked with."""
    estimators: tuple[Literal["label_likelihood", "content_free", "pride"], ...] = ()
    """Other estimates of the answer to make beside the main one ([estimators](estimators.md)). They cost trials and
    never replace the main one; `pride` needs `orders = "cyclic"` or `"all"`."""

    @pydantic.model_validator(mode="after")
    def _estimators_can_be_made(self) -> "Elicitation":
        twice = [name for name in dict.fromkeys(self.estimators) if self.estimators.count(name) > 1]
        if twice:
            raise ValueError(f"estimators names {twice[0]} twice; name it once")
        if "pride" in self.estimators and self.orders not in ("cyclic", "all"):
            raise ValueError(
                f"pride needs every option at every position (orders = {self.orders!r}); say orders = 'cyclic' or "
                "'all', or leave pride out of estimators"
            )
        return self


class Preflight(Record):
    """The few questions that each cell (a model in a language, task, set or culture) is asked before all of them."""

    questions: Positive = 10
    """How many questions each cell is asked."""
    override: str | None = None
    """Your reason for asking every cell although it fails its preflight; the report prints it."""
    overrides: dict[CellName, Annotated[str, pydantic.Field(min_length=1)]] = pydantic.Field(default_factory=dict)
    """The same for single cells, by `<model>/<part>` such as `"gemma/hun"`."""

    def of_cell(self, cell: str) -> str | None:
        """Why a cell (`<model>/<part>`) is asked whatever its preflight finds; None where that decides."""
        return self.overrides.get(cell, self.override)


class Thresholds(Record):
    """Rules of the quality report and of the checks."""

    faulty_questions: Share = 0.05
    """Largest share of a form's questions that may fail a check on the extraction; up to it a check warns, above it
    the check is an error."""
    unaligned_questions: Share = 0.10
    """The same of the master's questions that fail a check on a language's alignment."""
    p_valid_question: Share = 0.10
    """Least P_valid of a reliable answer. A question whose answers lie below it in too many cells is dropped."""
    p_valid_cell: Share = 0.20
    """Least median P_valid of a cell; a cell below is flagged, and one whose preflight is below is left out."""
    dropped_share: Share = 0.50
    """Share of the readable cells (median P_valid of `p_valid_cell` or more; of all, where none is) in which a question
    must be unreliable to be dropped everywhere."""
    position_bias: Share = 0.20
    """Largest difference between an option's probability forward and reversed; larger ones fail a check."""
    estimator_disagreement: Share = 0.20
    """Largest total variation between main answer and another estimator; larger ones fail a check."""
    resolution_mass: Share = 0.80
    """Least resolution mass of a usable answer: where one label begins another (1 and 10), the probability that
    stopping after the first or going on could be told apart."""
    map_indicators: Annotated[int, pydantic.Field(ge=1, le=10)] = 6
    """Fewest of the map's ten indicators that a point needs."""
    respondents: Positive = 50
    """Fewest respondents to a question, over the design effect, whose answers count as their country's."""
    reliability: Share = 0.50
    """Generalizability coefficient below which a family's map and rankings are not shown, only its reliability."""


class Contrast(Record):
    """A sanity check of the distances: a language, one thought to lie nearer and one thought to lie farther.

    It is shown wherever a family has all three; eng, fra and ell if left out.
    """

    language: LanguageCode
    """The language that the other two are compared with."""
    near: LanguageCode
    """The language thought to lie nearer."""
    far: LanguageCode
    """The language thought to lie farther."""

    @property
    def name(self) -> str:
        """The contrast as tables name it."""
        return f"{self.language}-{self.near} against {self.language}-{self.far}"


class Inference(Record):
    """How chance is computed, and when a difference counts."""

    resamples: Annotated[int, pydantic.Field(ge=99)] = 2000
    """Bootstrap samples per interval, and permutations of labels per p-value."""
    worlds: Annotated[int, pydantic.Field(ge=2)] = 20
    """Simulated worlds of each kind on which the analyses are tried (`valuesassets worlds` makes a thousand)."""
    level: Annotated[float, pydantic.Field(gt=0.5, lt=1)] = 0.95
    """Coverage that every interval aims at."""
    alpha: Annotated[float, pydantic.Field(gt=0, lt=0.5)] = 0.05
    """A test counts where its p-value, corrected for the tests beside it, is at that or below."""
    correction: Literal["holm", "benjamini-hochberg"] = "holm"
    """How p-values of tests that belong together are corrected: `holm` controls the family-wise error rate,
    `benjamini-hochberg` the false discovery rate."""
    contrasts: tuple[Contrast, ...] = (Contrast(language="eng", near="fra", far="ell"),)
    _seed: int = pydantic.PrivateAttr(0)

    @property
    def seed(self) -> int:
        """The seed of whatever is drawn by these rules: 0, unless `with_seed` gave another."""
        return self._seed

    def with_seed(self, seed: int) -> "Inference":
        """The same rules with the seed of a study."""
        rules = self.model_copy()
        rules._seed = seed
        return rules


USUAL = Inference()
"""Where no study says otherwise."""


class Phantom(Record):
    """How reference models are trained, and when what was planted counts as recovered."""

    steps: Positive = 400
    """Most passes of training over a model's prompts; more option orders need more of them."""
    max_w1_unit: Share = 0.02
    """Largest mean distance W1 between planted and recovered answers, in units of the scale."""
    max_w1_unit_p95: Share | None = None
    """Largest 95th percentile of the same over a cell's questions, both orders averaged; `max_w1_unit` if left out."""
    max_p_valid_error: Share = 0.02
    """Largest mean error of P_valid."""
    max_position_bias_error: Share = 0.03
    """Largest mean error of the position bias."""
    samples: Positive = 1000
    """Answers drawn to each prompt for the second channel, which parses them as text."""
    wrong_languages: Count = 1
    """How many other languages' reference models are asked each language's prompts; every one must fail."""

    @property
    def largest_tail(self) -> float:
        """The largest 95th percentile of W1 at which a cell counts as recovered."""
        return self.max_w1_unit if self.max_w1_unit_p95 is None else self.max_w1_unit_p95

    @property
    def limits(self) -> tuple[float, float, float]:
        """The largest mean errors of W1, P_valid and position bias at which a cell counts as recovered."""
        return self.max_w1_unit, self.max_p_valid_error, self.max_position_bias_error
