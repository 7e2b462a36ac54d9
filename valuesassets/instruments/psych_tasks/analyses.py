"""The analyses of psych tasks: one entry gives each its asset, figures, line in the UI and section of the report.

The graph loads this file: what computes or draws is named here and imported when it is used.
"""

from valuesassets.reporting.analyses import Home

HOME = Home("valuesassets.instruments.psych_tasks", needs=("answer_distributions",), reads=("inference", "seed"))

ANALYSES = {
    "mark_ledger": HOME.analysis(
        "answers.mark_ledger:derive_mark_ledger",
        "ledger_line",
        "lost_section:lost",
        title="What was lost?",
        about="What became of every mark of every cell; the sums are the opening delimiters of the transcripts.",
        needs=("answer_distributions", "marks"),
        reads=(),
        stored="frame",
        drawings=(
            HOME.drawing(
                "mark_ledger",
                "mark_ledger",
                alt="A bar for each cell: the share of its marks that were not read, by what kept them from it, with "
                "counts beside. The table holds the same numbers.",
                caption="What was lost, and why?",
            ),
            HOME.drawing(
                "multi_token_share",
                "mark_ledger",
                alt="A shade for each model and kind of mark: the share of its candidates that have several tokens.",
                caption="Where may an answer not be read off one token?",
            ),
        ),
    ),
    "keying": HOME.analysis(
        "measures.scale_answers:keying_of_scales",
        "keying_line",
        "report:keying",
        title="Keying: does a scale measure a trait, a label preference, or can it not be told?",
        about="Whether a scale measures what its items say, or which label a model likes.",
        drawings=(
            HOME.drawing(
                "keying_plane",
                "models",
                "scales",
                optional=("scales",),
                alt="A panel for each scale with models as points: across, their mean answer to forward-keyed items, "
                "upward that to reverse-keyed ones, nothing recoded. A falling line is a trait alone, a rising one a "
                "liking for labels alone.",
                caption="Does a scale measure a trait, or which label a model likes?",
            ),
        ),
    ),
    "prediction": HOME.analysis(
        "measures.prediction:derive_prediction",
        "prediction_line",
        "alignment_section:alignment",
        title="Alignment with people: how well are they predicted, and by what?",
        about="How well people's answers are predicted after each history, and what of it is format, style or content.",
        drawings=(
            HOME.drawing(
                "history_ladder",
                "scores",
                "gains",
                optional=("gains",),
                alt="A panel for each task with a line for each model: its log score without a history, after another "
                "person's, after the person's own at the wrong places, and after their own; uniform answers, the crowd "
                "and counting as level lines.",
                caption="What of a person's history helps to predict the answers: the format, the way to use the "
                "scale, or the content?",
            ),
            HOME.drawing(
                "identification_matrix",
                "identification",
                alt="For each model and task the share of pairs in which a person's own history predicts the answers "
                "better than another's does, with its interval, beside .5 by chance.",
                caption="Does a model know whose answers it reads?",
            ),
            HOME.drawing(
                "calibration_curve",
                "quantiles",
                alt="A panel for each task: how often the likeliest answer was given, against the share that a model "
                "gave it; larger marks stand for more answers.",
                caption="Do answers come as often as they are predicted?",
            ),
        ),
    ),
    "reliability": HOME.analysis(
        "measures.scale_answers:reliability_of_scales",
        "scales_line",
        "report:consistency",
        title="Does a model agree with itself?",
        about="Whether scale scores would set models apart alike with other items, presentations and draws.",
        drawings=(
            HOME.drawing(
                "reliability_and_alignment",
                "scales",
                "prediction/scores",
                alt="A point for each scale: across, whether models would be set apart alike with other items; upward, "
                "how well they predict people's answers in its task.",
                caption="Agreeing with oneself and agreeing with people are two things.",
            ),
        ),
    ),
    "published_scores": HOME.analysis(
        "measures.scale_answers:published_scores_of_scales",
        "scales_line",
        "report:published",
        title="The published score, beside what gives it without a trait",
        about="The score that published work takes for a trait, with what gives it without one.",
    ),
    "layout_effect": HOME.analysis(
        "measures.layout_effect:derive_layout_effect",
        "layout_line",
        "report:layouts",
        title="Does the layout change what a model says?",
        about="Whether models say something else where transcripts are laid out in another way.",
    ),
}
"""In the order of the report; the key is the asset's name."""
