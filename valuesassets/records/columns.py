"""The vocabulary of columns: type, unit, range and description of each. A quantity has one name in every table."""

import re
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        type: how it is stored; pandas stores whole numbers that may be missing as `double`.
        words: its description in the UI and the documentation.
        unit: its unit; empty for numbers without one.
        range: least and greatest value.
        may_be_empty: whether values may be missing; by default only numbers with a fraction may.
        pattern: a pattern that its names match, where one `Column` describes many columns of a table.
    """

    name: str
    type: pa.DataType
    words: str
    unit: str = ""
    range: tuple[float, float] = (-inf, inf)
    may_be_empty: bool = False
    pattern: str = ""

    @property
    def kind(self) -> str:
        """Its type in words."""
        if pa.types.is_list(self.type):
            inner = replace(self, type=self.type.value_type).kind
            return f"list of {inner.replace('list', 'lists', 1) if inner.startswith('list') else f'{inner}s'}"
        if pa.types.is_boolean(self.type):
            return "true or false"
        return "whole number" if pa.types.is_integer(self.type) else "number" if self.is_number else "text"

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers with a fraction."""
        return pa.types.is_floating(self.type)

    @property
    def bounds(self) -> str:
        """Its range in words; empty where it has none."""
        low, high = (f"{end:g}" for end in self.range)
        return "" if self.range == (-inf, inf) else f"{low} to {high}" if high != "inf" else f"{low} or more"


def column(
    name: str, words: str, unit: str = "", low: float = -inf, high: float = inf, *, kind: pa.DataType, pattern: str = ""
) -> Column:
    """A column; `?` behind its name allows missing values, `!` forbids them.

    Args:
        name: its name and its mark; without a mark only numbers with a fraction may be missing.
        low: least value.
        high: greatest value.
        kind: how it is stored.
    """
    may_be_empty = name[-1] == "?" or (name[-1] != "!" and pa.types.is_floating(kind))
    return Column(name.rstrip("?!"), kind, words, unit, (low, high), may_be_empty, pattern)


text = partial(column, kind=pa.string())
texts = partial(column, kind=pa.list_(pa.string()))
number = partial(column, kind=pa.float64())
shares = partial(column, low=0, high=1, kind=pa.list_(pa.float64()))
share = partial(column, unit="share", low=0, high=1, kind=pa.float64())
probability = partial(share, unit="probability")
scale_share = partial(share, unit="scale units")
count = partial(column, low=0, kind=pa.int64())
code = partial(column, kind=pa.int64())
flag = partial(column, kind=pa.bool_())
"""Columns of texts, of numbers with a fraction, of shares from 0 to 1, of counts and codes, of true and false."""


def with_ends(
    estimate: Column, lower: str = "lower end of its interval", upper: str = "upper end of its interval"
) -> tuple[Column, Column, Column]:
    """An estimate and the ends of its interval, which may pass its range.

    Args:
        lower: the description of the lower end.
        upper: the description of the upper end.
    """
    name, unit = estimate.name, estimate.unit
    return estimate, number(f"{name}_low", lower, unit), number(f"{name}_high", upper, unit)


