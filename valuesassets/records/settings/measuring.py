"""The tables of a study file on measurement: how questions are asked, and the thresholds and rules of analyses."""

from typing import Annotated, Literal

import pydantic

from valuesassets.records.settings.kinds import CellName, Count, LanguageCode, Positive, Record, Share


class Elicitation(Record):
    """How each question is asked."""

    orders: Literal["both", "all", "cyclic"] | Positive = "both"
    """Orders of a question's options: forward and reversed (`both`); in addition all permutations of up to four options
    (`all`), every cyclic shift (`cyclic`), or a number of random orders."""
    wordings: Positive = 1
    """Number of answer cues from the language's lexicon with which each question is asked."""
    estimators: tuple[Literal["label_likelihood", "content_free", "pride"], ...] = ()
    """Additional estimates of the answer ([estimators](estimators.md)). They need further trials and never replace the
    main estimate; `pride` needs `orders = "cyclic"` or `"all"`."""

    @pydantic.model_validator(mode="after")
    def _estimators_can_be_made(self) -> "Elicitation":
        repeated = [name for name in dict.fromkeys(self.estimators) if self.estimators.count(name) > 1]
        if repeated:
            raise ValueError(f"estimators names {repeated[0]} twice; name it once")
        if "pride" in self.estimators and self.orders not in ("cyclic", "all"):
            raise ValueError(
                f"pride needs every option at every position (orders = {self.orders!r}); say orders = 'cyclic' or "
                "'all', or leave pride out of estimators"
            )
        return self


class Preflight(Record):
    """The preflight: a few questions that each cell (a model in a language, task, set or culture) is asked first."""

    questions: Positive = 10
    """Number of questions for each cell."""
    override: str | None = None
    """Your reason for asking all cells that fail their preflight; the report prints it."""
    overrides: dict[CellName, Annotated[str, pydantic.Field(min_length=1)]] = pydantic.Field(default_factory=dict)
    """Your reasons for single cells, by `<model>/<part>` such as `"gemma/hun"`."""

    def of_cell(self, cell: str) -> str | None:
        """Why a cell (`<model>/<part>`) is asked despite its preflight; None where the preflight decides."""
        return self.overrides.get(cell, self.override)


class Thresholds(Record):
    """Thresholds of the quality report and of the checks."""

    faulty_questions: Share = 0.05
    """Largest share of a form's questions that may fail a check of the extraction; up to it the check is a warning,
    above it an error."""
    unaligned_questions: Share = 0.10
    """The same for the master's questions that fail a check of a language's alignment."""
    p_valid_question: Share = 0.10
    """Least P_valid of a reliable answer. A question with too many cells below it is dropped (`dropped_share`)."""
    p_valid_cell: Share = 0.20
    """Least median P_valid of a cell; a cell below it is flagged, or left out if its preflight is below it."""
    dropped_share: Share = 0.50
    """Share of cells with unreliable answers from which a question is dropped everywhere. Only readable cells count
    (median P_valid of at least `p_valid_cell`), or all where none is."""
    position_bias: Share = 0.20
    """Largest difference between an option's probabilities in both orders; larger ones fail a check."""
    estimator_disagreement: Share = 0.20
    """Largest total variation distance between the main and another estimate; larger ones fail a check."""
    resolution_mass: Share = 0.80
    """Least resolution mass of a usable answer: where one label begins another (1 and 10), the probability that
    distinguishes stopping after the first from going on."""
    map_indicators: Annotated[int, pydantic.Field(ge=1, le=10)] = 6
    """Fewest of the map's ten indicators that a point needs."""
    respondents: Positive = 50
    """Fewest respondents to a question, divided by the design effect, that represent their country."""
    reliability: Share = 0.50
    """Least generalizability coefficient; below it the report shows a family's reliability, but no map or rankings."""


class Contrast(Record):
    """A plausibility check of distances: a language, one expected to be near and one expected to be far.

    It is shown for families that support all three; eng, fra and ell if left out.
    """

    language: LanguageCode
    """The language that the other two are compared with."""
    near: LanguageCode
    """The language expected to be nearer."""
    far: LanguageCode
    """The language expected to be farther."""

    @property
    def name(self) -> str:
        """The contrast's name in tables."""
        return f"{self.language}-{self.near} against {self.language}-{self.far}"


class Inference(Record):
    """Resampling, intervals and tests."""

    resamples: Annotated[int, pydantic.Field(ge=99)] = 2000
    """Bootstrap samples per interval, and permutations of labels per p-value."""
    worlds: Annotated[int, pydantic.Field(ge=2)] = 20
    """Simulations of each kind on which the analyses are tested (`make simulations` runs a thousand)."""
    level: Annotated[float, pydantic.Field(gt=0.5, lt=1)] = 0.95
    """Nominal coverage of every interval."""
    alpha: Annotated[float, pydantic.Field(gt=0, lt=0.5)] = 0.05
    """Significance level: a test is significant if its corrected p-value is at most this."""
    correction: Literal["holm", "benjamini-hochberg"] = "holm"
    """Correction of p-values within a family of tests: `holm` controls the family-wise error rate, `benjamini-hochberg`
    the false discovery rate."""
    distance: Literal["jsd", "cramer"] | None = pydantic.Field(
        default=None, exclude_if=lambda distance: distance is None
    )
    """How far answers lie apart in all analyses of distances: `jsd`, the Jensen-Shannon divergence, or `cramer`, the
    squared Cramér distance, which shares of drawn answers can be freed of noise for exactly. If left out: `cramer`
    where any family has `draws`, which need it, and `jsd` elsewhere."""
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
"""The defaults, for analyses without a study."""


class Phantom(Record):
    """How reference models are trained, and when planted answers count as recovered."""

    steps: Positive = 400
    """Most training passes over a model's prompts; more option orders need more passes."""
    max_w1_unit: Share = 0.02
    """Largest mean W1 distance between planted and recovered answers, in scale units."""
    max_w1_unit_p95: Share | None = None
    """Largest 95th percentile of this distance over a cell's questions, orders averaged; `max_w1_unit` if left out."""
    max_p_valid_error: Share = 0.02
    """Largest mean error of P_valid."""
    max_position_bias_error: Share = 0.03
    """Largest mean error of the position bias."""
    samples: Positive = 1000
    """Answers drawn for each prompt in the second channel, which parses them as text."""
    wrong_languages: Count = 1
    """Number of other languages' reference models that are asked each language's prompts; all of them must fail."""

    @property
    def largest_tail(self) -> float:
        """The largest 95th percentile of W1 at which a cell counts as recovered."""
        return self.max_w1_unit if self.max_w1_unit_p95 is None else self.max_w1_unit_p95

    @property
    def limits(self) -> tuple[float, float, float]:
        """The largest mean errors of W1, P_valid and position bias at which a cell counts as recovered."""
        return self.max_w1_unit, self.max_p_valid_error, self.max_position_bias_error
