"""Traces a point of the map to its indicators, items, prompts, readings and printed questions.

Only the means are computed again, from the stored answers; each link is checked, and `problems` names the broken ones.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.instruments.survey.answers.stored_survey import StoredSurvey
from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.material.forms.overrides import fingerprint
from valuesassets.instruments.survey.material.indicators import INDICATORS, answer_codes, components, indicator_mean
from valuesassets.instruments.survey.published.axes import indicator_ranges
from valuesassets.instruments.survey.report import traces
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.files import no_such_name, sha256_file
from valuesassets.records.frames import records, rows_where
from valuesassets.records.questions import Question
from valuesassets.records.trials import Reading, Trial

SAME = 1e-9  # largest difference of probabilities that were computed from each other


def trace_point(storage_folder: Path, model: str, language: str) -> traces.PointTrace:
    """The trace of a model's point on the map; the folder is `<storage>/<study>`.

    Raises:
        InputError: the point is no model.
        StorageError: a file is missing or cannot be read; names the asset to materialise.
    """
    return trace_stored(StoredSurvey(storage_folder), model, language)


def trace_item(storage_folder: Path, model: str, language: str, question_id: str) -> traces.ItemTrace:
    """The trace of a single question, also outside the map.

    Raises:
        InputError: it was not asked in this language; names a similar one.
        InputError, StorageError: as `trace_point`.
    """
    stored = StoredSurvey(storage_folder)
    stored.require_cell(model, language)
    trials = stored.trials(language)
    if question_id not in trials:
        if parts := [asked_id for asked_id in trials if base_id(asked_id) == question_id]:
            raise InputError(f"{question_id}: asked as {', '.join(parts)} in {language}; name one of these")
        raise InputError(no_such_name(question_id, f"question among those asked in {language}", trials))
    return _item(stored, model, language, question_id)


def trace_stored(stored: StoredSurvey, model: str, language: str) -> traces.PointTrace:
    """The same as `trace_point` for an open storage."""
    stored.require_cell(model, language)
    indicators = tuple(_indicator(stored, model, language, code) for code in INDICATORS)
    place, problems = _place(stored, model, language)
    form = trace_form(stored, language)
    trial_ids = {trial.trial_id for trials in stored.trials(language).values() for trial in trials}
    stale = sorted(each for each in stored.readings(model, language).keys() - trial_ids if each.count("/") == 2)
    if stale:
        problems.append(
            f"{len(stale)} readings answer trials that are no longer asked (first: {stale[0]}); materialise "
            f"readings/{model}/{language} again"
        )
    problems += [problem for each in indicators for item in each.items for problem in item.problems]
    if form.problem:
        problems.append(form.problem)
    identity = _identity(stored, model, language)
    return traces.PointTrace(model, language, place, identity, form, indicators, tuple(dict.fromkeys(problems)))


def trace_form(stored: StoredSurvey, language: str) -> traces.FormTrace:
    """A language's PDF, if its questions were read from the present file."""
    pdf = stored.pdf(language)
    sha256, source, advice = pdf["sha256"], pdf["source"], f"materialise questionnaire_pdf/{language}"
    stored_copy = stored.path("questionnaire_pdf", language, "pdf")
    path = stored_copy if stored_copy.is_file() or pdf["path"] is None else Path(pdf["path"])
    problem = None
    if pdf["path"] is None:
        problem = f"{source}: there is no page to show"
    elif not path.is_file():
        problem = f"{path}: the PDF is gone, no page can be shown; {advice} again"
    elif (present := sha256_file(path)) != sha256:
        problem = (
            f"{path}: the PDF has changed since its questions were read (sha256 {present[:12]}, it was {sha256[:12]}), "
            f"no page is shown; {advice} and what follows from it again"
        )
    return traces.FormTrace(language, source, None if problem else path, sha256, problem)


def _place(stored: StoredSurvey, model: str, language: str) -> tuple[Mapping[str, Any], list[str]]:
    try:
        rows = records(rows_where(stored.points(), kind="model", model=model, language=language))
    except StorageError as error:
        return {}, [str(error)]
    if not rows:
        return {}, [f"{model}/{language} is not on the map; materialise cultural_map again"]
    if pd.isna(rows[0]["x"]):
        return {}, [str(rows[0]["note"])]
    return rows[0], []


