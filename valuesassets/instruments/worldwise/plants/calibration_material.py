"""Trials and planted answers for the calibration of a reference model, and the tables of its replies."""

from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.answers.reference_models import planted_text_rows
from valuesassets.instruments.worldwise.answers.choices import derive_choices
from valuesassets.instruments.worldwise.answers.model_answers import ModelAnswers
from valuesassets.instruments.worldwise.answers.reasons import derive_reasons, reply_of
from valuesassets.instruments.worldwise.answers.vectors import lexical_vectors
from valuesassets.instruments.worldwise.material.cultures import Persona, persona_code
from valuesassets.instruments.worldwise.material.exemplars import read_exemplars
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.material.value_names import read_value_names
from valuesassets.instruments.worldwise.measures.axes import derive_axes
from valuesassets.instruments.worldwise.measures.projections import derive_projections
from valuesassets.instruments.worldwise.measures.reason_vectors import derive_reason_vectors, reason_texts
from valuesassets.instruments.worldwise.plants.plants import plant_choices, planted_reason_rows
from valuesassets.instruments.worldwise.tables import CHOICES
from valuesassets.instruments.worldwise.trials.reason_trials import requests_of, write_reason_trials
from valuesassets.instruments.worldwise.trials.trials import write_trials
from valuesassets.records.bundled import BUNDLED
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.worldwise import LEXICAL, Worldwise
from valuesassets.records.study import Study
from valuesassets.records.trials import Answer, Reading, Record, Trial

MAX_TOKENS = 80
"""Most tokens of an answer; planted ones have about thirty."""


@dataclass(frozen=True)
class CalibrationMaterial:
    """Trials of a calibration, and the answers that a model is trained to give.

    Attributes:
        choices, reasons: trials as each culture and control.
        texts: probabilities of answers by prompt.
        values: the values that an answer may tick.
    """

    choices: list[Trial]
    reasons: list[Trial]
    texts: dict[str, dict[str, float]]
    values: list[str]


def plant_material(
    study: Study, family: str, scenarios: Sequence[Scenario], personas: Sequence[Persona], draws: int
) -> CalibrationMaterial:
    """Trials on dilemmas, and the answers that a family of the study plants; `draws` answers per request and order."""
    values = list(read_value_names()["value"])
    readout = Generate(max_tokens=MAX_TOKENS, samples=draws, seed=study.seed)
    material = CalibrationMaterial([], [], {}, values)
    for persona in personas:
        code = persona_code(persona)
        trials = write_trials(scenarios, [persona], seed=study.seed)
        requests = write_reason_trials(scenarios, [persona], values, readout, seed=study.seed)
        planted = planted_text_rows(trials, plant_choices(study, family, code, trials))
        for row in (*planted, *planted_reason_rows(study, family, code, requests)):
            material.texts.setdefault(str(row["prompt"]), {})[str(row["answer_text"])] = float(str(row["prob"]))
        material.choices.extend(trials)
        material.reasons.extend(requests)
    return material


def derive_model_answers(
    study: Study, family: str, scenarios: Sequence[Scenario], material: CalibrationMaterial, records: Sequence[Record]
) -> ModelAnswers:
    """Choices, reasons and their positions on the axes of the bundled exemplars, by a bag of words."""
    readings = [record for record in records if isinstance(record, Reading)]
    answers = [record for record in records if isinstance(record, Answer)]
    requests = requests_of(material.reasons, scenarios, material.values, study.seed)
    choices = CHOICES.frame(derive_choices(scenarios, material.choices, readings, family, family))
    reasons = derive_reasons((requests[answer.trial_id], reply_of(answer)) for answer in answers)
    names = [name for culture in Worldwise.of(study).cultures.values() for name in culture.names]
    exemplars = read_exemplars(BUNDLED)
    axes = derive_axes(exemplars, lexical_vectors(list(exemplars["text"])), LEXICAL, seed=study.seed)
    texts = reason_texts(reasons, scenarios, names)
    vectors = derive_reason_vectors(texts, lexical_vectors(texts.pieces))
    projections = derive_projections(vectors, vectors, axes["vectors"], axes["validity"])
    return ModelAnswers(choices, reasons, projections)
