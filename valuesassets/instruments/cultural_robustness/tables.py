"""Tables that cultural robustness alone writes: questions, which answers count, and what is measured of them."""

from math import inf

import pyarrow as pa

from valuesassets.records.columns import Column
from valuesassets.records.table import Table
from valuesassets.records.tables import declare_tables

QUESTION = Column("question_id", pa.string(), "number of the question, the same in all languages")
ID = Column("id", pa.string(), "the prompt: <question>, or <question>-<anchor> where a country is named")
KIND = Column("kind", pa.string(), "unspecific: without a country; specific: with one")
ANY_KIND = Column("kind", pa.string(), "unspecific or specific: an answer without or with a country; question")
SAMPLE = Column("sample", pa.int64(), "number of the answer among those to the same prompt, from 0", range=(0, 1e9))
COUNTRY = Column("country", pa.string(), "the country that is named, ISO 3166 alpha-2", may_be_empty=True)
PERSONA = Column("persona", pa.int64(), "which of several people asks", range=(1, 1e9), may_be_empty=True)

QUESTIONS = Table(
    "cultural_robustness/questions",
    "a prompt of a language: a question as it is, or with a country named",
    QUESTION,
    Column("anchor", pa.int64(), "number of the country (and persona) named", range=(1, 1e9), may_be_empty=True),
    COUNTRY,
    PERSONA,
    "prompt",
    is_exact=True,
)
QUESTION_REPORT = Table(
    "cultural_robustness/question_report",
    "a fault of the questions",
    "language",
    Column("id", pa.string(), "the prompt that it concerns; empty: a whole file", may_be_empty=True),
    Column("fault", pa.string(), "missing, foreign, same anchor, read alike"),
    Column("is_warning", pa.bool_(), "whether the questions may be asked all the same"),
    Column("what", pa.string(), "what is wrong, and what to do"),
)
ANSWERED = Table(
    "cultural_robustness/answered",
    "an answer of a model, written here or elsewhere",
    "language",
    KIND,
    ID,
    QUESTION,
    COUNTRY,
    PERSONA,
    SAMPLE,
    "prompt? text? finish? reason?",
    is_exact=True,
)
ANSWER_QUALITY = Table(
    "cultural_robustness/answer_quality",
    "an answer, and whether it counts",
    "language",
    KIND,
    ID,
    SAMPLE,
    Column("status", pa.string(), "ok, empty, failed, echo, loop, wrong_language, truncated"),
    "reason?",
    Column(
        "spoken_language", pa.string(), "the likeliest language, ISO 639-3; empty where few letters", may_be_empty=True
    ),
)
VECTORS = Table(
    "cultural_robustness/vectors",
    "an answer or a question as a vector of length 1",
    "language",
    ANY_KIND,
    ID,
    SAMPLE,
    Column("is_usable", pa.bool_(), "whether the answer counts; the others serve published scores only"),
    Column("vector", pa.list_(pa.float32()), "what the embedder made of the text, of length 1", range=(-1, 1)),
    is_exact=True,
)
declare_tables(QUESTIONS, QUESTION_REPORT, ANSWERED, ANSWER_QUALITY, VECTORS)


def _text(name: str, words: str, may_be_empty: bool = False) -> Column:
    return Column(name, pa.string(), words, may_be_empty=may_be_empty)


def _number(name: str, words: str, unit: str = "", low: float = -inf, high: float = inf) -> Column:
    return Column(name, pa.float64(), words, unit, (low, high), may_be_empty=True)


HALF = "half squared distance"
MODEL, LANGUAGE = _text("model", "the model family, as the study names it"), _text("language", "ISO 639-3")
REASON = _text("reason", "why a number is missing, or what has to be known to read it", may_be_empty=True)

