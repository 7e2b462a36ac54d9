"""Tables that the survey alone writes: the map, and the worlds that try the analyses."""

import pyarrow as pa

from valuesassets.records.columns import Column
from valuesassets.records.table import Table
from valuesassets.records.tables import TABLES, TESTS, declare_tables

WORLD = Column("kind", pa.string(), "kind of world: planted, null or scale_artifact")
POINTS = Table(
    "survey/cultural_map/points",
    "a point on the map",
    Column("kind", pa.string(), "model, human, pooled_human, published, or content_free (answers without content)"),
    "label model? language? country? zone?",
    Column("x", pa.float64(), "survival to self-expression", may_be_empty=True),
    Column("y", pa.float64(), "traditional to secular-rational", may_be_empty=True),
    "x_low x_high y_low y_high residual_sd_x residual_sd_y margin_x margin_y n_views? n_indicators missing drawn",
    "distance_from_content_free distance_low distance_high nearest_content_free? is_distinguishable? source note?",
)
_ASKED = (
    "question_id",
    Column("question", pa.string(), "the question in the language it was asked in"),
    "model language response_type",
)
ANSWERS_BY_OPTION = Table(
    "survey/question_answers/options",
    "an option of a question in a cell; where the answer cannot be used, with the reason in place of numbers",
    *_ASKED,
    "response_value?",
    Column("option", pa.string(), "the words of the answer", may_be_empty=True),
    "prob? prob_forward? prob_reversed? p_valid? reason?",
    Column("sheet", pa.int64(), "number of the figure that the question stands in"),
)
ANSWERED = Table(
    "survey/question_answers/answers",
    "a question in a cell",
    *_ASKED,
    Column("option", pa.string(), "the likeliest answer", may_be_empty=True),
    "prob?",
    Column("likeliest_forward", pa.string(), "the likeliest answer, options as printed", may_be_empty=True),
    Column("likeliest_reversed", pa.string(), "the likeliest answer, options reversed", may_be_empty=True),
    Column("mean_code", pa.float64(), "mean answer in codes of the question's scale", may_be_empty=True),
    "p_valid? reason?",
)
declare_tables(
    POINTS,
    ANSWERS_BY_OPTION,
    ANSWERED,
    Table("survey/self_calibration/comparison", TABLES["calibration"].row, *TABLES["calibration"].columns),
    Table("survey/self_calibration/controls", TABLES["negative_controls"].row, *TABLES["negative_controls"].columns),
    Table(
        "survey/cultural_map/projector",
        "an indicator, and a last row of intercepts",
        "indicator slope_x slope_y published_slope_x published_slope_y loading_x loading_y",
        Column("mean", pa.float64(), "mean of the indicator among people", may_be_empty=True),
        "sd",
    ),
    Table(
        "survey/cultural_map/sensitivity",
        "a point without one of its indicators",
        "kind model? language? country? indicator x y shift_x shift_y shift",
    ),
    Table(
        "survey/cultural_map/tests",
        "a test of people or of a family",
        TESTS,
        "model? note? p_free? p_related?",
        added_later=["p_free", "p_related"],
    ),
    Table(
        "survey/simulated_worlds/coverage",
        "a kind of interval",
        "interval coverage monte_carlo_se nominal n_worlds n_intervals n_without bias mean_width",
    ),
    Table(
        "survey/simulated_worlds/rejections",
        "a family of tests in a kind of world",
        WORLD,
        "test_family any_rejected monte_carlo_se rejected_uncorrected p_uniform alpha n_worlds n_tests",
    ),
    Table("survey/simulated_worlds/verdicts", "a verdict in a kind of world", "of", WORLD, "verdict? n share"),
    Table(
        "survey/simulated_worlds/errors",
        "a measure in a kind of world",
        WORLD,
        Column("measure", pa.string(), "w1_error: between read and planted; or a kind of correlation"),
        Column("mean", pa.float64(), "mean over worlds"),
        "std size",
    ),
    Table("survey/simulated_worlds/p_values", "a p-value of a world", WORLD, "seed test_family p"),
)
