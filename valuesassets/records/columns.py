"""The vocabulary of columns: type, unit, range and words of each. A quantity has one name in every table."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        type: how it is stored; where whole numbers may be missing, pandas stores them as `double`.
        words: what it holds, as the UI and the documentation say it.
        unit: of numbers that have one.
        range: least and greatest value.
        may_be_empty: whether values may be missing; numbers with a fraction may, where nothing else is said.
        pattern: of the names, where a table has many such columns and `name` stands for all of them.
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
            held = replace(self, type=self.type.value_type).kind
            return f"list of {held.replace('list', 'lists', 1) if held.startswith('list') else f'{held}s'}"
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


def _columns(kind: pa.DataType, words: Mapping[str, str], unit: str = "", *range_: float) -> dict[str, Column]:
    low, high = (*range_, inf)[:2] if range_ else (-inf, inf)
    is_number = pa.types.is_floating(kind)
    return {name: Column(name, kind, said, unit, (low, high), is_number) for name, said in words.items()}


TEXTS = {
    "model": "the model family, as the study names it",
    "model_id": "hub id of the model, or <family>/<folder> of a reference model",
    "follows": "what answers follow: options; options under a pull; position; or neither; empty where not measured",
    "model_type": "mono: one model per language; multi: one for all",
    "language": "ISO 639-3",
    "country": "ISO 3166 alpha-2",
    "zone": "culture zone that the country is counted to",
    "kind": "model; people or human; null: answers without content; floor: a model that knows the people's answers",
    "source": "planted, or the file that the answers came from",
    "note": "what has to be known to read the row",
    "reason": "why a number is missing, or why a row is flagged",
    "question_id": "canonical id of the question; <id>@<other>=1: asked after the other was answered 1",
    "response_type": "scale: likert3, likert4, likert5, likert10, binary, categorical, frequency, action, ordinal",
    "trial_id": "for the survey: question/wording/order, and /estimator where it has one",
    "prompt": "what the model is given; for the survey: it ends with the answer cue and a colon",
    "order": "for the survey: order of the options, which is forward, reversed, or a permutation such as 2-0-1 of the "
    "original places",
    "readout": "how the answer is read: the name of its record",
    "condition": "the earlier answer that the question supposes: <question id>=<code>",
    "settings": "JSON: what the readout is told, but for labels and values",
    "chat": "JSON: the turns that a chat model is shown in place of the prompt, each with role and text",
    "estimator": "what the trial is asked for beside the question itself; empty for the question",
    "answer_text": "an answer, word for word",
    "text_sha256": "sha256 of the text, without what was put before it",
    "reading_key": "hash of everything that the reading depends on",
    "answer_key": "hash of everything that the answer depends on",
    "text": "what the model wrote, up to what ended it",
    "finish": "what ended the answer: end (the model), stop (a stop text), length (the most tokens allowed)",
    "reasoning": "what a thinking model wrote before its answer, without tags; also where no answer came of it",
    "model_version": "what a model behind an API called itself",
    "status": "ok, or what went wrong",
    "estimator_reason": "why an estimate is missing",
    "respondent_id": "the archive's id of the respondent",
    "survey": "survey and wave that the respondent took part in",
    "answered_by": "language of the model that was asked",
    "standing": "usable, or why the reading is left out: unreliable, unresolved, failed",
    "test_family": "tests that are corrected together",
    "test": "what was compared",
    "statistic": "name of the statistic",
    "correction": "how p-values are corrected: holm or benjamini-hochberg",
    "verdict": "what the numbers amount to, or why there is none",
    "scope": "family, or all families together",
    "grouping": "what languages are grouped by: zone or region",
    "factor": "language or family",
    "permuted": "what labels are permuted within",
    "other": "the other family",
    "nearest_model": "family of the nearest cell",
    "nearest_language": "language of the nearest cell",
    "nearest_country": "the country whose people are nearest",
    "contrast": "a language and one thought near, against the language and one thought far",
    "what": "what is how far from what",
    "mono": "monolingual family",
    "multi": "multilingual family",
    "measure": "name of the column that is compared",
    "source_of_variation": "what is resampled for the interval",
    "label": "how the point is named on the map",
    "missing": "indicators that were not read and stand at the mean of people",
    "nearest_content_free": "which point of answers without content is nearest",
    "indicator": "indicator of the map's axes; intercept for their constants",
    "interval": "kind of interval",
    "of": "analysis that gave the verdict",
    "rule": "what in the study file decided: a key of `thresholds`, or `preflight`; empty where nothing was left out",
}
FLAGS = {
    "is_truncated": "whether prefix and text are longer than the embedder reads: only their beginning was read",
    "is_converted": "whether the item asks for a yes or no that the form has as a list",
    "fails": "whether the wrong language's model was found out",
    "is_near_uniform": "whether the entropy is nearly the most that so many options allow",
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
    "is_distinguishable": "whether the point is told from answers without content",
}
COUNTS = {
    "n_tokens": "tokens of the text, without what ended it",
    "n_reasoning_tokens": "tokens before the answer's own, tags and white space among them",
    "n": "how many the row rests on: respondents, questions, languages or answers",
    "n_options": "answers to choose from",
    "n_sampled": "answers that the model wrote",
    "n_parameters": "weights of the model",
    "n_questions": "questions asked",
    "n_usable": "questions that analyses may use",
    "n_unreliable": "readings whose P_valid is below the threshold",
    "n_unreadable": "questions without an answer",
    "n_cells": "cells used",
    "n_readable": "of them, cells whose median P_valid reaches the threshold of a cell",
    "n_items": "items used",
    "n_items_w1": "items of them whose answers have an order",
    "n_items_people": "items of them that people were asked too",
    "n_items_ratio": "items that the ratio rests on",
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
    "n_high": "languages rich in resources",
    "n_low": "languages poor in resources",
    "n_views": "orders and wordings that the point's region rests on",
    "n_indicators": "indicators of the ten that the point rests on",
    "n_worlds": "worlds simulated",
    "n_intervals": "intervals looked at",
    "n_without": "numbers that had no interval",
    "n_tests": "tests in each world",
    "size": "worlds that the mean is over",
    "seed": "seed of the world",
    "rank": "rank of the same language among the other family's cells, 1 is nearest",
    "rank_of_all": "rank of the same language among both families' cells, 1 is nearest",
}
PROBABILITIES = {
    "prob": "probability of the answer; of people: weighted share among substantive answers",
    "prob_forward": "probability of the answer, options as printed; sums to 1 over the answers",
    "prob_reversed": "the same, options reversed, under the original code",
    "prob_averaged": "mean over the orders asked",
    "prob_low": "lower end of prob_averaged, where the model shows intervals only; empty where exact",
    "prob_high": "its upper end",
    "prob_label_likelihood": "estimate from the likelihood of the labels' texts",
    "prob_label_likelihood_per_token": "the same per token, so that long labels do not lose by their length",
    "prob_content_free": "estimate after dividing by the answers to prompts without a question",
    "prob_pride": "estimate after a prior over positions is taken out",
    "p_valid": "P_valid: probability that the answer is one of the options, mean over the orders asked",
    "p_valid_forward": "probability that the answer is one of the options, as printed",
    "p_valid_reversed": "the same, options reversed",
    "p_invalid": "1 - P_valid: what the model gives to no answer; no rate of don't knows, not to be set beside dk_rate",
    "median_p_valid": "median of P_valid over readings",
    "resolution_mass": "where one label begins another (1, 10): probability that stopping or going on could be told; "
    "low: the labels cannot be separated",
    "p_valid_high": "upper end of P_valid, where only an interval is known; empty where exact",
    "resolution_mass_min": "smallest resolution mass among the places where one label begins another",
    "position_bias_magnitude": "largest |forward - reversed| probability of an answer",
    "mean_position_bias": "mean over questions of the largest |forward - reversed| probability",
    "position_bias": "largest |forward - reversed| probability of an answer",
    "p_valid_error": "|planted - read| P_valid, mean over both orders",
    "position_bias_error": "|planted - read| position bias",
    "planted_ends": "smaller of the planted probabilities of the first and the last answer",
    "concentration": "probability that two independent answers agree (Simpson)",
    "p": "p-value, uncorrected",
    "p_free": "p-value, uncorrected, as if languages were independent of each other",
    "p_related": "p-value, uncorrected, allowing for languages of one culture zone or one language family being alike; "
    "the larger of the two; none where no two are of one",
    "p_corrected": "p-value, corrected within its family of tests",
    "p_sign_test": "two-sided p-value of a sign test over languages, uncorrected",
    "p_uniform": "p-value that single p-values are uniform (Kolmogorov-Smirnov)",
    "alpha": "level that tests are made at",
    "level": "coverage that the interval aims at",
    "nominal": "coverage that the intervals aim at",
}
SHARES = {
    "dk_rate": "people's weighted share of don't know and no answer; a model's 1 - P_valid is no such rate",
    "share": "share of the whole",
    "share_above_threshold": "questions whose P_valid reaches the threshold",
    "share_changed": "answers that lie on the other side of the mean once the options are reversed",
    "share_near_uniform": "questions with nearly uniform answers",
    "share_position_biased": "questions with more position bias than the threshold",
    "share_unreliable": "readable cells in which P_valid is below the threshold; of all cells where none is readable",
    "entropy_share": "entropy over the most that so many options allow",
    "coverage": "intervals that held the truth",
    "any_rejected": "worlds in which any corrected test of the family rejected",
    "rejected_uncorrected": "single tests that rejected before correction",
    "tvd": "total variation distance",
    "estimator_disagreement": "largest total variation distance between the main answer and another estimator",
}
SCALE_UNITS = {
    "w1_unit": "Wasserstein-1 distance",
    "w1_unit_error": "Wasserstein-1 distance between planted and read answers, mean over both orders; total variation "
    "where answers have no order",
    "averaged_w1_unit_error": "the same of answers averaged over both orders",
    "w1_unit_to_uniform": "Wasserstein-1 distance to equal probabilities; total variation where answers have no order",
    "w1_unit_lower_bound": "|difference of means| over the scale's range, which Wasserstein-1 cannot be below",
    "expected_value_unit": "mean answer",
    "order_sd_unit": "standard deviation of expected values between the two orders of a cell",
    "language_sd_unit": "standard deviation of expected values between languages",
}
DISTANCES = {
    "jsd_distance": "square root of the Jensen-Shannon divergence in bits",
    "jsd_distance_near": "the same to the language thought near",
    "jsd_distance_far": "the same to the language thought far",
    "mean_within": "mean Jensen-Shannon distance of pairs within a group",
    "mean_between": "mean Jensen-Shannon distance of pairs between groups",
    "distance_own": "mean Jensen-Shannon distance to the own country's people",
}
BITS = {
    "entropy_bits": "entropy of the answer distribution",
    "kl_bits": "Kullback-Leibler divergence of people from the model",
}
AT_LEAST_0 = {
    "weight": "weight of the respondent, mean 1 within a country",
    "weighted_n": "sum of the respondents' weights",
    "design_effect": "Kish's, of unequal weights alone: 1 + cv^2; strata and clusters are not in it",
    "effective_n": "respondents over the design effect of weights; fewer where interviews come in clusters",
    "order_to_language": "spread between orders over spread between languages; above 1 the order moves answers more",
    "stress": "normalised stress of the plane",
    "nearest_jsd_distance": "Jensen-Shannon distance to the nearest cell",
    "same_language_jsd_distance": "Jensen-Shannon distance to the other family's cell in the same language",
    "own_family_jsd_distance": "Jensen-Shannon distance to the nearest cell of the own family",
    "sd": "standard deviation among people",
    "std": "standard deviation over worlds",
    "monte_carlo_se": "standard error of the share, from so many worlds",
    "mean_width": "mean of upper minus lower end",
    "residual_sd_x": "spread of published positions around the projection, along x",
    "residual_sd_y": "the same, along y",
    "margin_x": "by which the region was widened along x, for what the projection cannot know",
    "margin_y": "the same, along y",
    "distance_from_content_free": "distance to the nearest point of answers without content",
    "distance_low": "the same, from the nearest spot of the widened region",
    "distance_high": "the same, from its farthest spot",
    "shift": "length of the shift",
}
NUMBERS = {
    "mean": "mean answer in the scale's own units",
    "mean_model": "the model's mean answer in the scale's own units",
    "mean_human": "people's mean answer in the scale's own units",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "expected_value": "mean answer in the scale's own units",
    "value": "the statistic",
    "difference": "one minus the other: within - between groups, near - far, low - high resources, mono - multi",
    "mean_difference": "mean over languages of mono minus multi",
    "mean_high": "mean of languages rich in resources",
    "mean_low": "mean of languages poor in resources",
    "beyond_uniform": "the difference less that of uniform answers, language by language",
    "beyond_first": "the difference less that of always the first option, language by language",
    "beyond_exchanged": "the difference less that of the family's answers in its other languages, language by language",
    "beyond_pooled": "the difference less that of the other countries' people, language by language",
    "agreement": "correlation over items with the own country less the mean one with the others, from -2 to 2",
    "order_agreement": "reliability over both orders of what sets items apart: 1 - variance of half the difference "
    "over mean square of half the sum; about 0 for noise, below 0 where position decides",
    "generalizability": "share of variance between languages that other wordings would show again; below 0 by chance",
    "pattern": "the same of what is each language's own, its general level taken off",
    "beyond_position": "generalizability of leans averaged over both orders, in which a pull to a place cancels",
    "languages_sd_unit": "standard deviation between the family's languages, item by item, in scale units",
    "countries_sd_unit": "the same between countries",
    "over_orders": "the same if the two orders were any two: a lower bound",
    "split_half": "correlation of languages' likeness in two halves of the items, stepped up to full length",
    "threshold": "what the study asks for at least",
    "variance_unit2": "variance component in squared scale units; below 0 by chance",
    "null_mean": "mean correlation under permuted countries",
    "null_low": "lower end of the middle `level` of those under permuted countries",
    "null_high": "upper end of the middle `level` of those under permuted countries",
    "r2": "share of the variance that goes with the factor (PERMANOVA)",
    "pseudo_f": "F of the factor (PERMANOVA)",
    "excess": "the share minus what permuted labels give",
    "x": "first axis of the plane or map",
    "y": "second axis of the plane or map",
    "slope_x": "change of x per raw unit of the indicator",
    "slope_y": "change of y per raw unit of the indicator",
    "published_slope_x": "the same as published",
    "published_slope_y": "the same as published",
    "loading_x": "loading on the first component, turned by varimax; empty where axes are not fitted",
    "loading_y": "loading on the second component",
    "shift_x": "how far x moves when the indicator is left out",
    "shift_y": "how far y moves when the indicator is left out",
    "bias": "mean of estimate minus truth",
}
RANKS = {
    "own_country_rank": "rank of the own country among all, 1 is nearest; mean rank of ties",
    "mean_rank": "mean rank, 1 is nearest",
}
UNBIASED_BITS = {
    "jsd_bits_unbiased": "Jensen-Shannon divergence less what the size of the people's sample adds; below 0 by chance",
    "own_country_advantage": "mean divergence from other countries less that from the own, without what samples add",
    "advantage": "the own-country advantage",
}
CODES = {
    "response_value": "code of the answer",
    "analysis_value": "place of the answer on the scale that is analysed: the code itself, but where codes stand in "
    "another order than what they mean",
}
COLUMNS = (
    _columns(pa.string(), TEXTS)
    | _columns(pa.bool_(), FLAGS)
    | _columns(pa.int64(), COUNTS, "", 0)
    | _columns(pa.float64(), PROBABILITIES, "probability", 0, 1)
    | _columns(pa.float64(), SHARES, "share", 0, 1)
    | _columns(pa.float64(), SCALE_UNITS, "scale units", 0, 1)
    | _columns(pa.float64(), DISTANCES, "", 0, 1)
    | _columns(pa.float64(), {"jsd_bits": "Jensen-Shannon divergence"}, "bits", 0, 1)
    | _columns(pa.float64(), UNBIASED_BITS, "bits")
    | _columns(pa.float64(), {"r": "correlation"}, "", -1, 1)
    | _columns(pa.float64(), BITS, "bits", 0)
    | _columns(pa.float64(), AT_LEAST_0, "", 0)
    | _columns(pa.float64(), RANKS, "", 1)
    | _columns(pa.float64(), NUMBERS)
    | _columns(pa.int32(), {"wording": "number of the answer cue in the language's lexicon, from 0"}, "", 0)
    | _columns(pa.int32(), CODES)
    | _columns(pa.list_(pa.string()), {"labels": "answers, as they may be written"})
    | _columns(pa.list_(pa.int32()), {"values": "code of each label"})
    | _columns(pa.list_(pa.float64()), {"label_probs": "absolute probability of each label; sums to P_valid"}, "", 0, 1)
    | _columns(
        pa.list_(pa.float64()),
        {"label_probs_high": "upper ends, where only intervals are known; empty where exact"},
        "",
        0,
        1,
    )
    | _columns(
        pa.list_(pa.float64()),
        {
            "label_probs_published": "as published code computes them, for comparison: the first token's probability "
            "is read after the given answer's first token in place of before it, and later tokens after the given "
            "answer's tokens in place of the candidate's own"
        },
        "",
        0,
        1,
    )
    | _columns(pa.int32(), {"span": "number of the span in its trial, from 0; empty where labels were read"}, "", 0)
    | _columns(pa.int32(), {"sample": "number of the answer among those to the same trial, from 0"}, "", 0)
    | _columns(pa.list_(pa.int32()), {"label_tokens": "tokens of each label's likeliest spelling"}, "", 0)
    | _columns(pa.list_(pa.string()), {"outside_text": "most probable continuations that are no option, at most five"})
    | _columns(pa.list_(pa.float64()), {"outside_prob": "their probabilities"}, "probability", 0, 1)
)
"""By name."""

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
    (r"drawn_(.+)", "{0} that drawing so few answers makes by itself", None),
    (r"(.+)_(?:mono|multi)", "{0} of the monolingual or the multilingual family", None),
    (r"(.+)_[ab]", "{0} of the first or the second cell", None),
)
"""For names made of others, the first that fits: pattern, words, and the range where it is not that of the other."""


def column_named(name: str) -> Column:
    """What a column of this name is, in whichever table.

    Raises:
        KeyError: the name is neither in `COLUMNS` nor made of one that is.

    >>> column_named("jsd_distance_low").words
    'lower end of the interval of jsd_distance'
    """
    if name in COLUMNS:
        return COLUMNS[name]
    for pattern, said, bounds in RULES:
        if found := re.fullmatch(pattern, name):
            stem = column_named(found[1])
            if said.startswith(("p-value", "lower", "upper", "mean", "standard")):
                stem = replace(stem, type=pa.float64(), may_be_empty=True, range=(-inf, inf))
            unit = "probability" if said.startswith("p-value") else stem.unit
            return replace(stem, name=name, words=said.format(found[1]), unit=unit, range=bounds or stem.range)
    raise KeyError(f"{name}: no such column; declare it in records/columns.py")
