"""The analyses of cultural robustness: one entry gives each its asset, figures, line in the UI and report section.

The graph loads this file: what computes or draws is named here and imported when it is used.
"""

from typing import Any

from valuesassets.records.study import Study
from valuesassets.reporting.analyses import Analysis, Home

CSV: dict[str, Any] = {"stored": "csv", "kinds": ("table", "csv")}
HOME = Home("valuesassets.instruments.cultural_robustness", needs=(), reads=())

ANALYSES = {
    "scores": HOME.analysis(
        "measures.measured:all_scores",
        "scores_line",
        "report:scores",
        title="Diversity and robustness, free of language",
        about="Every score of every model, with interval, p-value and null; published ones beside.",
        needs=("language_pairs", "clustering"),
        drawings=(
            HOME.drawing(
                "seed_and_null",
                "scores",
                alt="A row for each published score, with a dot for each model and a bar for its null: what the same "
                "formula gives for the questions themselves, or for answers dealt anew. The table holds the same "
                "numbers.",
                caption="What do published scores say that translations of one question, or arbitrary answers, do not "
                "get as well?",
            ),
            HOME.drawing(
                "diversity_robustness",
                "scores",
                alt="A plane with models as points: across, diversity, upward, robustness, each with its interval; "
                "lines at 0 and at 1. Models without a point are named below with the reason.",
                caption="Do answers differ by culture where nothing is said, and does a named country override it?",
            ),
        ),
        **CSV,
    ),
    "country_profiles": HOME.analysis(
        "measures.measured:country_profiles",
        "rows_line",
        "report:countries",
        title="Which countries is an answer without a country close to?",
        about="How close what a language says without a country is to each country, in itself.",
        needs=("language_pairs",),
        drawings=(
            HOME.drawing(
                "country_profiles",
                "country_profiles",
                alt="A panel for each model, languages in rows and countries in columns: a shade for how close the "
                "answer without a country is to the one for the country; the language's own country is boxed.",
                caption="Which countries is what a language says without a country close to?",
            ),
        ),
        **CSV,
    ),
    "language_groups": HOME.analysis(
        "measures.measured:language_groups",
        "rows_line",
        "report:groups",
        title="Which languages answer alike?",
        about="Which languages answer alike beyond what language does, where that is significant.",
        needs=("language_pairs",),
        drawings=(
            HOME.drawing(
                "language_map",
                "language_pairs",
                "language_groups",
                optional=("language_groups",),
                alt="Two planes for each model with languages as points: by what they differ in beyond language, with "
                "their groups, and by plain distances, in which scripts stand apart.",
                caption="Which languages answer alike: beyond what language does, and as plain distances have it?",
            ),
        ),
        **CSV,
    ),
    "embedder_report": HOME.analysis(
        "measures.measured:embedder_report",
        "embedder_line",
        "report:embedder",
        title="Does the embedder know the languages?",
        about="How many translations the embedder finds, language by language, and how much of its space is language.",
        needs=("question_vectors",),
        **CSV,
    ),
    "calibration": HOME.analysis(
        "plants.calibration:calibrate_models",
        "calibration_line",
        "report:calibration",
        title="Does the instrument work?",
        about="Planted against recovered: diversity, robustness, groups, faults; and what no test may reject.",
        needs=("language_pairs", "answer_quality", "questions"),
        reads=("inference",),
        **CSV,
    ),
}
"""In the order of the report; the key is the asset's name."""
OF_A_MODEL = ("country_profiles", "language_groups")
"""Those that each model has for itself."""
MEASURED = HOME.analysis(
    "measures.measured:measure_family",
    "measured_line",
    title="All that is measured of a model",
    about="All that is measured of a model's answers: distances of pairs of languages, countries, groups, tests.",
    needs=("questions", "answers", "answer_quality", "vectors", "question_vectors"),
    reads=("inference", "seed"),
)
"""The asset `language_pairs`, which holds the tables that the others show."""
QUALITY = Analysis(
    title="Which answers count?",
    about="Whether each answer counts.",
    derive="",
    needs=(),
    line="",
    drawings=(
        HOME.drawing(
            "answer_quality",
            "answer_quality",
            alt="A bar for each model and language: the share of its answers with which something is wrong, by what, "
            "and how many these are.",
            caption="Which answers are empty, cut off, in another language or an echo?",
        ),
    ),
    section=f"{HOME.package}.report.answers_section:answers",
)
"""How the page shows `answer_quality`, which is made beside the pages of answers."""


def analyses_of(study: Study) -> dict[str, Analysis]:
    """The analyses of a study; only of models that are trained here it is known what should come back."""
    return {name: each for name, each in ANALYSES.items() if name != "calibration" or study.has_reference_models}


def page_analyses(study: Study | None = None) -> dict[str, Analysis]:
    """What the page has sections of, in their order."""
    parts = dict(ANALYSES) if study is None else analyses_of(study)
    first = ("scores", "country_profiles", "language_groups")
    return {name: parts[name] for name in first} | {"answer_quality": QUALITY} | parts
