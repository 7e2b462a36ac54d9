"""What is made of choices and reasons: one entry for each analysis, in the order of the report."""

from dataclasses import replace

from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.reporting.analyses import Analysis, Home

ANSWERED = ("choices", "reasons", "projections")
OF_REASONS = frozenset(("reasons", "projections", "reason_vectors", "axes"))
"""Assets that are there where a study asks for reasons."""
HOME = Home("valuesassets.instruments.worldwise", needs=ANSWERED, reads=("inference", "seed", "thresholds"))

ANALYSES = {
    "quality_report": HOME.analysis(
        "measures.quality_report:derive_quality_report",
        "quality_line",
        needs=(*ANSWERED, "reason_vectors", "axes"),
        title="What became of the answers?",
        about="Statuses of all answers, what missing ones could change, and whether refusals depend on the culture.",
        drawings=(
            HOME.drawing(
                "statuses",
                "statuses",
                alt="A bar for each model, form and condition with answers that say nothing: the share of each status. "
                "The table holds the same numbers.",
                caption="What became of answers that say nothing?",
                some="statuses.n_status",
            ),
            HOME.drawing(
                "axis_validity",
                "validity",
                alt="A row for each axis with a dot for each embedder: held-out AUC, and the line from which an axis "
                "is valid. The table holds the same numbers.",
                caption="Do axes put sentences in order that they were not made of?",
            ),
        ),
        captions={
            "statuses": "How often each status came, with Wilson intervals.",
            "bounds": "What means could be if all missing answers stood on one pole.",
            "refusals": "Whether refusals depend on the persona: personas permuted within dilemmas, corrected.",
            "advocates": "Whether what a model says for the poles is told apart on the axis.",
            "convergent_validity": "Whether positions go with the values that the same answers tick: on the same axis "
            "(r), and on others (discriminant).",
        },
        hidden=("bounds",),
        caution="No answer is dropped: one that says nothing has a status and a reason, and is missing in numbers.",
    ),
    "reliability": HOME.analysis(
        "measures.reliability:derive_reliability",
        "reliability_line",
        needs=ANSWERED,
        title="Does what sets cultures apart replicate?",
        about="Agreement over orders, wordings and dilemmas of what sets a model's cultures apart, and whether choices "
        "follow the options or their places.",
        captions={
            "readouts": "Generalizability; below the threshold profiles and rankings give way, and rankings also where "
            "nothing could be measured.",
            "orders": "What choices follow when options are exchanged: how often the preferred one changes, and "
            "whether leans come back. Nothing rests on choices that follow position.",
        },
    ),
    "cultural_profiles": HOME.analysis(
        "measures.cultural_profiles:derive_cultural_profiles",
        "profiles_line",
        needs=(*ANSWERED, "reliability"),
        title="How do models lean as persons of each culture?",
        about="Mean lean of each condition on each axis, by choices and by reasons, beside the country's score.",
        drawings=(
            HOME.drawing(
                "cultural_profiles",
                "profiles",
                alt="Of {model}, a panel for each axis with a row for each condition: mean lean by choices and by "
                "reasons, and the country's score. The table holds the same numbers.",
                caption="{model}: leans by choices and by reasons.",
                by=("model",),
                some="profiles.n_scenarios",
            ),
        ),
        captions={"profiles": "Leans, and what each condition moves beside the placebo."},
        caution="Scores of countries describe countries: what holds of them holds of no person (ecological fallacy).",
    ),
    "alignment": HOME.analysis(
        "measures.alignment:derive_alignment",
        "alignment_line",
        needs=(*ANSWERED, "reliability", "scenarios"),
        title="Do cultures differ as their countries do, and which are told apart?",
        about="Agreement with country scores beside its null, slopes, and which cultures are told apart.",
        drawings=(
            HOME.drawing(
                "agreement_null",
                "agreement",
                alt="A row for each model and readout: correlation with country scores and what exchanged cultures "
                "give. The table holds the same numbers.",
                caption="Agreement with country scores, beside its null.",
                some="agreement.n_scenarios",
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
            "verdicts": "What they amount to: both corrected forms have to reject.",
            "flattening": "By how much leans move with country scores, and how much of the variance lies between "
            "cultures; among people it is some 20 % of the variance of values.",
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
            HOME.drawing(
                "shift_excess",
                "shifts",
                alt="A row for each condition with a dot for each model: total variation of ticked values to the "
                "placebo, less its mean by chance. The table holds the same numbers.",
                caption="Which personas move the values that are ticked?",
                some="shifts.n_scenarios",
            ),
            HOME.drawing(
                "nearest_persona",
                "nearest_persona",
                alt="A shade for each model, readout and culture: how often its persona is the nearest. The table "
                "holds the same numbers.",
                caption="Which of its own personas is a model nearest to when it has none?",
                some="nearest_persona.n_scenarios",
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
            HOME.drawing(
                "say_do",
                "gaps",
                alt="A panel for each form and measure, with a row for each axis and a dot for each model: what is "
                "written less what is chosen. The table holds the same numbers.",
                caption="Do models write what they choose?",
                some="gaps.n_scenarios",
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
        about="Whether a persona is told from one from nowhere by its reasons, and by which words.",
        captions={
            "caricature": "Share of pairs of reasons to the same dilemma that are told apart, countries masked; p "
            "corrected.",
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
            HOME.drawing(
                "error_heatmap",
                "errors",
                alt="A shade for each culture and axis: mean error of the published score, and in rows of their own "
                "that of zeros. The table holds the same numbers.",
                caption="As published: error by culture and axis, with rows for a score of zero.",
            ),
            HOME.drawing(
                "seed_figure",
                "figures",
                alt="A row for each point of the published figure '{figure}', with a dot for each model and a bar for "
                "its null. The table holds the same numbers.",
                caption="As published: {figure}.",
                by=("figure",),
            ),
        ),
        captions={
            "measures": "As published, beside a score of zero, the mean target of the other cultures, and exchanged "
            "targets.",
            "errors": "As published: mean error of the score by culture and axis, beside that of a score of zero.",
            "figures": "Every point of the published figures, with its null.",
        },
        caution="All figures of this section are computed as worldWiseAI (kabiwabi/worldWiseAI) published them, with "
        "their faults; none of the other sections rests on them.",
    ),
    "recovery": HOME.analysis(
        "plants.recovery:derive_recovery",
        "recovery_line",
        needs=ANSWERED,
        title="Does the instrument work?",
        about="What was planted in models that are trained here, beside what comes back of choices and reasons.",
        captions={
            "measures": "What was planted, found again: each measure and its bounds. Of what is drawn, errors may be "
            "larger by what drawing alone brings."
        },
        caution="Small models were trained here to choose and to write as was made up beforehand, and were then asked "
        "like any other. What should come back was computed from what was planted.",
    ),
}
"""By asset."""
WRITTEN_ALONE = ("say_do_gap", "stereotyping", "seed_scores", "recovery")
"""Those that are of reasons alone."""


def analyses_of(study: Study) -> dict[str, Analysis]:
    """The analyses of a study; of one that asks for no reasons those that choices suffice for."""
    if Worldwise.of(study).has_reasons:
        return {name: each for name, each in ANALYSES.items() if name != "recovery" or study.has_reference_models}
    return {
        name: replace(each, needs=tuple(need for need in each.needs if need not in OF_REASONS))
        for name, each in ANALYSES.items()
        if name not in WRITTEN_ALONE
    }
