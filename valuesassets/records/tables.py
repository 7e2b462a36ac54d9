"""The tables that every instrument may write. Instruments declare their own with `declare_table`."""

from collections.abc import Sequence

import pyarrow as pa

from valuesassets.records.columns import Column, code, column, count, number, shares, text, texts
from valuesassets.records.errors import StorageError
from valuesassets.records.table import Table
from valuesassets.records.trials import OF_DRAWS

TABLES: dict[str, Table] = {}
"""Tables by name: the shared ones, and those of every instrument whose derivations have been imported."""


def declare_table(
    name: str,
    row: str,
    *columns: str | Column,
    added_later: Sequence[str] = (),
    where_used: Sequence[str] = (),
    is_exact: bool = False,
    vocabulary: Sequence[Column] = (),
) -> Table:
    """Make a table with the arguments of `Table`, and add it to `TABLES`, so that assets may write it."""
    table = Table(
        name,
        row,
        *columns,
        added_later=added_later,
        where_used=where_used,
        is_exact=is_exact,
        vocabulary=vocabulary,
    )
    TABLES[name] = table
    return table


TESTS = "test_family test statistic value p p_corrected correction is_rejected n n_resamples verdict?"
ESTIMATES = "prob_label_likelihood prob_label_likelihood_per_token prob_content_free prob_pride"
DRAWS = "n_drawn n_read n_read_forward n_read_reversed draw_noise cramer_noise mean_unit_low mean_unit_high"
DRAWS += " position_bias_p"
ERRORS = ("w1_unit_error", "p_valid_error", "position_bias_error", "averaged_w1_unit_error")
BY_DRAWS = " ".join(f"by_draws_{error}{end}" for end in ("", "_sd") for error in ERRORS)
BY_DRAWS += " by_draws_unresolved"
CRAMER = ("cramer_unit2", "cramer_unit2_low", "cramer_unit2_high")
"""Columns that only studies compared by squared Cramér distances have."""
ESTIMATES += " estimator_disagreement estimator_reason?"

