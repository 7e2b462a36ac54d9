"""Small questions for tests, and the shape of real ones."""

from typing import Any

from valuesassets.records.questions import Question, parse_questions

LABELS = {2: ["yes", "no"], 3: ["good", "bad", "neither"], 4: ["very", "rather", "hardly", "not at all"]}


def ask(question_id: str, n_options: int = 4, **changes: Any) -> Question:
    """A question with so many labelled options (ten: anchors only)."""
    if n_options == 10:
        options = [{"value": 1, "label": "never"}, {"value": 10, "label": "always"}]
    else:
        labels = LABELS.get(n_options) or [f"label {k}" for k in range(1, n_options + 1)]
        options = [{"value": value, "label": label} for value, label in enumerate(labels, 1)]
    kinds = {2: "binary", 3: "likert3", 4: "likert4", 5: "likert5", 10: "likert10"}
    row = {
        "id": question_id,
        "text": f"What of {question_id}?",
        "response_type": kinds.get(n_options, "categorical"),
        "options": options,
    }
    return parse_questions([row | changes], "test")[0]
