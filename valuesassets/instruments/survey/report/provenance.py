"""From a point of the map down to the page: its indicators, their items, the prompts, readings and printed questions.

Nothing is computed anew but the means, from the answers that are stored; each link is looked at, and one that does not
hold says so in `problems`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.instruments.survey.answers.stored_survey import StoredSurvey
from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.material.forms.overrides import fingerprint
from valuesassets.instruments.survey.material.indicators import INDICATORS, answer_codes, components, indicator_mean
from valuesassets.instruments.survey.published.axes import indicator_ranges
from valuesassets.instruments.survey.report.traces import (
    Answer,
    FormTrace,
    IndicatorTrace,
    ItemTrace,
    ModelTrace,
    PointTrace,
    ProbeTrace,
    PromptTrace,
)
from valuesassets.instruments.survey.trials.shown_prompts import frame_of
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.files import no_such_name, sha256_file
from valuesassets.records.frames import records, rows_where
from valuesassets.records.questions import Question
from valuesassets.records.trials import Reading, Trial

SAME = 1e-9
"""Probabilities that differ by more were not computed from each other."""


def trace_point(storage_folder: Path, model: str, language: str) -> PointTrace:
    """What a model's point on the map rests on, down to the pages of the form; the folder is `<storage>/<study>`.

    Raises:
        InputError: the point is no model.
        StorageError: a file is not there or cannot be read; names the asset to materialise.
    """
    return trace_stored(StoredSurvey(storage_folder), model, language)


def trace_item(storage_folder: Path, model: str, language: str, question_id: str) -> ItemTrace:
    """The same of a single question, whether or not the map uses it.

    Raises:
        InputError: it was not asked in this language; names one like it.
        InputError, StorageError: as `trace_point`.
    """
    stored = StoredSurvey(storage_folder)
    stored.require_cell(model, language)
    asked = stored.trials(language)
    if question_id not in asked:
        if parts := [known for known in asked if base_id(known) == question_id]:
            raise InputError(f"{question_id}: asked as {', '.join(parts)} in {language}; name one of these")
        raise InputError(no_such_name(question_id, f"question among those asked in {language}", asked))
    return _item(stored, model, language, question_id)


def trace_stored(stored: StoredSurvey, model: str, language: str) -> PointTrace:
    """`trace_point` in a storage of which parts have been read."""
    stored.require_cell(model, language)
    indicators = tuple(_indicator(stored, model, language, code) for code in INDICATORS)
    place, problems = _place(stored, model, language)
    form = trace_form(stored, language)
    asked = {trial.trial_id for trials in stored.trials(language).values() for trial in trials}
    stale = sorted(each for each in stored.readings(model, language).keys() - asked if each.count("/") == 2)
    if stale:
        problems.append(
            f"{len(stale)} readings answer trials that are no longer asked (first: {stale[0]}); materialise "
            f"readings/{model}/{language} again"
        )
    problems += [problem for each in indicators for item in each.items for problem in item.problems]
    if form.problem:
        problems.append(form.problem)
    identity = _identity(stored, model, language)
    return PointTrace(model, language, place, identity, form, indicators, tuple(dict.fromkeys(problems)))


def trace_form(stored: StoredSurvey, language: str) -> FormTrace:
    """A language's PDF, if it is still the one that the questions were read from."""
    pdf = stored.pdf(language)
    sha256, source, again = pdf["sha256"], pdf["source"], f"materialise questionnaire_pdf/{language}"
    beside = stored.path("questionnaire_pdf", language, "pdf")
    path = beside if beside.is_file() or pdf["path"] is None else Path(pdf["path"])
    problem = None
    if pdf["path"] is None:
        problem = f"{source}: there is no page to show"
    elif not path.is_file():
        problem = f"{path}: the PDF is gone, no page can be shown; {again} again"
    elif (found := sha256_file(path)) != sha256:
        problem = (
            f"{path}: the PDF has changed since its questions were read (sha256 {found[:12]}, it was {sha256[:12]}), "
            f"no page is shown; {again} and what follows from it again"
        )
    return FormTrace(language, source, None if problem else path, sha256, problem)


def _place(stored: StoredSurvey, model: str, language: str) -> tuple[Mapping[str, Any], list[str]]:
    try:
        found = records(rows_where(stored.points(), kind="model", model=model, language=language))
    except StorageError as error:
        return {}, [str(error)]
    if not found:
        return {}, [f"{model}/{language} is not on the map; materialise cultural_map again"]
    if pd.isna(found[0]["x"]):
        return {}, [str(found[0]["note"])]
    return found[0], []


def _identity(stored: StoredSurvey, model: str, language: str) -> ModelTrace:
    said, probe = stored.identity(model, language), stored.probe(model, language)
    model_id = str(probe["model_id"].iloc[0]) if len(probe) else model
    revision = said.get("revision", "null")
    commit = None if revision == "null" else revision.strip('"')
    more = ("weights_id", "tokenizer_sha256", "dtype", "scorer_version", "torch")
    template = json.loads(said.get("prompting", "{}")).get("template_sha256")
    told = (said.get(key, "not said") for key in more)
    return ModelTrace(model_id, said.get("model", "not said"), commit, *told, template_sha256=template)


def _shown(stored: StoredSurvey, model: str, language: str, asked: Sequence[Trial]) -> list[str | None]:
    """What the model read of each trial; None where its readings do not tell how its chat template renders them."""
    said = stored.identity(model, language)
    if "prompting" not in said:
        return [trial.prompt for trial in asked]
    has_cue = json.loads(said["prompting"])["answer_prefix"] == "cue"
    every = (trial for trials in stored.trials(language).values() for trial in trials)
    frame = frame_of(said.get("first_prompt", ""), every, has_cue)
    return [frame and frame.around(trial) for trial in asked]


