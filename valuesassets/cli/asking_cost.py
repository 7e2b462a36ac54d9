"""What asking the models of a study that stand behind APIs comes to: requests, tokens and money, before any is sent."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from valuesassets.cli.instruments import NAMES, commands_of, said_of
from valuesassets.records.places import storage_root
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.study import Family, Study
from valuesassets.records.trials import Trial


def print_costs(found: Study, name: str) -> None:
    """Print a line for each instrument and model behind an API: what its prompts come to, or how they get written.

    Args:
        name: of the study, or its path, as it was given.
    """
    elsewhere = {label: family for label, family in found.families.items() if family.endpoint is not None}
    for instrument in asked_instruments(found) if elsewhere else ():
        own = commands_of(instrument)
        for label, family in elsewhere.items():
            asked = own.study_prompts(found) if hasattr(own, "study_prompts") else _stored(found, instrument, family)
            said = list(_lines(found, label, asked))
            for line in said or [_how_prompts_are_written(instrument, name)]:
                print(f"{instrument} asks {label}: {line}")


def _how_prompts_are_written(instrument: str, name: str) -> str:
    """The command that writes an instrument's prompts, whose costs are not known before."""
    groups = " ".join(f"--only {group}" for group in said_of(instrument, "PROMPT_GROUPS", ()))
    command = f"valuesassets run {shlex.quote(name)} {groups}"
    return f"the costs are known once its prompts are written, which asks nothing: {command}"


def asked_instruments(found: Study) -> list[str]:
    """The instruments whose tables stand in a study."""
    tables = found.instrument_tables()
    return [name for name in NAMES if said_of(name, "TABLE", name) in tables]


def _lines(found: Study, label: str, asked: Iterable[Sequence[Trial]]) -> Iterator[str]:
    """One line for each model of a family that is asked something, its preflight included."""
    from valuesassets.remote.asking import RemoteAsking
    from valuesassets.remote.cost import Usage

    family, served = found.families[label], found.family_languages(label)
    assert family.endpoint is not None  # noqa: S101
    of_model: dict[str, list[RemoteAsking]] = {}
    listed = [trials for trials in asked if trials and trials[0].language in served]
    for trials in [*listed, *_preflights(found, listed)]:
        model = str(family.model_id).format(lang=trials[0].language)
        of_model.setdefault(model, []).append(RemoteAsking(model, family.endpoint, family.prompting, trials))
    for model, askings in of_model.items():
        planned = [asking.planned() for asking in askings]
        about, most = (sum((each[which] for each in planned), Usage()) for which in (0, 1))
        n_asked = sum(len(asking.entries) for asking in askings)
        yield f"{n_asked:,} answers of {model}, {askings[0].describe(about, most)}"


def _preflights(found: Study, listed: Sequence[Sequence[Trial]]) -> Iterator[list[Trial]]:
    """What is asked before a grid, apart from it: some questions of each part."""
    from valuesassets.answers.preflight import choose_preflight_trials

    for trials in listed:
        if isinstance(trials[0].readout, ScoreLabels):
            yield choose_preflight_trials(trials, found.preflight.questions, {})


def _stored(found: Study, instrument: str, family: Family) -> Iterator[list[Trial]]:
    """The prompts of an instrument that were written before."""
    from valuesassets.records.parquet import read_trials

    folder = storage_root() / found.name / instrument
    noun = "chat_trials" if family.prompting.is_chat and (folder / "chat_trials").is_dir() else "trials"
    for path in sorted((folder / noun).glob("*.parquet")):
        yield read_trials(path)