SCORES = Table(
    "cultural_robustness/scores",
    "a score of a model",
    MODEL,
    _text("score", "name of the score"),
    _number("value", "the score; empty where it cannot be had"),
    _number("low", "lower end of its interval over questions"),
    _number("high", "upper end of its interval"),
    _number(
        "p",
        "the larger p of permutations, corrected over tests, and of the skew-adjusted t test over questions",
        "probability",
        0,
        1,
    ),
    _number("null", "what it would be without a signal: mean under permuted labels, or of the questions themselves"),
    Column("n_questions", pa.int64(), "questions that it rests on", range=(0, inf)),
    Column("n_languages", pa.int64(), "languages that it rests on", range=(0, inf)),
    _text("status", "ok; refused: a test does not carry it; undefined: what it needs is not there"),
    REASON,
)
LANGUAGE_PAIRS = Table(
    "cultural_robustness/language_pairs",
    "a pair of languages of a model, means over questions",
    MODEL,
    LANGUAGE,
    _text("other_language", "the other language, ISO 639-3"),
    _number("unanchored_distance", "U: distance of answers without a country", HALF),
    _number("same_country_distance", "A: distance of answers for the same country", HALF),
    _number("other_country_distance", "C: distance of answers for different countries", HALF),
    _number("culture_gain", "U - A", HALF),
    _number("culture_gain_low", "lower end of its interval over questions", HALF),
    _number("culture_gain_high", "upper end of its interval", HALF),
    "n_questions",
)
COUNTRY_PROFILES = Table(
    "cultural_robustness/country_profiles",
    "a language and a country of a model, means over questions",
    MODEL,
    LANGUAGE,
    _text("country", "ISO 3166 alpha-2"),
    _number("distance", "P: distance of the answer without a country to that for the country", HALF),
    _number(
        "closeness", "-P without the means of its language and of its country: above 0 is closer than others", HALF
    ),
    _number("closeness_low", "lower end of its interval over questions", HALF),
    _number("closeness_high", "upper end of its interval", HALF),
    Column("is_own", pa.bool_(), "whether it is the language's own country"),
    "n_questions",
)
LANGUAGE_GROUPS = Table(
    "cultural_robustness/language_groups",
    "a language of a model whose languages fall into groups; no row where structure is not significant",
    MODEL,
    LANGUAGE,
    Column("group", pa.int64(), "number of its group, from 1", range=(1, inf)),
    _number("silhouette", "mean silhouette of the grouping", "", -1, 1),
)
EMBEDDER_REPORT = Table(
    "cultural_robustness/embedder_report",
    "a language: whether the embedder knows it",
    LANGUAGE,
    "n_questions",
    _number("found_share", "translations that are the nearest text, mean over the other languages", "share", 0, 1),
    _number(
        "variance_share",
        "squared offset of the language over the variance of all questions; its mean over "
        "languages is the share that is language",
        "",
        0,
    ),
    _text("status", "ok; unknown_language: too few translations are found; undefined: nothing to compare"),
    REASON,
)
DROPPED = Table(
    "cultural_robustness/dropped",
    "a language of a model that is not compared",
    MODEL,
    LANGUAGE,
    _text("reason", "why it is not compared"),
)
CALIBRATION = Table(
    "cultural_robustness/calibration",
    "a fact that was planted into a reference model",
    "model",
    Column("fact", pa.string(), "what was planted: a score, groups of languages, answers with a fault, rejected tests"),
    Column("planted", pa.float64(), "what it should be, enumerated from what was planted"),
    Column("recovered", pa.float64(), "what was found; empty where nothing was", may_be_empty=True),
    Column("tolerance", pa.float64(), "by how much it may be off", range=(0, inf)),
    Column("is_recovered", pa.bool_(), "whether it is not off by more"),
)
declare_tables(SCORES, LANGUAGE_PAIRS, COUNTRY_PROFILES, LANGUAGE_GROUPS, EMBEDDER_REPORT, DROPPED, CALIBRATION)
MEASURED = {
    "language_pairs": LANGUAGE_PAIRS,
    "country_profiles": COUNTRY_PROFILES,
    "language_groups": LANGUAGE_GROUPS,
    "scores": SCORES,
    "dropped": DROPPED,
}
"""The tables of the asset `language_pairs`, which is all that is measured of one model, by name."""

declare_tables(
    *(Table(f"cultural_robustness/language_pairs/{name}", of.row, *of.columns) for name, of in MEASURED.items()),
    Table("cultural_robustness/question_vectors", VECTORS.row, *VECTORS.columns, is_exact=True),
    Table("cultural_robustness/clustering", "a published score of a model", *SCORES.columns),
)