TEXTS = {
    "model": "the model family, as the study names it",
    "model_id": "hub id of the model, or <family>/<folder> of a reference model",
    "follows": "what the answers follow: options; options under a pull to a position; position; or neither; empty "
    "where not measured",
    "model_type": "mono: one model per language; multi: one for all",
    "language": "ISO 639-3",
    "country": "ISO 3166 alpha-2",
    "zone": "culture zone of the country",
    "kind": "model; people or human; null: answers without content; floor: a model that knows the people's answers",
    "source": "planted, or the file that the answers came from",
    "note": "a remark that is needed to interpret the row",
    "reason": "why a number is missing, or why a row is flagged",
    "question_id": "canonical id of the question; <id>@<other>=1: asked after the answer 1 to the other question",
    "response_type": "scale: likert3, likert4, likert5, likert10, binary, categorical, frequency, action, ordinal",
    "trial_id": "for the survey: question/wording/order, and /estimator where it has one",
    "prompt": "text that the model is given; for the survey it ends with the answer cue and a colon",
    "order": "for the survey: order of the options: forward, reversed, or a permutation of the original positions such "
    "as 2-0-1",
    "readout": "how the answer is read: ScoreLabels, ScoreSpans or Generate",
    "condition": "the earlier answer that the question presupposes: <question id>=<code>",
    "settings": "JSON: the settings of the readout, without labels and values",
    "chat": "JSON: the turns that a chat model is shown instead of the prompt, each with role and text",
    "estimator": "the additional estimator that the trial serves; empty for trials that ask the question itself",
    "answer_text": "an answer, word for word",
    "text_sha256": "sha256 of the text, without the embedder's prefix",
    "reading_key": "hash of everything that the reading depends on",
    "answer_key": "hash of everything that the answer depends on",
    "text": "the text that the model wrote, up to its end",
    "finish": "what ended the answer: end (the model), stop (a stop text), length (the most tokens allowed)",
    "reasoning": "text of a thinking model before its answer, without tags; also where no answer followed",
    "model_version": "the name and version that a model behind an API reports",
    "status": "ok, or the kind of failure",
    "estimator_reason": "why an estimate is missing",
    "respondent_id": "the archive's id of the respondent",
    "survey": "survey and wave that the respondent took part in",
    "answered_by": "language of the model that answered",
    "standing": "usable, or why the reading is left out: unreliable, unresolved, failed",
    "test_family": "the family of tests whose p-values are corrected together",
    "test": "the comparison that is tested",
    "statistic": "name of the statistic",
    "correction": "how p-values are corrected: holm or benjamini-hochberg",
    "verdict": "the conclusion from the numbers, or why there is none",
    "scope": "family, or all families together",
    "grouping": "the property that groups languages: zone or region",
    "factor": "language or family",
    "permuted": "the groups within which labels are permuted",
    "other": "the other family",
    "nearest_model": "family of the nearest cell",
    "nearest_language": "language of the nearest cell",
    "nearest_country": "the country whose people are nearest",
    "contrast": "a language and one expected to be near, against the language and one expected to be far",
    "what": "the two things compared",
    "mono": "monolingual family",
    "multi": "multilingual family",
    "measure": "name of the column that is compared",
    "source_of_variation": "the units that are resampled for the interval",
    "label": "the name of the point on the map",
    "missing": "indicators that were not read; people's mean stands in for them",
    "nearest_content_free": "the nearest point of answers without content",
    "indicator": "indicator of the map's axes; intercept for their constants",
    "interval": "kind of interval",
    "of": "the analysis that the verdict comes from",
    "rule": "the rule in the study file that decided: a key of `thresholds`, or `preflight`; empty where nothing was "
    "left out",
}
FLAGS = {
    "is_truncated": "whether prefix and text exceed the embedder's limit, so that only their beginning was read",
    "is_converted": "whether the item is a yes-or-no question made from an entry of a list in the form",
    "fails": "whether the answers of the wrong language's model differ clearly from the planted ones, as they should",
    "is_near_uniform": "whether the entropy is close to the maximum for this number of options",
    "is_position_biased": "whether the position bias is above the study's threshold",
    "is_usable": "whether analyses may use the reading",
    "is_flagged": "whether the cell's median P_valid is below the threshold",
    "is_missing": "whether the cell has not been read, or is left out",
    "is_dropped": "whether no analysis uses the question",
    "is_rejected": "whether the corrected p-value is at most the study's alpha",
    "is_reliable": "whether generalizability and beyond_position reach the threshold, both intervals above 0; empty "
    "where not measured",
    "is_same_language": "whether the nearest cell is the other family's in the same language",
    "is_own_family": "whether the nearest cell is of the own family",
    "drawn": "whether the point is on the map",
    "is_distinguishable": "whether the point can be distinguished from answers without content",
}
COUNTS = {
    "n_tokens": "tokens of the text, without the stop text or end token",
    "n_reasoning_tokens": "tokens before the answer, including tags and white space",
    "n": "number of respondents, questions, languages or answers behind the row",
    "n_options": "answers to choose from",
    "n_sampled": "answers that the model wrote",
    "n_drawn": "answers drawn, whether they are an option or not; empty or 0 where probabilities were read",
    "n_read": "drawn answers that are an option, in all orders",
    "n_read_forward": "drawn answers that are an option, options in the order of the form",
    "n_read_reversed": "drawn answers that are an option, options reversed",
    "n_parameters": "weights of the model",
    "n_questions": "questions asked",
    "n_usable": "questions that analyses may use",
    "n_unreliable": "readings whose P_valid is below the threshold",
    "n_unreadable": "questions without an answer",
    "n_cells": "cells used",
    "n_readable": "cells used whose median P_valid reaches the threshold of a cell",
    "n_items": "items used",
    "n_items_w1": "items used whose answers have an order",
    "n_items_people": "items used that people answered too",
    "n_items_ratio": "items behind the ratio",
    "n_languages": "languages used",
    "n_countries": "countries compared",
    "n_orders": "orders that were asked",
    "n_wordings": "wordings that were asked",
    "n_resamples": "permutations or resamples drawn",
    "n_pairs": "pairs used",
    "n_within": "pairs within a group",
    "n_between": "pairs between groups",
    "n_groups": "groups of cells or languages",
    "n_same_language": "languages whose nearest cell is the other family's in the same language",
    "n_own_family": "languages whose nearest cell is of the own family",
    "n_ranked": "cells of the other family that were ranked",
    "n_all": "cells of both families that were ranked",
    "n_high": "languages with much text on the web",
    "n_low": "languages with little text on the web",
    "n_views": "orders and wordings behind the point's region",
    "n_indicators": "indicators, of ten, behind the point",
    "n_worlds": "simulations run",
    "n_intervals": "intervals examined",
    "n_without": "estimates without an interval",
    "n_tests": "tests in each simulation",
    "size": "simulations in the mean",
    "seed": "random seed of the simulation",
    "rank": "rank of the same language among the other family's cells, 1 is nearest",
    "rank_of_all": "rank of the same language among both families' cells, 1 is nearest",
}
PROBABILITIES = {
    "prob": "probability of the answer; of people: weighted share among substantive answers",
    "prob_forward": "probability of the answer, options as printed; sums to 1 over the answers",
    "prob_reversed": "the same, options reversed, under the original code",
    "prob_averaged": "mean over the orders asked",
    "prob_low": "lower end of prob_averaged, where the model shows intervals only; empty where exact",
    "prob_high": "upper end of prob_averaged, where the model shows intervals only; empty where exact",
    "prob_label_likelihood": "estimate from the likelihood of the options' texts",
    "prob_label_likelihood_per_token": "the same per token, so that long texts are not penalised",
    "prob_content_free": "estimate after dividing by the answers to prompts without a question",
    "prob_pride": "estimate after removing a prior over positions (PriDe)",
    "p_valid": "P_valid: probability that the answer is one of the options, mean over the orders asked",
    "p_valid_forward": "probability that the answer is one of the options, as printed",
    "p_valid_reversed": "the same, options reversed",
    "p_invalid": "1 - P_valid: probability outside the options; not a rate of don't knows, not comparable with dk_rate",
    "median_p_valid": "median of P_valid over readings",
    "resolution_mass": "where one label begins another (1, 10): probability that distinguishes stopping after the "
    "first from going on; low: the labels cannot be separated",
    "p_valid_high": "upper end of P_valid, where only an interval is known; empty where exact",
    "resolution_mass_min": "smallest resolution mass over all labels that begin another label",
    "position_bias_magnitude": "largest |forward - reversed| probability of an answer",
    "mean_position_bias": "mean over questions of the largest |forward - reversed| probability",
    "position_bias": "largest |forward - reversed| probability of an answer",
    "p_valid_error": "|planted - read P_valid|, mean over both orders",
    "position_bias_error": "|planted - read position bias|",
    "planted_ends": "smaller of the planted probabilities of the first and the last answer",
    "concentration": "probability that two independent answers agree (Simpson)",
    "p": "p-value, uncorrected",
    "by_draws_unresolved": "probability that too few draws of an order are an option, as planted",
    "p_free": "p-value, uncorrected, as if languages were independent of each other",
    "p_related": "p-value, uncorrected, allowing for similarity of languages within a culture zone or a language "
    "family; the larger of the two; empty where no two languages share either",
    "p_corrected": "p-value, corrected within its family of tests",
    "p_sign_test": "two-sided p-value of a sign test over languages, uncorrected",
    "p_uniform": "p-value of the hypothesis that uncorrected p-values are uniform (Kolmogorov-Smirnov)",
    "alpha": "significance level of the tests",
    "level": "nominal coverage of the interval",
    "nominal": "nominal coverage of the intervals",
}
SHARES = {
    "dk_rate": "people's weighted share of don't know and no answer; a model's 1 - P_valid is no such rate",
    "share": "share of the whole",
    "share_above_threshold": "share of questions whose P_valid reaches the threshold",
    "share_changed": "share of answers that move to the other side of the mean when the options are reversed",
    "share_near_uniform": "share of questions with nearly uniform answers",
    "share_position_biased": "share of questions with more position bias than the threshold",
    "share_unreliable": "share of readable cells in which P_valid is below the threshold; of all cells where none is "
    "readable",
    "entropy_share": "entropy over the maximum for this number of options",
    "coverage": "share of intervals that contain the true value",
    "any_rejected": "share of simulations in which any corrected test of the family rejects",
    "rejected_uncorrected": "share of single tests that reject before correction",
    "tvd": "total variation distance",
    "estimator_disagreement": "largest total variation distance between the main answer and another estimator",
}
SCALE_UNITS = {
    "w1_unit": "Wasserstein-1 distance",
    "w1_unit_error": "Wasserstein-1 distance between planted and read answers, mean over both orders; total variation "
    "where answers have no order",
    "averaged_w1_unit_error": "the same distance for answers averaged over both orders",
    "w1_unit_to_uniform": "Wasserstein-1 distance to equal probabilities; total variation where answers have no order",
    "w1_unit_lower_bound": "|difference of means| over the scale's range, a lower bound of Wasserstein-1",
    "expected_value_unit": "mean answer",
    "mean_unit": "mean answer over drawn answers and over orders",
    "order_sd_unit": "standard deviation of expected values between the two orders of a cell",
    "language_sd_unit": "standard deviation of expected values between languages",
}
DISTANCES = {
    "jsd_distance": "square root of the Jensen-Shannon divergence in bits",
    "jsd_distance_near": "the same to the language expected to be near",
    "jsd_distance_far": "the same to the language expected to be far",
    "distance_own": "mean Jensen-Shannon distance to the own country's people",
}
BITS = {
    "entropy_bits": "entropy of the answer distribution",
    "kl_bits": "Kullback-Leibler divergence of people from the model",
}
AT_LEAST_0 = {
    "draw_noise": "variance of the mean answer due to drawing; empty where probabilities were read",
    "cramer_noise": "expected addition of drawing to a squared Cramér distance from the averaged answer; empty where "
    "probabilities were read",
    "weight": "weight of the respondent, mean 1 within a country",
    "weighted_n": "sum of the respondents' weights",
    "design_effect": "Kish's design effect of unequal weights: 1 + cv^2; strata and clusters are ignored",
    "effective_n": "respondents over the design effect of weights; clustered interviews would make it smaller",
    "order_to_language": "spread between orders over spread between languages; above 1 the order changes answers more",
    "stress": "normalised stress of the MDS plane",
    "nearest_jsd_distance": "Jensen-Shannon distance to the nearest cell",
    "same_language_jsd_distance": "Jensen-Shannon distance to the other family's cell in the same language",
    "own_family_jsd_distance": "Jensen-Shannon distance to the nearest cell of the own family",
    "sd": "standard deviation among people",
    "std": "standard deviation over simulations",
    "monte_carlo_se": "standard error of the share, given the number of simulations",
    "mean_width": "mean of upper minus lower end",
    "residual_sd_x": "spread of published positions around the projection, along x",
    "residual_sd_y": "the same, along y",
    "draws_sd_x": "standard deviation of the point by drawing, along x; 0 where probabilities were read",
    "draws_sd_y": "the same, along y",
    "margin_x": "width added to the region along x for the uncertainty of the projection",
    "margin_y": "the same, along y",
    "distance_from_content_free": "distance to the nearest point of answers without content",
    "distance_low": "the same, from the nearest point of the widened region",
    "distance_high": "the same, from its farthest point",
    "shift": "length of the shift",
}
NUMBERS = {
    "mean_within": "mean distance of pairs within a group: Jensen-Shannon, or squared Cramér where the study uses it",
    "mean_between": "mean distance of pairs between groups, likewise",
    "nearest_cramer_unit2": "squared Cramér distance to the nearest cell",
    "same_language_cramer_unit2": "squared Cramér distance to the other family's cell in the same language",
    "own_family_cramer_unit2": "squared Cramér distance to the nearest cell of the own family",
    "cramer_unit2_near": "squared Cramér distance to the language expected to be near",
    "cramer_unit2_far": "squared Cramér distance to the language expected to be far",
    "cramer_unit2": "squared Cramér distance, half the squared differences of shares where answers have no order; "
    "without what draws and samples of people add, so that it may be below 0 by chance",
    "mean": "mean answer in the scale's own units",
    "mean_model": "the model's mean answer in the scale's own units",
    "mean_human": "people's mean answer in the scale's own units",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "expected_value": "mean answer in the scale's own units",
    "value": "the statistic",
    "difference": "first minus second: within - between groups, near - far, low - high resources, mono - multi",
    "mean_difference": "mean over languages of mono minus multi",
    "mean_high": "mean of languages with much text on the web",
    "mean_low": "mean of languages with little text on the web",
    "beyond_uniform": "the difference minus that of uniform answers, language by language",
    "beyond_first": "the difference minus that of always answering the first option, language by language",
    "beyond_exchanged": "the difference minus that of the family's answers in other languages, language by language",
    "beyond_pooled": "the difference minus that of the other countries' people, language by language",
    "agreement": "correlation over items with the own country minus the mean one with the others, from -2 to 2",
    "order_agreement": "reliability of differences between items over both orders: 1 - variance of half the difference "
    "over mean square of half the sum; about 0 for noise, below 0 where position decides",
    "generalizability": "share of the variance between languages that replicates across wordings; below 0 by chance",
    "pattern": "the same after subtracting each language's general level",
    "beyond_position": "generalizability of answers averaged over both orders, so that a pull to a position cancels",
    "languages_sd_unit": "standard deviation between the family's languages, item by item, in scale units",
    "countries_sd_unit": "the same between countries",
    "over_orders": "the same, with the two orders taken as random: a lower bound",
    "split_half": "correlation of languages' similarities in two halves of the items, stepped up to full length "
    "(Spearman-Brown)",
    "threshold": "least value that the study asks for",
    "variance_unit2": "variance component in squared scale units; below 0 by chance",
    "null_mean": "mean correlation under permuted countries",
    "null_low": "lower end of the central interval of correlations under permuted countries",
    "null_high": "upper end of the central interval of correlations under permuted countries",
    "r2": "share of the variance that the factor explains (PERMANOVA)",
    "pseudo_f": "F of the factor (PERMANOVA)",
    "excess": "the share minus its mean under permuted labels",
    "x": "first axis of the plane or map",
    "y": "second axis of the plane or map",
    "slope_x": "change of x per raw unit of the indicator",
    "slope_y": "change of y per raw unit of the indicator",
    "published_slope_x": "slope_x as published",
    "published_slope_y": "slope_y as published",
    "loading_x": "loading on the first component, rotated by varimax; empty where axes are not fitted",
    "loading_y": "the same on the second component",
    "shift_x": "change of x when the indicator is left out",
    "shift_y": "change of y when the indicator is left out",
    "bias": "mean of the estimate minus the true value",
}
RANKS = {
    "own_country_rank": "rank of the own country among all, 1 is nearest; mean rank of ties",
    "mean_rank": "mean rank, 1 is nearest",
}
UNBIASED_BITS = {
    "jsd_bits_unbiased": "Jensen-Shannon divergence minus the bias from the people's sample size; below 0 by chance",
    "own_country_advantage": "mean divergence from other countries minus that from the own, corrected for sample "
    "sizes; of squared Cramér distances where the study uses these",
    "advantage": "the own-country advantage",
}
SMALL_COUNTS = {
    "wording": "number of the answer cue in the language's lexicon, from 0",
    "span": "number of the span in its trial, from 0; empty where labels were read",
    "sample": "number of the answer among those to the same trial, from 0",
}
CODES = {
    "response_value": "code of the answer",
    "analysis_value": "position of the answer on the scale that is analysed: the code itself, unless the codes' order "
    "differs from the order of their meanings",
}
LISTS = (
    texts("labels", "the answers that are scored, as text"),
    column("values", "code of each label", kind=pa.list_(pa.int32())),
    shares("label_probs", "absolute probability of each label; sums to P_valid"),
    shares("label_probs_high", "upper ends of label_probs, where only intervals are known; empty where exact"),
    shares(
        "label_probs_published",
        "label_probs as published code computes them, for comparison: the first token's probability is read after the "
        "given answer's first token instead of before it, and later tokens after the given answer's tokens instead of "
        "the candidate's own",
    ),
    column("label_counts", "drawn answers that are each label", low=0, kind=pa.list_(pa.int64())),
    column("label_tokens", "tokens of each label's likeliest spelling", low=0, kind=pa.list_(pa.int32())),
    texts("outside_text", "most probable continuations outside the options, at most five"),
    shares("outside_prob", "their probabilities", unit="probability"),
)
KINDS = (
    (TEXTS, text),
    (FLAGS, flag),
    (COUNTS, count),
    (PROBABILITIES, probability),
    (SHARES, share),
    (SCALE_UNITS, scale_share),
    (DISTANCES, partial(share, unit="")),
    ({"r": "correlation; where the noise of drawn answers is taken out, it may pass 1 by chance"}, number),
    ({"jsd_bits": "Jensen-Shannon divergence"}, partial(share, unit="bits")),
    (UNBIASED_BITS, partial(number, unit="bits")),
    (BITS, partial(number, unit="bits", low=0)),
    (AT_LEAST_0, partial(number, low=0)),
    (RANKS, partial(number, low=1)),
    (NUMBERS, number),
    (SMALL_COUNTS, partial(count, kind=pa.int32())),
    (CODES, partial(code, kind=pa.int32())),
)
COLUMNS = {name: build(name, words) for words_by_name, build in KINDS for name, words in words_by_name.items()}
COLUMNS |= {listed.name: listed for listed in LISTS}
"""Every column of the vocabulary by its name."""

