"""The questions that the claims of a run are grouped by."""

CALIBRATION, ANSWERS, SIGNAL, MAP, LANGUAGES, MODELS = QUESTIONS = (
    "Calibration",
    "Use of answers",
    "Signal",
    "Map",
    "Languages and zones",
    "Models and people",
)
"""In the order of a page."""
