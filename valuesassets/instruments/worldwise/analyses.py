"""The analyses of choices and reasons, in the order of the report: where each is derived, drawn and described."""

from dataclasses import replace
from typing import Any

from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.reporting.analyses import Analysis, Drawing, Home

ANSWERED = ("choices", "reasons", "projections")
OF_REASONS = frozenset(("reasons", "projections", "reason_vectors", "axes"))
"""Assets that exist only if a study asks for reasons."""
HOME = Home("valuesassets.instruments.worldwise", needs=ANSWERED, reads=("inference", "seed", "thresholds"))


def _drawing(name: str, place: str, alt: str, caption: str, **more: Any) -> Drawing:
    """A figure of a table, or of a `table.column`, which is then drawn only if the column's sum is above zero."""
    table, _, column = place.partition(".")
    alt = f"{alt} The table holds the same numbers."
    return HOME.drawing(name, table, alt=alt, caption=caption, some=place if column else "", **more)


ANALYSES = {
    "quality_report": HOME.analysis(
        "measures.quality_report:derive_quality_report",
        "quality_line",
        needs=(*ANSWERED, "reason_vectors", "axes"),
        title="What became of the answers?",
        about="Statuses of all answers, bounds for missing ones, and whether refusals depend on the culture.",
        drawings=(
            _drawing(
                "statuses",
                "statuses.n_status",
                "A bar for each model, form and condition with answers that say nothing: the share of each status.",
                "What became of answers that say nothing?",
            ),
            _drawing(
                "axis_validity",
                "validity",
                "A row for each axis with a dot for each embedder: held-out AUC, and the line that valid axes reach.",
                "Do axes put held-out sentences in order?",
            ),
        ),
        captions={
            "statuses": "Share of each status, with Wilson intervals.",
            "bounds": "Means if all missing answers were on one pole.",
            "refusals": "Whether refusals depend on the persona: personas permuted within dilemmas; p corrected.",
            "advocates": "Whether the axis distinguishes what a model says for its poles.",
            "convergent_validity": "Correlations of positions with ticked values: on the same axis (r), and on others.",
        },
        hidden=("bounds",),
        caution="No answer is dropped: one that says nothing has a status and a reason, and no number.",
    ),
    "reliability": HOME.analysis(
        "measures.reliability:derive_reliability",
        "reliability_line",
        title="Do differences between cultures replicate?",
        about="Agreement of cultural differences over orders, wordings and dilemmas; whether choices follow options.",
        captions={
            "readouts": "Generalizability. Readouts below the threshold have no profiles; unmeasured ones no rankings.",
            "orders": "Whether choices follow options or positions. No analysis uses choices that follow positions.",
        },
    ),
    "cultural_profiles": HOME.analysis(
        "measures.cultural_profiles:derive_cultural_profiles",
        "profiles_line",
        needs=(*ANSWERED, "reliability"),
        title="How do models lean as persons of each culture?",
        about="Mean lean of each condition on each axis, by choices and by reasons, beside the country's score.",
        drawings=(
            _drawing(
                "cultural_profiles",
                "profiles.n_scenarios",
                "Of {model}, a panel for each axis with a row for each condition: mean leans, and the country's score.",
                "{model}: leans by choices and by reasons.",
                by=("model",),
            ),
        ),
        captions={"profiles": "Leans, and differences from the placebo."},
        caution="Scores of countries describe countries, not persons (ecological fallacy).",
    ),
    "alignment": HOME.analysis(
        "measures.alignment:derive_alignment",
        "alignment_line",
        needs=(*ANSWERED, "reliability", "scenarios"),
        title="Do cultures differ as their countries do, and which are distinguished?",
        about="Agreement with country scores beside its null, slopes, and which cultures are distinguished.",
        drawings=(
            _drawing(
                "agreement_null",
                "agreement.n_scenarios",
                "A row for each model and readout: correlation with country scores and what exchanged cultures give.",
                "Agreement with country scores, beside its null.",
            ),
            HOME.drawing(
                "culture_plane",
                "culture_pairs",
                alt="A panel for each model with its cultures as points: near where it leans alike. The table of pairs "
                "holds the distances.",
                caption="Which cultures does a model take for alike? By choices.",
                some="culture_pairs.n_scenarios",
            ),
        ),
        captions={
            "agreement": "Correlations over cultures and axes; labels of cultures permuted, corrected over models.",
            "verdicts": "The verdicts: the tests of both corrected forms have to reject.",
            "flattening": "Slopes of leans on country scores, and the share of the variance between cultures; "
            "among people it is some 20 % of the variance of values.",
            "culture_pairs": "Pairs of cultures: exchanged within dilemmas, corrected over pairs (step-down).",
        },
    ),
    "persona_shift": HOME.analysis(
        "measures.persona_shift:derive_persona_shift",
        "shift_line",
        needs=(*ANSWERED, "reliability"),
        title="What does a persona move, and whose is the default?",
        about="Ticked values beside those of a persona from nowhere, and the persona nearest to answers without one.",
        drawings=(
            _drawing(
                "shift_excess",
                "shifts.n_scenarios",
                "A row for each condition with a dot for each model: distance to the placebo, less chance.",
                "Which personas move the values that are ticked?",
            ),
            _drawing(
                "nearest_persona",
                "nearest_persona.n_scenarios",
                "A shade for each model, readout and culture: how often its persona is the nearest.",
                "Which of its own personas is a model nearest to when it has none?",
            ),
        ),
        captions={
            "shifts": "Ticked values: distance to the placebo, by chance, and its excess; p corrected.",
            "nearest_persona": "How far each persona is from answers without one, and how often it is nearest.",
        },
    ),
    "say_do_gap": HOME.analysis(
        "measures.say_do_gap:derive_say_do_gap",
        "gaps_line",
        needs=(*ANSWERED, "reliability", "scenarios"),
        title="Do models write what they choose?",
        about="Decisions and reasons beside next-token probabilities, axis by axis.",
        drawings=(
            _drawing(
                "say_do",
                "gaps.n_scenarios",
                "A panel for each form and measure, a row for each axis, a dot for each model: written less chosen.",
                "Do models write what they choose?",
            ),
        ),
        captions={
            "gaps": "What is written less what is chosen; signs of dilemmas flipped for all axes and models at once."
        },
    ),
    "stereotyping": HOME.analysis(
        "measures.stereotyping:derive_stereotyping",
        "stereotyping_line",
        needs=(*ANSWERED, "reason_vectors"),
        title="Are personas caricatures?",
        about="Whether reasons distinguish a persona from one from nowhere, and which words do.",
        captions={
            "caricature": "Share of pairs of reasons that are distinguished, countries masked; p corrected.",
            "words": "Names of the own country, and sentences that generalise, per 100 words.",
        },
    ),
    "seed_scores": HOME.analysis(
        "published.seed_scores:derive_seed_scores",
        "seed_line",
        needs=(*ANSWERED, "reason_vectors", "axes", "scenarios"),
        title="Appendix: the figures of worldWiseAI, each beside what needs no answer",
        about="The figures that worldWiseAI published, of this study's answers, each with its null.",
        drawings=(
            _drawing(
                "error_heatmap",
                "errors",
                "A shade for each culture and axis: error of the published score; separate rows for that of zeros.",
                "As published: error by culture and axis, with rows for a score of zero.",
            ),
            _drawing(
                "seed_figure",
                "figures",
                "A row for each point of the published figure '{figure}': a dot for each model, a bar for its null.",
                "As published: {figure}.",
                by=("figure",),
            ),
        ),
        captions={
            "measures": "As published, beside a score of zero, the other cultures' mean target, and exchanged targets.",
            "errors": "As published: mean error of the score by culture and axis, beside that of a score of zero.",
            "figures": "Every point of the published figures, with its null.",
        },
        caution="The figures of this section repeat those of worldWiseAI (kabiwabi/worldWiseAI), with their faults; "
        "no other section uses them.",
    ),
    "recovery": HOME.analysis(
        "plants.recovery:derive_recovery",
        "recovery_line",
        title="Does the instrument work?",
        about="What was planted in models that are trained here, beside what choices and reasons recover.",
        captions={"measures": "Each planted measure as recovered, and its bounds, which allow for sampling error."},
        caution="Small models were trained here to choose and write as planned, and were then asked like any other.",
    ),
}
"""By asset."""
WRITTEN_ALONE = ("say_do_gap", "stereotyping", "seed_scores", "recovery")
"""Analyses of reasons alone."""


def analyses_of(study: Study) -> dict[str, Analysis]:
    """The analyses of a study; without reasons those that need only choices."""
    if Worldwise.of(study).has_reasons:
        return {name: each for name, each in ANALYSES.items() if name != "recovery" or study.has_reference_models}
    return {
        name: replace(each, needs=tuple(need for need in each.needs if need not in OF_REASONS))
        for name, each in ANALYSES.items()
        if name not in WRITTEN_ALONE
    }
