"""The survey's analyses: one entry gives each its asset, figures, line in the UI and section of the report.

The graph loads this file: what computes or draws is named here and imported when it is used.
"""

from valuesassets.records.study import Study
from valuesassets.reporting.analyses import ANSWERS, LANGUAGES, MAP, MODELS, RESTS_ON, SIGNAL, Analysis, Drawing

TESTS = {"tests": "Its tests, which stand with all the others at the top of the page."}

ANALYSES = {
    "question_answers": Analysis(
        title="Questions and answers",
        question=ANSWERS,
        about="What was asked and what was answered: every question with its options, in both orders, cell by cell.",
        derive="valuesassets.instruments.survey.answers.question_answers:derive_question_answers",
        needs=("usable_answers", "aligned_questions"),
        line="valuesassets.instruments.survey.report.lines:question_answers",
        drawings=(
            Drawing(
                "question_answers",
                ("options",),
                "Each question with a bar for each cell: shares of its options, in both orders too. The table holds "
                "the same numbers.",
                "What was asked and answered, page {sheet}.",
                by=("sheet",),
            ),
        ),
        captions={
            "answers": "Each question in each cell: the likeliest answer, what it is in each order alone, and the mean "
            "of ordered scales.",
            "options": "Every option of every question in every cell.",
        },
        reads=("human", "thresholds"),
    ),
    "reliability": Analysis(
        title="Reliability",
        question=SIGNAL,
        about="How much of what sets a family's languages apart would replicate in other orders and wordings.",
        derive="valuesassets.comparing.reliability:derive_reliability",
        needs=("usable_answers", "people"),
        line="valuesassets.reporting.lines:reliability",
        drawings=(
            Drawing(
                "reliability",
                ("families", "components"),
                "Coefficients of every model family with their intervals and the threshold; under them the shares of "
                "variance by source. The tables hold the same numbers.",
                "Whether the differences between languages replicate in other wordings.",
                has_notes=True,
            ),
        ),
        captions={
            "families": "Coefficients of each family; below the threshold its map and rankings rest on too little.",
            "components": "Where the differences between answers come from: variance in squared scale units and share.",
        }
        | TESTS,
    ),
    "signal": Analysis(
        title="Signal against human answers",
        question=SIGNAL,
        about="Whether a family's languages answer like their own countries, and whether scales or style only fake it.",
        derive="valuesassets.comparing.signal:derive_signal",
        needs=("usable_answers", "people"),
        line="valuesassets.reporting.lines:signal",
        drawings=(
            Drawing(
                "signal",
                ("correlations", "verdicts"),
                "Six correlations of each family with the people of its countries, beside what permuted countries "
                "give. The table holds the same numbers.",
                "Whether languages answer like their own countries: the double-centred correlation decides, where "
                "the two below it agree.",
                has_notes=True,
            ),
        ),
        captions={
            "correlations": "Correlations with people, their intervals over items, and the middle of those under "
            "permuted countries (`level` of them).",
            "verdicts": "What the six correlations of a family amount to.",
        }
        | TESTS,
        decides="valuesassets.comparing.signal:SIGNAL",
        claim="{model}: languages answer like their own countries.",
    ),
    "cultural_map": Analysis(
        title="Cultural map",
        question=MAP,
        about="Models and countries on the Inglehart-Welzel axes, with the points of answers that carry no content.",
        derive="valuesassets.instruments.survey.measures.cultural_map:derive_cultural_map",
        needs=("usable_answers", "people", "respondents", "reliability"),
        line="valuesassets.instruments.survey.report.lines:cultural_map",
        drawings=(Drawing("cultural_map", ("points",)), Drawing("cultural_map_column", ("points",))),
        section="valuesassets.instruments.survey.report.report:map_sections",
        docs="map",
        kinds=("dashboard", "parquet"),
        reads=(*RESTS_ON, "map"),
    ),
    "distances": Analysis(
        title="Distances between cells",
        question=LANGUAGES,
        about="Distances between every two cells, what they go with, and the plane that MDS lays them on.",
        derive="valuesassets.comparing.distances:derive_distances",
        needs=("usable_answers",),
        line="valuesassets.reporting.lines:distances",
        drawings=(
            Drawing(
                "jsd_heatmap",
                ("pairs",),
                "Heat map of the distance between every two cells.",
                "Distance between cells.",
                draw="valuesassets.figures.cell_distances:draw_jsd_heatmap",
            ),
            Drawing(
                "mds_map",
                ("points",),
                "Plane in which cells that answer alike lie close together.",
                "The same distances laid out in a plane.",
                draw="valuesassets.figures.cell_distances:draw_mds_map",
            ),
            Drawing(
                "distance_structure",
                ("groups", "variance_shares"),
                "Distances within groups of languages minus between them, and shares of variance by language and "
                "family beside those by chance. The tables hold the same numbers.",
                "What distances go with: culture zones, regions, language and family.",
                draw="valuesassets.figures.cell_distances:draw_distance_structure",
            ),
            Drawing(
                "nearest_neighbours",
                ("neighbour_counts",),
                "Bars: how many languages of a family are nearest to the same language in another family, and how many "
                "to their own family.",
                "Is a cell nearest to its language or to its family?",
                draw="valuesassets.figures.cell_distances:draw_nearest_neighbours",
            ),
        ),
        captions={
            "groups": "Mean distance within groups of languages, between them, and the difference.",
            "variance_shares": "Shares of variance (PERMANOVA), what chance gives, and the excess.",
            "neighbour_counts": "How many cells are nearest to the same language of another family.",
            "contrasts": "Named contrasts of two pairs of languages.",
            "baselines": "Distances of the cells to answers without content.",
        }
        | TESTS,
        hidden=("pairs", "points", "neighbours"),
    ),
    "human_comparison": Analysis(
        title="Comparison with humans",
        question=MODELS,
        about="How far each cell's answers are from its own country's, beside the null baselines.",
        derive="valuesassets.comparing.human_comparison:derive_human_comparison",
        needs=("usable_answers", "people", "human_means"),
        line="valuesassets.reporting.lines:human_comparison",
        drawings=(
            Drawing(
                "own_country_ranks",
                ("cells", "own_country"),
                "Own-country advantage of every cell with its interval, by family, and the own country's rank among "
                "all.",
                "Are models nearer to their own country than to the others?",
                some="own_country.n_cells",
            ),
            Drawing(
                "example_distributions",
                ("probe_distributions", "human_distributions"),
                "Bar charts of single questions: the model's answers, forward, reversed and averaged, beside human "
                "answers.",
                "Examples of single answers.",
                optional=("human_distributions",),
            ),
        ),
        captions={
            "cells": "Each cell against its own country, with the null answers; distances in their units.",
            "by_response_type": "The same by response type.",
            "own_country": "Mean rank and advantage of the own country, by family, beside what chance gives.",
            "resources": "Languages with much and with little text on the web.",
            "lower_bounds": "|Difference of means| / range, question by question: a lower bound of W1.",
            "lower_bound_cells": "The same lower bounds, averaged by cell.",
        },
        hidden=("questions", "tests"),
        section="valuesassets.reporting.sections:humans_section",
    ),
    "mono_vs_multi": Analysis(
        title="Monolingual against multilingual",
        question=MODELS,
        about="Own-country agreement of the monolingual against the multilingual family, paired by language.",
        derive="valuesassets.comparing.mono_vs_multi:derive_mono_vs_multi",
        needs=("usable_answers", "people"),
        line="valuesassets.reporting.lines:mono_vs_multi",
        drawings=(
            Drawing(
                "mono_vs_multi",
                ("pairs", "summary"),
                "Dots per language: own-country agreement and advantage, distance and entropy of {mono} and {multi}.",
                "{mono} against {multi}, paired by language.",
                optional=("summary",),
                by=("mono", "multi"),
            ),
        ),
        captions={"summary": "Mean differences (mono - multi) with intervals and sign tests."},
        hidden=("pairs", "tests"),
        caution="Size, tokenizer and training data differ between the families together: a difference is not the "
        "effect of being monolingual.",
    ),
    "shift": Analysis(
        title="Before and after",
        question=MODELS,
        about="Whether answers moved between models before and after, and towards the people of which country.",
        derive="valuesassets.instruments.survey.measures.shift:derive_shift",
        needs=("usable_answers", "people", "aligned_questions", "cultural_map"),
        line="valuesassets.instruments.survey.report.lines:shift",
        drawings=(
            Drawing(
                "shift",
                ("shifts", "verdicts"),
                "Where each model stands before and after between the other countries and the named one, and how far "
                "it may move by chance. The table holds the same numbers.",
                "Did answers move along what sets a country apart? Outside the grey band it is no chance.",
            ),
        ),
        captions={
            "shifts": "The move towards each country that the study names, by language and over all.",
            "verdicts": "What the tests amount to.",
            "moved": "Whether the change repeats in other wordings, and what else changed.",
            "countries": "The same slope for every country, and whether the answers are nearer to its people.",
            "map": "The move on the map, which is not tested: it rests on ten questions.",
        }
        | TESTS,
        hidden=("questions",),
        docs="shift",
        reads=(*RESTS_ON, "shift"),
    ),
    "position_bias": Analysis(
        title="Position bias",
        question=ANSWERS,
        about="How far the order of the options moves answers, against how far the language does.",
        derive="valuesassets.comparing.position_bias:derive_position_bias",
        needs=("usable_answers",),
        line="valuesassets.reporting.lines:position_bias",
        drawings=(
            Drawing(
                "position_bias_dist",
                ("probe_distributions",),
                rules=("position_bias",),
                draw="valuesassets.figures.position_bias:draw_position_bias_dist",
            ),
            Drawing(
                "order_effect",
                ("by_response_type",),
                "Spread of expected values between the two orders over that between languages, by response type and "
                "family. The table holds the same numbers.",
                "Does the order of the options move answers more than the language does? Above 1 it does.",
                draw="valuesassets.figures.position_bias:draw_order_effect",
            ),
        ),
        captions={"by_response_type": "Position bias by family and response type, against what sets languages apart."},
        hidden=("cells",),
    ),
    "simulated_worlds": Analysis(
        title="What the analyses find in simulated data",
        about="Whether the analyses recover planted effects in simulated data, and report none where there are none.",
        derive="valuesassets.instruments.survey.measures.simulated_worlds:derive_simulated_worlds",
        needs=(),
        line="valuesassets.instruments.survey.report.lines:simulated_worlds",
        drawings=(
            Drawing(
                "simulated_worlds",
                ("coverage", "rejections", "p_values"),
                "How often intervals hold the truth, how often tests reject where nothing differs, and how p-values "
                "are spread. The tables hold the same numbers.",
                "Simulated data whose truth is known: do intervals hold it as often as they say?",
                has_notes=True,
                draw="valuesassets.figures.simulated_data:draw_simulated_data",
            ),
        ),
        captions={
            "coverage": "How often each kind of interval held the truth, with Monte Carlo error.",
            "rejections": "How often any test of a declared family rejected, corrected as in this study.",
            "verdicts": "Verdicts on families, by kind of simulation.",
            "errors": "Means over simulations.",
        },
        hidden=("p_values",),
    ),
}
"""In the order of the report; the key is the asset's name."""


def analyses_of(study: Study) -> dict[str, Analysis]:
    """The analyses of a study; that of shifts only where the study has some."""
    return {name: each for name, each in ANALYSES.items() if name != "shift" or study.shift}