QUESTIONS = declare_table(
    "questions",
    "a question, in a JSON file; further keys are allowed and kept",
    *(
        text(name, words)
        for name, words in {
            "id": "canonical id of the question",
            "section?": "heading above the question in the form",
            "text": "the question as it is asked",
            "stem?": "the text that all items of a battery share",
            "item?": "this question's own part of a battery",
            "response_type": "kind of scale, see the other tables",
            "options": "codes and labels, in the order of the form",
            "answer_cue?": "the words that ask for the answer",
            "source_id?": "id of the question in its own form",
            "page?": "page of the PDF, from 1",
            "box?": "left, top, right, bottom on the page, points from the top left",
            "wvs_id?": "the same question in the other survey's numbering",
            "condition?": "the earlier answer that the question presupposes",
            "asked_of?": "who is asked, where it depends on an earlier answer",
            "names_country?": "the words of the question that name the country and differ between forms",
            "merged_from?": "positions of the records that were merged, from 0",
            "unfit?": "why the question cannot be asked",
            "is_converted?": "whether the item is a yes-or-no question made from an entry of a list in the form",
            "coverage?": "languages whose forms have the question",
        }.items()
    ),
)
TRIALS = declare_table(
    "trials",
    "a trial: a prompt, and how its answer is read",
    "trial_id question_id language order wording condition? prompt readout labels values estimator? settings? chat?",
    added_later=["estimator", "settings", "chat"],
    is_exact=True,
)
READINGS = declare_table(
    "readings",
    "a trial that was read, or one of its spans; probabilities are absolute, and missing unless status is ok",
    "trial_id label_probs? label_tokens? p_valid resolution_mass resolution_mass_min outside_text outside_prob status",
    "reason? reading_key span? label_probs_high? p_valid_high label_probs_published? model_version?",
    "label_counts? n_drawn?",
    added_later=["span", "label_probs_high", "p_valid_high", "label_probs_published", "model_version"],
    where_used=OF_DRAWS,
    is_exact=True,
)
ANSWERS = declare_table(
    "answers",
    "a text that a model wrote in reply to a trial; missing unless status is ok",
    "trial_id sample text? finish? n_tokens? reasoning? n_reasoning_tokens? model_version? status reason? answer_key",
    is_exact=True,
)
DRAWN_ANSWERS = declare_table(
    "drawn_answers",
    "a text that a model drew as its answer to a question, and what it says",
    "trial_id question_id order wording sample text?",
    code("response_value?", "code of the option that the text names; empty where it names none"),
    text(
        "standing",
        "what the text says: option, no_option, two_options, off_scale, dont_know, empty, cut_off, refused (by the "
        "provider) or failed (there is none)",
    ),
    "reason?",
    is_exact=True,
)
PLANTED_TEXTS = declare_table(
    "planted_texts",
    "an answer that a reference model is trained to give after a prompt; the probabilities of a trial sum to 1",
    "language trial_id prompt answer_text prob!",
    is_exact=True,
)
PLANTED_TRANSCRIPTS = declare_table(
    "planted_transcripts",
    "a made-up person who answers by a known response model, which a reference model learns; the file's metadata hold, "
    "as JSON, the possible answers (`candidate_sets`, an array of arrays) and the text after an answer from each set "
    "(`closes`)",
    "language",
    text("text", "the whole transcript, instructions and answers included"),
    column("starts", "position of each answer's first character, from 0", low=0, kind=pa.list_(pa.int64())),
    texts("answers", "each answer, word for word"),
    column("candidates", "number of each answer's set in `candidate_sets`, from 0", low=0, kind=pa.list_(pa.int64())),
    shares(
        "probs",
        "probability of each candidate after all the text before it; sums to 1",
        unit="probability",
        kind=pa.list_(pa.list_(pa.float64())),
    ),
    is_exact=True,
)
SAMPLED_ANSWERS = declare_table(
    "sampled_answers",
    "an answer that a model wrote freely to a prompt, and how often",
    "trial_id prompt answer_text n",
    is_exact=True,
)
EMBEDDED_TEXTS = declare_table(
    "embedded_texts",
    "a text that was embedded, in the order of the vectors",
    "text_sha256",
    count("n_tokens", "tokens of the text, without prefix"),
    "is_truncated",
    is_exact=True,
)
PROBE_DISTRIBUTIONS = declare_table(
    "probe_distributions",
    "an answer to a question in one wording; missing, with a reason, where the question was not read in both orders",
    "model_id model_type model language question_id response_type wording response_value",
    "analysis_value? prob_forward prob_reversed prob_averaged p_valid_forward p_valid_reversed p_valid",
    f"position_bias_magnitude resolution_mass is_converted status reason? {ESTIMATES} prob_low prob_high",
    DRAWS,
    added_later=["analysis_value", *ESTIMATES.replace("?", "").split(), "prob_low", "prob_high"],
    where_used=DRAWS.split(),
    is_exact=True,
)
HUMAN_DISTRIBUTIONS = declare_table(
    "human_distributions",
    "an answer of a country's people to a question",
    "country language question_id response_value analysis_value? prob! n weighted_n!",
    "design_effect! effective_n? dk_rate! source",
    added_later=["analysis_value", "effective_n"],
    is_exact=True,
)
ENDS = (number("low!", "lower end of the scale"), number("high!", "upper end of the scale"))
declare_table(
    "respondents",
    "a respondent, with a column per question and per indicator",
    "country respondent_id survey source weight!",
    number("<indicator>", "the indicator in its own codes", pattern=r"[AEFGY]\d{3}"),
    code(
        "<question id>?",
        "code of the answer; below 0: no answer; empty where the file has none",
        kind=pa.int16(),
        pattern=r"(?s).+",
    ),
)
declare_table(
    "human_means",
    "the mean answer of a country's people to a question, in a language of the study",
    "country language question_id mean!",
    *ENDS,
    "n? design_effect? effective_n? source",
    added_later=["design_effect", "effective_n"],
)
declare_table(
    "calibration",
    "a question of a cell, with planted and recovered answers",
    "model language question_id wording response_type w1_unit_error p_valid_error position_bias_error",
    "averaged_w1_unit_error w1_unit_to_uniform planted_ends planted_p_valid recovered_p_valid",
    "planted_position_bias recovered_position_bias status reason? sampled_w1_unit_error sampled_p_valid_error",
    "sampled_position_bias_error drawn_w1_unit_error drawn_p_valid_error drawn_position_bias_error",
    "drawn_w1_unit_error_sd drawn_p_valid_error_sd drawn_position_bias_error_sd sampled_p_valid",
    "sampled_position_bias n_sampled?",
    BY_DRAWS,
    where_used=BY_DRAWS.split(),
)
declare_table(
    "negative_controls",
    "a language's prompts, answered by another language's reference model",
    "model language answered_by n n_unreadable w1_unit_error_mean p_valid_error_mean position_bias_error_mean",
    "fails reason?",
)
declare_table(
    "quality_report/cells",
    "a cell of the study, read or not",
    "model language n_questions n_usable n_unreliable n_unreadable median_p_valid share_above_threshold",
    "mean_position_bias share_position_biased is_flagged is_missing reason? rule?",
    added_later=["rule"],
)
declare_table(
    "quality_report/questions",
    "a question, over all cells",
    "question_id response_type n_cells n_readable n_unreliable median_p_valid share_unreliable is_dropped",
    "reason? rule?",
    added_later=["n_readable", "rule"],
)
declare_table(
    "quality_report/readings",
    "a question of a cell, wordings averaged",
    "model language question_id response_type is_converted p_valid p_valid_forward p_valid_reversed",
    "position_bias_magnitude resolution_mass standing is_position_biased reason? rule? is_usable",
    added_later=["rule"],
)
declare_table(
    "item_statistics",
    "a usable answer distribution",
    "model language question_id response_type is_converted n_options expected_value expected_value_unit",
    "entropy_bits entropy_share concentration w1_unit_to_uniform p_valid",
    code("mode", "code of the likeliest answer"),
    "is_near_uniform",
)
declare_table(
    "reliability/families",
    "a family",
    "model threshold generalizability~ pattern~ beyond_position~ over_orders split_half~ level n_languages?",
    "n_items? n_orders? n_wordings? reason? is_reliable? languages_sd_unit? countries_sd_unit?",
    added_later=[
        "beyond_position",
        "beyond_position_low",
        "beyond_position_high",
        "languages_sd_unit",
        "countries_sd_unit",
    ],
)
declare_table(
    "reliability/components",
    "a source of variance",
    "scope",
    text("source", "the source: language, item, family, order, wording, or an interaction of them"),
    "variance_unit2 share",
)
declare_table(
    "signal/correlations",
    "a correlation of a family with the people of its languages' countries",
    "model",
    text("kind", "what is subtracted first: nothing (raw), scales, items, style, one dimension"),
    "r low high p p_free? p_related? null_mean null_low null_high level n_languages n_items",
    added_later=["p_free", "p_related"],
)
declare_table("signal/verdicts", "a family", "model verdict? reason?")
declare_table(
    "distances/pairs",
    "an ordered pair of cells, itself included",
    "model_a language_a model_b language_b jsd_distance~ n_items w1_unit n_items_w1 cramer_unit2~",
    where_used=CRAMER,
)
declare_table("distances/points", "a cell in the plane of MDS", "model language x! y! stress n_cells")
declare_table(
    "distances/groups",
    "a grouping of languages, in a family or over all",
    "grouping kind model mean_within mean_between difference~ p n_within n_between n_languages n_groups note?",
    "p_corrected",
)
declare_table(
    "distances/variance_shares",
    "a factor: language or family",
    "factor r2 pseudo_f r2_by_chance excess~ p n_groups n_cells permuted note? p_corrected",
)
declare_table(
    "distances/neighbours",
    "a cell beside another family",
    "model language other nearest_model nearest_language nearest_jsd_distance same_language_jsd_distance",
    "own_family_jsd_distance rank n_ranked rank_of_all n_all is_same_language is_own_family",
    "nearest_cramer_unit2 same_language_cramer_unit2 own_family_cramer_unit2",
    where_used=["nearest_cramer_unit2", "same_language_cramer_unit2", "own_family_cramer_unit2"],
)
declare_table(
    "distances/neighbour_counts",
    "an ordered pair of families",
    "model other n_languages note? n_same_language? n_own_family? n_same_language_by_chance? n_same_language_p",
    "mean_rank mean_rank_by_chance mean_rank_p n_same_language_low n_same_language_high mean_rank_low",
    "mean_rank_high",
)
declare_table(
    "distances/contrasts",
    "a contrast in a family",
    "contrast kind model jsd_distance_near jsd_distance_far difference~ n_items cramer_unit2_near cramer_unit2_far",
    where_used=["cramer_unit2_near", "cramer_unit2_far"],
)
declare_table(
    "distances/baselines",
    "a baseline distance between two kinds of answers",
    "what kind jsd_distance~ w1_unit n_pairs n_items cramer_unit2~",
    where_used=CRAMER,
)
declare_table(
    "human_comparison/questions",
    "a question of a cell, of answers without content, or of halves of people",
    "kind model language country question_id response_type w1_unit tvd jsd_bits jsd_distance kl_bits",
    "jsd_bits_unbiased dk_rate p_invalid source cramer_unit2",
    added_later=["jsd_bits_unbiased"],
    where_used=["cramer_unit2"],
)
declare_table(
    "human_comparison/cells",
    "a cell, answers without content, or halves of people: means over questions",
    "kind model language country n_items n_items_w1 w1_unit~ jsd_distance~ kl_bits~ jsd_bits_unbiased~",
    "entropy_bits dk_rate p_invalid own_country_advantage~ own_country_rank~ n_countries? nearest_country? source",
    "cramer_unit2~",
    added_later=["jsd_bits_unbiased", "jsd_bits_unbiased_low", "jsd_bits_unbiased_high"],
    where_used=CRAMER,
)
declare_table(
    "human_comparison/by_response_type",
    "the same for one kind of scale",
    "kind model language country response_type n_items n_items_w1 w1_unit~ jsd_distance~ kl_bits~",
    "jsd_bits_unbiased~ cramer_unit2~",
    where_used=CRAMER,
    added_later=["jsd_bits_unbiased", "jsd_bits_unbiased_low", "jsd_bits_unbiased_high"],
)
declare_table(
    "human_comparison/own_country",
    "a family",
    "kind model n_cells n_countries mean_rank_by_chance mean_rank~ mean_rank_p own_country_advantage~",
    "own_country_advantage_p note? mean_rank_p_corrected own_country_advantage_p_corrected",
)
declare_table(
    "human_comparison/resources",
    "a measure of a family, or of answers without content: languages with much against little text on the web",
    "kind model measure mean_high mean_low difference~ beyond_uniform? beyond_first? beyond_pooled?",
    "beyond_exchanged? p? n_high n_low note? p_corrected",
    added_later=["kind", "beyond_uniform", "beyond_first", "beyond_pooled", "beyond_exchanged"],
)
declare_table(
    "human_comparison/lower_bounds",
    "a question, where only means of people are known",
    "kind model language country question_id mean_model mean_human",
    *ENDS,
    "w1_unit_lower_bound source",
)
declare_table(
    "human_comparison/lower_bound_cells",
    "a cell, over questions, where only means of people are known",
    "kind model language country n_items w1_unit_lower_bound~ source",
)
declare_table(
    "mono_vs_multi/pairs",
    "a language answered by both families",
    "language country mono multi agreement_mono agreement_multi advantage_mono advantage_multi",
    "entropy_bits_mono entropy_bits_multi distance_own_mono distance_own_multi difference~ n_items n_items_people",
    "cramer_unit2_mono cramer_unit2_multi",
    added_later=["agreement_mono", "agreement_multi"],
    where_used=["cramer_unit2_mono", "cramer_unit2_multi"],
)
declare_table(
    "mono_vs_multi/summary",
    "a measure of two families",
    "mono multi measure mean_difference low high p_sign_test p? p_related? n_pairs level source_of_variation note?",
    "p_corrected",
    added_later=["p", "p_related"],
)
declare_table(
    "position_bias/by_response_type",
    "a family and a kind of scale, or all of them",
    "kind model model_type n_parameters? response_type position_bias_magnitude~ order_sd_unit language_sd_unit",
    "order_to_language~ share_near_uniform~ n_cells n_items n_items_ratio note?",
)
declare_table(
    "position_bias/cells",
    "a cell",
    "model language model_type n_parameters? position_bias_magnitude~ order_sd_unit share_near_uniform n_items "
    "order_agreement~ share_changed follows? note?",
)
declare_table("tests", "a test of an analysis", TESTS)
declare_table("notes", "a remark on an analysis", "note")
declare_table("refused", "an analysis that the data do not suffice for", "reason")
SHARED = tuple(TABLES.values())


def table_of_asset(instrument: str, asset: str, name: str | None = None) -> Table:
    """The record of an asset's table: the instrument's own, or the one that all instruments share.

    Args:
        name: the table's name, where the asset has several.

    Raises:
        StorageError: no such table is declared.
    """
    noun = f"{asset}/{name}" if name else asset
    for key in (f"{instrument}/{noun}", noun, name):
        if key in TABLES:
            return TABLES[key]
    raise StorageError(
        f"{instrument}/{noun}: no such table is declared; give it to declare_table in the instrument's tables.py"
    )
