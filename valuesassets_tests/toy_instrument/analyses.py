"""The one analysis of the toy: its asset, its line in the UI and its section of the report."""

from valuesassets.reporting.analyses import Home

HOME = Home("valuesassets_tests.toy_instrument", needs=("answers",), reads=())

ANALYSES = {
    "leanings": HOME.analysis(
        "measures.leanings:derive_leanings",
        "line",
        "report:leanings",
        title="Leanings",
        about="What models lean to in each task.",
        stored="frame",
        docs="prompts",
    ),
}