def _indicator(stored: StoredSurvey, model: str, language: str, code: str) -> IndicatorTrace:
    items = tuple(_item(stored, model, language, asked) for asked in components(code))
    answers = {item.question_id: item.probs for item in items}
    lacking = [
        f"{item.question_id}: {item.reason or 'its answers are not those that the indicator counts'}"
        for item in items
        if sorted(answers[item.question_id]) != list(answer_codes(item.question_id))
    ]
    low, high = (float(indicator_ranges().loc[code, end]) for end in ("low", "high"))  # type: ignore[arg-type]
    name = next((known.name for known in load_variables().indicators if known.code == code), code)
    mean = None if lacking else indicator_mean(code, answers)
    return IndicatorTrace(code, name, mean, low, high, "; ".join(lacking) or None, items)


def _item(stored: StoredSurvey, model: str, language: str, question_id: str) -> ItemTrace:
    variable = base_id(question_id)
    aligned = stored.aligned(language).get(variable)
    extracted, problems = _extracted(stored, language, variable, aligned)
    asked = stored.trials(language).get(question_id, [])
    readings = stored.readings(model, language)
    shown = zip(asked, _shown(stored, model, language, asked), strict=True)
    prompts = tuple(_prompt(trial, readings.get(trial.trial_id), text, model) for trial, text in shown)
    probe = rows_where(stored.probe(model, language), question_id=question_id)
    labels = {option.value: option.label for option in aligned.options} if aligned else {}
    probes = tuple(_probe(part, labels) for _, part in probe.groupby("wording", sort=True))
    problems += [prompt.problem for prompt in prompts if prompt.problem]
    problems += _unfollowed(prompts, probes, model, language)
    if not asked or probe.empty:
        probes, standing = (), "not asked"
        unfit = (aligned.model_extra or {}).get("unfit") if aligned else None
        lacking = stored.matches(language).get(variable, {}).get("evidence") if aligned is None else None
        reason = str(unfit or lacking or "no trial asks it")
        if asked:
            reason = f"materialise probe_distributions/{model}/{language} again: it has no row of it"
    else:
        rows = records(rows_where(stored.quality("readings"), model=model, language=language, question_id=question_id))
        known = rows[0] if rows else {"standing": "unknown", "reason": "materialise quality_report"}
        standing = str(known["standing"])
        reason = None if pd.isna(known["reason"]) else f"{standing}: {known['reason']}"
    return ItemTrace(question_id, standing, reason, probes, prompts, aligned, extracted, tuple(problems))


def _prompt(trial: Trial, reading: Reading | None, shown: str | None, model: str) -> PromptTrace:
    again = f"materialise readings/{model}/{trial.language} again"
    if reading is None:
        written = f"{trial.trial_id}: no reading of it; its trial was written since, {again}"
        return PromptTrace(trial, None, shown, written)
    if reading.label_probs is not None and len(reading.label_probs) != len(trial.labels):
        found = f"{len(reading.label_probs)} answers were read, {len(trial.labels)} are asked for"
        return PromptTrace(trial, None, shown, f"{trial.trial_id}: {found}; {again}")
    unknown = f"{trial.trial_id}: its readings do not show how the chat template renders it; {again}"
    return PromptTrace(trial, reading, shown, unknown if shown is None else None)


def _probe(part: pd.DataFrame, labels: Mapping[int, str]) -> ProbeTrace:
    found = records(part.astype(object).where(part.notna(), None))
    probs = ("prob_averaged", "prob_forward", "prob_reversed")
    coded = ((int(row["response_value"]), row) for row in found)
    answers = tuple(Answer(code, labels.get(code, ""), *(row[name] for name in probs)) for code, row in coded)
    said = (found[0][name] for name in ("p_valid", "position_bias_magnitude", "status", "reason"))
    return ProbeTrace(int(found[0]["wording"]), answers, *said)


def _unfollowed(prompts: Sequence[PromptTrace], probes: Sequence[ProbeTrace], model: str, language: str) -> list[str]:
    """Answers of the probe that are not those of the readings, brought to the scale: one of the two was made again."""
    stored = {probe.wording: {answer.value: answer for answer in probe.answers} for probe in probes}
    found = []
    for each in prompts:
        trial, reading = each.trial, each.reading
        answers = stored.get(trial.wording, {})
        if trial.order not in ("forward", "reversed") or reading is None or not reading.p_valid or not answers:
            continue
        for value, prob in zip(trial.values, reading.label_probs or (), strict=True):
            said = getattr(answers[value], f"prob_{trial.order}") if value in answers else None
            if said is not None and abs(said - prob / sum(reading.label_probs or ())) > SAME:
                found.append(
                    f"{trial.trial_id}: the answer distribution does not follow from the reading; materialise "
                    f"probe_distributions/{model}/{language} again"
                )
                break
    return found


def _extracted(
    stored: StoredSurvey, language: str, variable: str, aligned: Question | None
) -> tuple[tuple[Question, ...], list[str]]:
    """The records of the form that a question was made of, those merged into it behind the first."""
    match = stored.matches(language).get(variable)
    if aligned is None or match is None or not match["position"]:
        return (), []
    listed = stored.extracted(language)
    position = int(float(match["position"]))
    merged = [place for place in (aligned.model_extra or {}).get("merged_from", []) if place != position]
    if position >= len(listed) or fingerprint(listed[position]) != match["mark"]:
        again = f"materialise aligned_questions/{language} again"
        return (), [f"{variable}: the extraction has changed since the questions were aligned; {again}"]
    return tuple(listed[place] for place in (position, *merged) if place < len(listed)), []
