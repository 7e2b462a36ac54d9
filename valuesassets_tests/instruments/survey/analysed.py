"""One question's answers on the analysis scale, one by one: what arrays of them are compared with."""

from valuesassets.instruments.survey.material.analysis_scale import analysis_value
from valuesassets.measure.distances import distribution


def on_analysis_scale(question_id, values, probs):
    """An answer distribution with its codes in the order of what they mean."""
    return distribution([analysis_value(question_id, value) for value in values], list(probs))