def _identity(stored: StoredSurvey, model: str, language: str) -> traces.ModelTrace:
    metadata, probe = stored.identity(model, language), stored.probe(model, language)
    model_id = str(probe["model_id"].iloc[0]) if len(probe) else model
    revision = metadata.get("revision", "null")
    commit = None if revision == "null" else revision.strip('"')
    more = ("weights_id", "tokenizer_sha256", "dtype", "scorer_version", "torch")
    template = json.loads(metadata.get("prompting", "{}")).get("template_sha256")
    facts = (metadata.get(key, "not said") for key in more)
    return traces.ModelTrace(model_id, metadata.get("model", "not said"), commit, *facts, template_sha256=template)


def _rendered_prompts(stored: StoredSurvey, model: str, language: str, of_item: Sequence[Trial]) -> list[str | None]:
    """The text of each trial as the model read it; None if the readings do not show the chat template's rendering."""
    metadata = stored.identity(model, language)
    if "prompting" not in metadata:
        return [trial.prompt for trial in of_item]
    has_cue = json.loads(metadata["prompting"])["answer_prefix"] == "cue"
    all_trials = (trial for trials in stored.trials(language).values() for trial in trials)
    frame = frame_of(metadata.get("first_prompt", ""), all_trials, has_cue)
    return [frame and frame.around(trial) for trial in of_item]


def _indicator(stored: StoredSurvey, model: str, language: str, code: str) -> traces.IndicatorTrace:
    items = tuple(_item(stored, model, language, part) for part in components(code))
    answers = {item.question_id: item.probs for item in items}
    lacking = [
        f"{item.question_id}: {item.reason or 'its answers are not those that the indicator counts'}"
        for item in items
        if sorted(answers[item.question_id]) != list(answer_codes(item.question_id))
    ]
    low, high = (float(indicator_ranges().loc[code, end]) for end in ("low", "high"))  # type: ignore[arg-type]
    name = next((facts.name for facts in load_variables().indicators if facts.code == code), code)
    mean = None if lacking else indicator_mean(code, answers)
    return traces.IndicatorTrace(code, name, mean, low, high, "; ".join(lacking) or None, items)


def _item(stored: StoredSurvey, model: str, language: str, question_id: str) -> traces.ItemTrace:
    variable = base_id(question_id)
    aligned = stored.aligned(language).get(variable)
    extracted, problems = _extracted(stored, language, variable, aligned)
    trials = stored.trials(language).get(question_id, [])
    readings = stored.readings(model, language)
    texts = zip(trials, _rendered_prompts(stored, model, language, trials), strict=True)
    prompts = tuple(_prompt(trial, readings.get(trial.trial_id), text, model) for trial, text in texts)
    probe = rows_where(stored.probe(model, language), question_id=question_id)
    labels = {option.value: option.label for option in aligned.options} if aligned else {}
    probes = tuple(_probe(part, labels) for _, part in probe.groupby("wording", sort=True))
    problems += [prompt.problem for prompt in prompts if prompt.problem]
    problems += _unfollowed(prompts, probes, model, language)
    if not trials or probe.empty:
        probes, standing = (), "not asked"
        unfit = (aligned.model_extra or {}).get("unfit") if aligned else None
        lacking = stored.matches(language).get(variable, {}).get("evidence") if aligned is None else None
        reason = str(unfit or lacking or "no trial asks it")
        if trials:
            reason = f"materialise probe_distributions/{model}/{language} again: it has no row of it"
    else:
        rows = records(rows_where(stored.quality("readings"), model=model, language=language, question_id=question_id))
        quality = rows[0] if rows else {"standing": "unknown", "reason": "materialise quality_report"}
        standing = str(quality["standing"])
        reason = None if pd.isna(quality["reason"]) else f"{standing}: {quality['reason']}"
    return traces.ItemTrace(question_id, standing, reason, probes, prompts, aligned, extracted, tuple(problems))


