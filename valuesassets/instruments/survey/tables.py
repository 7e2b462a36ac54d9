"""Tables that the survey alone writes: the map, the answers, and the simulations that test the analyses."""

from valuesassets.records.columns import code, count, flag, number, text, with_ends
from valuesassets.records.tables import TABLES, TESTS, declare_table

SIMULATION = text("kind", "kind of simulation: planted, null or scale_artifact")
QUESTION = text("question", "the question in the language it was asked in")
POINTS = declare_table(
    "survey/cultural_map/points",
    "a point on the map",
    text("kind", "model, human, pooled_human, published, or content_free (answers without content)"),
    "label model? language? country? zone?",
    number("x", "survival to self-expression"),
    number("y", "traditional to secular-rational"),
    "x_low x_high y_low y_high residual_sd_x residual_sd_y margin_x margin_y n_views? n_indicators missing drawn",
    "distance_from_content_free distance_low distance_high nearest_content_free? is_distinguishable? source note?",
    "draws_sd_x draws_sd_y",
    where_used=["draws_sd_x", "draws_sd_y"],
)
ANSWERS_BY_OPTION = declare_table(
    "survey/question_answers/options",
    "an option of a question in a cell; where the answer cannot be used, with the reason in place of numbers",
    "question_id",
    QUESTION,
    "model language response_type response_value?",
    text("option?", "the words of the answer"),
    "prob? prob_forward? prob_reversed? p_valid? reason?",
    code("sheet", "number of the figure that the question stands in"),
)
ANSWERED = declare_table(
    "survey/question_answers/answers",
    "a question in a cell",
    "question_id",
    QUESTION,
    "model language response_type",
    text("option?", "the likeliest answer"),
    "prob?",
    text("likeliest_forward?", "the likeliest answer, options as printed"),
    text("likeliest_reversed?", "the likeliest answer, options reversed"),
    number("mean_code", "mean answer in codes of the question's scale"),
    "p_valid? reason?",
)
for name, shared in (("comparison", TABLES["calibration"]), ("controls", TABLES["negative_controls"])):
    declare_table(f"survey/self_calibration/{name}", shared.row, *shared.columns, where_used=[*shared.where_used])
declare_table(
    "survey/cultural_map/projector",
    "an indicator, and a last row of intercepts",
    "indicator slope_x slope_y published_slope_x published_slope_y loading_x loading_y",
    number("mean", "mean of the indicator among people"),
    "sd",
)
declare_table(
    "survey/cultural_map/sensitivity",
    "a point without one of its indicators",
    "kind model? language? country? indicator x y shift_x shift_y shift",
)
declare_table(
    "survey/cultural_map/tests",
    "a test of people or of a family",
    TESTS,
    "model? note? p_free? p_related?",
    added_later=["p_free", "p_related"],
)
declare_table(
    "survey/simulated_worlds/coverage",
    "a kind of interval",
    "interval coverage monte_carlo_se nominal n_worlds n_intervals n_without bias mean_width",
)
declare_table(
    "survey/simulated_worlds/rejections",
    "a family of tests in a kind of simulation",
    SIMULATION,
    "test_family any_rejected monte_carlo_se rejected_uncorrected p_uniform alpha n_worlds n_tests",
)
declare_table("survey/simulated_worlds/verdicts", "a verdict in a kind of world", "of", SIMULATION, "verdict? n share")
declare_table(
    "survey/simulated_worlds/errors",
    "a measure in a kind of simulation",
    SIMULATION,
    text("measure", "w1_error: between read and planted; or a kind of correlation"),
    number("mean!", "mean over simulations"),
    "std size",
)
declare_table("survey/simulated_worlds/p_values", "a p-value of a world", SIMULATION, "seed test_family p")
SHIFT = (
    text("shift", "name of the comparison in the study file"),
    text("language", "ISO 639-3; all: changes averaged over languages"),
)
TOWARD = text("toward", "the country whose direction the row is about, ISO 3166 alpha-2")
SLOPE = with_ends(number("slope", "change along what sets the country apart: 0 for no move, 1 for all of the way"))
TOWARD_UNIT = number("toward_unit", "slope times the mean size of what sets the country apart", "scale units")
SHIFT_TABLES = {
    "shifts": declare_table(
        "survey/shift/shifts",
        "a shift towards a country",
        *SHIFT,
        TOWARD,
        *SLOPE,
        TOWARD_UNIT,
        number("slope_raw", "the slope with response style left in"),
        "p p_corrected",
        number("position_before", "where the model stands before: 0 at the other countries, 1 at this one"),
        number("position_after", "where it stands after"),
        number("smallest_unit", "smallest mean move that such a study finds in four of five cases", "scale units"),
        number("effective_batteries", "how many batteries carry the slope"),
        number("n_items", "questions that models and people share"),
        "reason?",
    ),
    "verdicts": declare_table(
        "survey/shift/verdicts",
        "a shift and a country",
        SHIFT[0],
        TOWARD,
        "verdict? reason?",
    ),
    "moved": declare_table(
        "survey/shift/moved",
        "a shift",
        *SHIFT,
        number("repeated_sd_unit", "standard deviation, over questions, of the change that repeats", "scale units"),
        "p",
        flag("is_identical", "whether all readings are the same before and after"),
        number("mean_change_unit", "mean change of all questions", "scale units"),
        number("entropy_change_bits", "change of the mean entropy of answers", "bits"),
        number("n_items", "questions read before and after"),
        count("n_wordings", "wordings of each question"),
        "note?",
    ),
    "questions": declare_table(
        "survey/shift/questions",
        "a question",
        *SHIFT,
        TOWARD,
        "question_id",
        text("battery", "what its battery shares, or the question itself"),
        number("direction_unit", "the country's mean answer less the mean of the others'", "scale units"),
        number("change_unit", "mean answer after less before", "scale units"),
    ),
    "countries": declare_table(
        "survey/shift/countries",
        "a country that the model may have moved towards",
        *SHIFT,
        "country",
        *SLOPE,
        TOWARD_UNIT,
        "p",
        number(
            "distance_change_unit", "change of the mean distance between mean answers; below 0: nearer", "scale units"
        ),
    ),
    "map": declare_table(
        "survey/shift/map",
        "a move on the map",
        *SHIFT,
        TOWARD,
        number("distance_change", "change of the distance to the country; below 0: nearer"),
        number("toward_map", "part of the move along the line from the mean of the others to the country"),
    ),
}
"""The tables of `survey/shift`, by name."""
