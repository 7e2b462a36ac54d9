"""Tables that cultural robustness alone writes: questions, which answers count, and what is measured of them."""

from functools import partial

import pyarrow as pa

from valuesassets.records.columns import column, count, flag, number, probability, share, text, with_ends
from valuesassets.records.tables import declare_table

HALF = "half squared distance"
VOCABULARY = (
    text("question_id", "number of the question, the same in all languages"),
    count("persona?", "which of several people asks", low=1, high=1e9),
    text("id", "the prompt: <question>, or <question>-<anchor> where a country is named"),
    text("kind", "unspecific: without a country; specific: with one"),
    count("sample", "number of the answer among those to the same prompt, from 0", high=1e9),
)
"""Columns that several of these tables have; a table gives their names."""
COUNTRY = text("country?", "the country that is named, ISO 3166 alpha-2")
REASON = text("reason?", "why a number is missing, or what has to be known to read it")
table = partial(declare_table, vocabulary=VOCABULARY)

QUESTIONS = table(
    "cultural_robustness/questions",
    "a prompt of a language: a question as it is, or with a country named",
    "question_id",
    count("anchor?", "number of the country (and persona) named", low=1, high=1e9),
    COUNTRY,
    "persona prompt",
    is_exact=True,
)
QUESTION_REPORT = table(
    "cultural_robustness/question_report",
    "a fault of the questions",
    "language",
    text("id?", "the prompt that it concerns; empty: a whole file"),
    text("fault", "missing, foreign, same anchor, read alike"),
    flag("is_warning", "whether the questions may be asked all the same"),
    text("what", "what is wrong, and what to do"),
)
ANSWERED = table(
    "cultural_robustness/answered",
    "an answer of a model, written here or elsewhere",
    "language kind id question_id",
    COUNTRY,
    "persona sample prompt? text? finish? reason?",
    is_exact=True,
)
ANSWER_QUALITY = table(
    "cultural_robustness/answer_quality",
    "an answer, and whether it counts",
    "language kind id sample",
    text("status", "ok, empty, failed, echo, loop, wrong_language, truncated"),
    "reason?",
    text("spoken_language?", "the likeliest language, ISO 639-3; empty where few letters"),
)
VECTORS = table(
    "cultural_robustness/vectors",
    "an answer or a question as a vector of length 1",
    "language",
    text("kind", "unspecific or specific: an answer without or with a country; question"),
    "id sample",
    flag("is_usable", "whether the answer counts; the others serve published scores only"),
    column("vector", "what the embedder made of the text, of length 1", low=-1, high=1, kind=pa.list_(pa.float32())),
    is_exact=True,
)
SCORES = table(
    "cultural_robustness/scores",
    "a score of a model",
    "model",
    text("score", "name of the score"),
    number("value", "the score; empty where it cannot be had"),
    number("low", "lower end of its interval over questions"),
    number("high", "upper end of its interval"),
    probability(
        "p", "the larger p of permutations, corrected over tests, and of the skew-adjusted t test over questions"
    ),
    number("null", "what it would be without a signal: mean under permuted labels, or of the questions themselves"),
    count("n_questions", "questions that it rests on"),
    count("n_languages", "languages that it rests on"),
    text("status", "ok; refused: a test does not carry it; undefined: what it needs is not there"),
    REASON,
)
LANGUAGE_PAIRS = table(
    "cultural_robustness/language_pairs",
    "a pair of languages of a model, means over questions",
    "model language",
    text("other_language", "the other language, ISO 639-3"),
    number("unanchored_distance", "U: distance of answers without a country", HALF),
    number("same_country_distance", "A: distance of answers for the same country", HALF),
    number("other_country_distance", "C: distance of answers for different countries", HALF),
    *with_ends(number("culture_gain", "U - A", HALF), "lower end of its interval over questions"),
    "n_questions",
)
COUNTRY_PROFILES = table(
    "cultural_robustness/country_profiles",
    "a language and a country of a model, means over questions",
    "model language country",
    number("distance", "P: distance of the answer without a country to that for the country", HALF),
    *with_ends(
        number(
            "closeness", "-P without the means of its language and of its country: above 0 is closer than others", HALF
        ),
        "lower end of its interval over questions",
    ),
    flag("is_own", "whether it is the language's own country"),
    "n_questions",
)
LANGUAGE_GROUPS = table(
    "cultural_robustness/language_groups",
    "a language of a model whose languages fall into groups; no row where structure is not significant",
    "model language",
    count("group", "number of its group, from 1", low=1),
    number("silhouette", "mean silhouette of the grouping", "", -1, 1),
)
EMBEDDER_REPORT = table(
    "cultural_robustness/embedder_report",
    "a language: whether the embedder knows it",
    "language n_questions",
    share("found_share", "translations that are the nearest text, mean over the other languages"),
    number(
        "variance_share",
        "squared offset of the language over the variance of all questions; its mean over languages is the "
        "share that is language",
        low=0,
    ),
    text("status", "ok; unknown_language: too few translations are found; undefined: nothing to compare"),
    REASON,
)
DROPPED = table(
    "cultural_robustness/dropped",
    "a language of a model that is not compared",
    "model language",
    text("reason", "why it is not compared"),
)
CALIBRATION = table(
    "cultural_robustness/calibration",
    "a fact that was planted into a reference model",
    "model",
    text("fact", "what was planted: a score, groups of languages, answers with a fault, rejected tests"),
    number("planted!", "what it should be, enumerated from what was planted"),
    number("recovered", "what was found; empty where nothing was"),
    number("tolerance!", "by how much it may be off", low=0),
    flag("is_recovered", "whether it is not off by more"),
)
MEASURED = {
    "language_pairs": LANGUAGE_PAIRS,
    "country_profiles": COUNTRY_PROFILES,
    "language_groups": LANGUAGE_GROUPS,
    "scores": SCORES,
    "dropped": DROPPED,
}
"""The tables of the asset `language_pairs`, which is all that is measured of one model, by name."""

for name, measured in MEASURED.items():
    declare_table(f"cultural_robustness/language_pairs/{name}", measured.row, *measured.columns)
declare_table("cultural_robustness/question_vectors", VECTORS.row, *VECTORS.columns, is_exact=True)
declare_table("cultural_robustness/clustering", "a published score of a model", *SCORES.columns)