def _prompt(trial: Trial, reading: Reading | None, text: str | None, model: str) -> traces.PromptTrace:
    advice = f"materialise readings/{model}/{trial.language} again"
    if reading is None:
        written = f"{trial.trial_id}: no reading of it; its trial was written since, {advice}"
        return traces.PromptTrace(trial, None, text, written)
    if reading.label_probs is not None and len(reading.label_probs) != len(trial.labels):
        counts = f"{len(reading.label_probs)} answers were read, {len(trial.labels)} are asked for"
        return traces.PromptTrace(trial, None, text, f"{trial.trial_id}: {counts}; {advice}")
    unknown = f"{trial.trial_id}: its readings do not show how the chat template renders it; {advice}"
    return traces.PromptTrace(trial, reading, text, unknown if text is None else None)


def _probe(part: pd.DataFrame, labels: Mapping[int, str]) -> traces.ProbeTrace:
    rows = records(part.astype(object).where(part.notna(), None))
    probs = ("prob_averaged", "prob_forward", "prob_reversed")
    coded = ((int(row["response_value"]), row) for row in rows)
    answers = tuple(traces.Answer(code, labels.get(code, ""), *(row[name] for name in probs)) for code, row in coded)
    facts = (rows[0][name] for name in ("p_valid", "position_bias_magnitude", "status", "reason"))
    return traces.ProbeTrace(int(rows[0]["wording"]), answers, *facts)


def _unfollowed(
    prompts: Sequence[traces.PromptTrace], probes: Sequence[traces.ProbeTrace], model: str, language: str
) -> list[str]:
    """Problems of probed answers that differ from the readings, since one of the two was made again."""
    stored = {probe.wording: {answer.value: answer for answer in probe.answers} for probe in probes}
    problems = []
    for each in prompts:
        trial, reading = each.trial, each.reading
        answers = stored.get(trial.wording, {})
        if trial.order not in ("forward", "reversed") or reading is None or not reading.p_valid or not answers:
            continue
        for value, prob in zip(trial.values, reading.label_probs or (), strict=True):
            stored_prob = getattr(answers[value], f"prob_{trial.order}") if value in answers else None
            if stored_prob is not None and abs(stored_prob - prob / sum(reading.label_probs or ())) > SAME:
                problems.append(
                    f"{trial.trial_id}: the answer distribution does not follow from the reading; materialise "
                    f"probe_distributions/{model}/{language} again"
                )
                break
    return problems


def _extracted(
    stored: StoredSurvey, language: str, variable: str, aligned: Question | None
) -> tuple[tuple[Question, ...], list[str]]:
    """The records of the form behind a question, merged ones after the first."""
    match = stored.matches(language).get(variable)
    if aligned is None or match is None or not match["position"]:
        return (), []
    listed = stored.extracted(language)
    position = int(float(match["position"]))
    merged = [place for place in (aligned.model_extra or {}).get("merged_from", []) if place != position]
    if position >= len(listed) or fingerprint(listed[position]) != match["mark"]:
        advice = f"materialise aligned_questions/{language} again"
        return (), [f"{variable}: the extraction has changed since the questions were aligned; {advice}"]
    return tuple(listed[place] for place in (position, *merged) if place < len(listed)), []


@dataclass(frozen=True)
class Frame:
    """The text of a chat template around every trial: before the question, after it, and after the cue."""

    before: str
    behind: str
    end: str
    has_cue: bool

    def around(self, trial: Trial) -> str:
        """A trial as the model read it."""
        question, cue = _question_and_cue(trial, self.has_cue)
        return f"{self.before}{question}{self.behind}{cue}{self.end}"


def frame_of(first_prompt: str, trials: Iterable[Trial], has_cue: bool) -> Frame | None:
    """The frame of a rendered prompt of one of the trials, or None; with `has_cue` its last line opens the answer."""
    for trial in trials:
        question, cue = _question_and_cue(trial, has_cue)
        before, match, rest = first_prompt.partition(question)
        place = rest.rfind(cue)
        if match and place >= 0:
            return Frame(before, rest[:place], rest[place + len(cue) :], has_cue)
    return None


def _question_and_cue(trial: Trial, has_cue: bool) -> tuple[str, str]:
    question, _, cue = trial.prompt.rpartition("\n") if has_cue else (trial.prompt, "", "")
    return question.strip(), cue
