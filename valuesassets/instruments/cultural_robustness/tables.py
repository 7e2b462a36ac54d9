"""Tables that cultural robustness alone writes: questions, what is wrong with them, and which answers count."""

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