RULES = (
    (r"(.+)_p_corrected", "p-value of {0}, corrected within its family of tests", (0, 1)),
    (r"(.+)_p", "p-value of {0}, uncorrected", (0, 1)),
    (r"(.+)_low", "lower end of the interval of {0}", None),
    (r"(.+)_high", "upper end of the interval of {0}", None),
    (r"(.+)_by_chance", "mean of {0} under permuted labels", None),
    (r"(.+)_mean", "mean of {0} over questions", None),
    (r"(.+)_sd", "standard deviation of {0}", (0, inf)),
    (r"planted_(.+)", "{0}, as planted", None),
    (r"recovered_(.+)", "{0}, as read from the probabilities", None),
    (r"sampled_(.+)", "{0}, in the answers that the model wrote", None),
    (r"by_draws_(.+)", "{0} expected of an answer that is a share of draws, from drawing alone", None),
    (r"drawn_(.+)", "{0} expected from the number of drawn answers alone", None),
    (r"(.+)_(?:mono|multi)", "{0} of the monolingual or the multilingual family", None),
    (r"(.+)_[ab]", "{0} of the first or the second cell", None),
)
"""Rules for names that contain another column's name; the first match counts.

Each has a pattern, a description, and a range where it differs from the other column's.
"""


def column_named(name: str) -> Column:
    """The column of this name, the same in every table.

    Raises:
        KeyError: the name is neither in `COLUMNS` nor derived from one by `RULES`.

    >>> column_named("jsd_distance_low").words
    'lower end of the interval of jsd_distance'
    """
    if name in COLUMNS:
        return COLUMNS[name]
    for pattern, words, bounds in RULES:
        if match := re.fullmatch(pattern, name):
            stem = column_named(match[1])
            if words.startswith(("p-value", "lower", "upper", "mean", "standard")):
                stem = replace(stem, type=pa.float64(), may_be_empty=True, range=(-inf, inf))
            unit = "probability" if words.startswith("p-value") else stem.unit
            return replace(stem, name=name, words=words.format(match[1]), unit=unit, range=bounds or stem.range)
    raise KeyError(f"{name}: no such column; declare it in records/columns.py")
