"""The questions by which a page groups the claims of a run."""

CALIBRATION, ANSWERS, SIGNAL, MAP, LANGUAGES, MODELS = QUESTIONS = (
    "Calibration",
    "Use of answers",
    "Signal",
    "Map",
    "Languages and zones",
    "Models and people",
)
"""The questions in the order of the page."""
