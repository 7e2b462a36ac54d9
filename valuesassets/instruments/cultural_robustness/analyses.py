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
        title="Diversity and robustness without the effect of language",
        about="Every score of every model with its interval, p-value and null, and the published scores.",
        needs=("language_pairs", "clustering"),
        drawings=(
            HOME.drawing(
                "seed_and_null",
                "scores",
                alt="A row for each published score, with a dot for each model and a bar for its null, the value "
                "that the same formula gives for the questions themselves or for permuted answers. The table holds the "
                "same numbers.",
                caption="Do published scores differ from those of translations of one question or of arbitrary "
                "answers?",
            ),
            HOME.drawing(
                "diversity_robustness",
                "scores",
                alt="A plane with models as points, with diversity on the horizontal axis and robustness on the "
                "vertical axis, each with its interval, and lines at 0 and at 1. Models without a point are named "
                "below with the reason.",
                caption="Do answers differ by culture when no country is named, and does a named country override "
                "the language?",
            ),
        ),
        **CSV,
    ),
    "country_profiles": HOME.analysis(
        "measures.measured:country_profiles",
        "rows_line",
        "report:countries",
        title="Which countries do answers without a country resemble?",
        about="How close a language's answers without a country are to its own answers for each country.",
        needs=("language_pairs",),
        drawings=(
            HOME.drawing(
                "country_profiles",
                "country_profiles",
                alt="A panel for each model, languages in rows and countries in columns: a shade for how close the "
                "answer without a country is to the one for the country; the language's own country is boxed.",
                caption="Which countries do a language's answers without a country resemble?",
            ),
        ),
        **CSV,
    ),
    "language_groups": HOME.analysis(
        "measures.measured:language_groups",
        "rows_line",
        "report:groups",
        title="Which languages have similar answers?",
        about="Groups of languages with similar answers, beyond the effect of language, where they are significant.",
        needs=("language_pairs",),
        drawings=(
            HOME.drawing(
                "language_map",
                "language_pairs",
                "language_groups",
                optional=("language_groups",),
                alt="Two planes for each model with languages as points. One plane shows the differences beyond "
                "language, with the groups; the other shows the plain distances, in which scripts are apart.",
                caption="Which languages have similar answers, by differences beyond language and by plain distances?",
            ),
        ),
        **CSV,
    ),
    "embedder_report": HOME.analysis(
        "measures.measured:embedder_report",
        "embedder_line",
        "report:embedder",
        title="Does the embedder know the languages?",
        about="How many translations the embedder finds in each language, and what share of its space is language.",
        needs=("question_vectors",),
        **CSV,
    ),
    "calibration": HOME.analysis(
        "plants.calibration:calibrate_models",
        "calibration_line",
        "report:calibration",
        title="Does the instrument work?",
        about="Planted and recovered diversity, robustness, groups and faults, and what no test may reject.",
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
    title="Everything that is measured of a model",
    about="All measures of a model's answers: distances of pairs of languages, countries, groups and tests.",
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
            alt="A bar for each model and language shows the share and the number of answers that have a fault, by "
            "kind of fault.",
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
