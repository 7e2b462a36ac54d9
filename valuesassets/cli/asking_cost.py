"""What it comes to when a study asks models behind APIs: requests, tokens and money, before any is sent."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from valuesassets.cli.instruments import attribute_of, commands_of, instruments_of
from valuesassets.records.places import storage_root
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.study import Family, Study
from valuesassets.records.trials import Trial


def print_costs(study: Study, name: str) -> None:
    """Print what the prompts of each instrument come to for each model behind an API, or how they get written.

    Args:
        name: of the study, or its path, as it was given.
    """
    remote = {label: family for label, family in study.families.items() if family.endpoint is not None}
    for instrument in instruments_of(study) if remote else ():
        study_prompts = getattr(commands_of(instrument), "study_prompts", None)
        for label, family in remote.items():
            prompts = study_prompts(study) if study_prompts else _stored(study, instrument, family)
            lines = list(_lines(study, label, prompts))
            for line in lines or [_how_prompts_are_written(instrument, name)]:
                print(f"{instrument} asks {label}: {line}")


def _how_prompts_are_written(instrument: str, name: str) -> str:
    """The command that writes an instrument's prompts, whose costs are not known before."""
    groups = " ".join(f"--only {group}" for group in attribute_of(instrument, "PROMPT_GROUPS", ()))
    command = f"valuesassets run {shlex.quote(name)} {groups}"
    return f"the costs are known once its prompts are written, which asks nothing: {command}"


def _lines(study: Study, label: str, prompts: Iterable[Sequence[Trial]]) -> Iterator[str]:
    """One line for each model of a family that is asked something, its preflight included."""
    from valuesassets.remote.asking import RemoteAsking
    from valuesassets.remote.cost import Usage

    family, languages = study.families[label], study.family_languages(label)
    assert family.endpoint is not None  # noqa: S101
    by_model: dict[str, list[RemoteAsking]] = {}
    listed = [trials for trials in prompts if trials and trials[0].language in languages]
    for trials in [*listed, *_preflights(study, listed)]:
        model = str(family.model_id).format(lang=trials[0].language)
        by_model.setdefault(model, []).append(RemoteAsking(model, family.endpoint, family.prompting, trials))
    for model, askings in by_model.items():
        planned = [asking.planned() for asking in askings]
        about, most = (sum((each[which] for each in planned), Usage()) for which in (0, 1))
        n_answers = sum(len(asking.entries) for asking in askings)
        yield f"{n_answers:,} answers of {model}, {askings[0].describe(about, most)}"


def _preflights(study: Study, listed: Sequence[Sequence[Trial]]) -> Iterator[list[Trial]]:
    """The trials that are asked before a grid, apart from it: some questions of each part."""
    from valuesassets.answers.preflight import choose_preflight_trials

    for trials in listed:
        if isinstance(trials[0].readout, ScoreLabels):
            yield choose_preflight_trials(trials, study.preflight.questions, {})


def _stored(study: Study, instrument: str, family: Family) -> Iterator[list[Trial]]:
    """The prompts of an instrument that were written before."""
    from valuesassets.records.parquet import read_trials

    folder = storage_root() / study.name / instrument
    noun = "chat_trials" if family.prompting.is_chat and (folder / "chat_trials").is_dir() else "trials"
    for path in sorted((folder / noun).glob("*.parquet")):
        yield read_trials(path)
