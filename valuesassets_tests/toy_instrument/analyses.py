"""The one analysis of the toy: its asset, its line in the UI and its section of the report."""

from valuesassets.reporting.analyses import Analysis

HOME = "valuesassets_tests.toy_instrument"
ANALYSES = {
    "leanings": Analysis(
        title="Leanings",
        about="What models lean to in each task.",
        derive=f"{HOME}.leanings:derive_leanings",
        needs=("answers",),
        line=f"{HOME}.leanings:line",
        section=f"{HOME}.report:leanings",
        stored="frame",
        docs="prompts",
        reads=(),
    ),
}
