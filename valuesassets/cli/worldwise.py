"""The commands of worldwise: trials, choices and reasons of a model, scores of answers, a calibration."""

import contextlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.asking import ask_reference, choose_model, costs_of_draws
from valuesassets.cli.inputs import Seed, TrialsFile, require_file_place, require_folder_place
from valuesassets.cli.options import ModelOptions
from valuesassets.cli.outputs import print_orders, progress_bar, require_trials_place, unread_part, write_trials_file
from valuesassets.records.errors import MissingData
from valuesassets.records.extras import require
from valuesassets.records.places import BUNDLED
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study, load_study
from valuesassets.records.trials import Trial

if TYPE_CHECKING:
    from valuesassets.instruments.worldwise.material.cultures import Persona
    from valuesassets.instruments.worldwise.material.scenarios import Scenario
    from valuesassets.models.loaded_model import LoadedModel
    from valuesassets.records.trials import Trial


ScenariosFile = Annotated[str, typer.Option("--scenarios", help="File of dilemmas (JSON), or: bundled.")]
CulturesFile = Annotated[
    Path | None,
    typer.Option(
        "--cultures",
        readable=False,
        help='Cultures (JSON: {"JPN": {"name", "place", "demonym", "names"}}); only the two controls if left out.',
    ),
]
Wordings = Annotated[
    str, typer.Option("--wordings", help="Wordings of the persona: one or more of 0,1,2 between commas.")
]


def parse_wordings(wordings: str) -> list[int]:
    """The numbers that `--wordings` names."""
    if not re.fullmatch("[0-2](,[0-2])*", wordings) or len(set(wordings.split(","))) < len(wordings.split(",")):
        raise typer.BadParameter(f"--wordings {wordings[:40]}: some of 0,1,2 was expected, each once")
    return [int(number) for number in wordings.split(",")]


def choice_trials(scenarios: str, cultures: Path | None, wordings: str) -> "tuple[Sequence[Scenario], list[Trial]]":
    """Dilemmas, and the trials in which every culture and control chooses; doubts about dilemmas are printed."""
    from valuesassets.instruments.worldwise.trials.trials import write_trials

    numbers = parse_wordings(wordings)
    dilemmas, personas = read_material(scenarios, cultures)
    return dilemmas, write_trials(dilemmas, personas, numbers)


def read_material(scenarios: str, cultures: Path | None) -> "tuple[list[Scenario], list[Persona]]":
    """Dilemmas, and every culture and control; doubts about dilemmas are printed."""
    from valuesassets.instruments.worldwise.material.cultures import asked_personas, read_cultures
    from valuesassets.instruments.worldwise.material.scenarios import find_doubts, read_scenarios

    dilemmas = read_scenarios(scenarios)
    personas = asked_personas(read_cultures(cultures) if cultures is not None else [])
    for doubt in find_doubts(dilemmas):
        print(f"{scenarios}: {doubt.id}: {doubt.what}")
    return list(dilemmas), personas


FAMILY = "reference"
PASSES = 400
"""Most passes of training: more than in the demo, since the dilemmas may be any."""


def calibrate(
    scenarios: ScenariosFile,
    cultures: CulturesFile = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the tables (parquet) and the model; nothing is kept if left out."),
    ] = None,
    draws: Annotated[int, typer.Option(min=2, help="Answers to each request and order.")] = 100,
    steps: Annotated[int, typer.Option(min=1, help="Most passes of training.")] = PASSES,
) -> None:
    """Train a tiny model on known choices and reasons and test whether they are recovered; exit 1 if not."""
    from valuesassets.instruments.worldwise.plants.calibration_material import derive_model_answers, plant_material
    from valuesassets.instruments.worldwise.plants.recovery import planted_rows, recover_model
    from valuesassets.instruments.worldwise.tables import CHOICES, PLACED_REASONS, PLANTED, RECOVERY
    from valuesassets.records.frames import records
    from valuesassets.records.parquet import write_frame

    require("worldwise calibrate", "models")
    if output is not None:
        require_folder_place(output)
    dilemmas, personas = read_material(scenarios, cultures)
    codes = [each if isinstance(each, str) else each.code for each in personas]
    study = calibration_study(scenarios, [each for each in personas if not isinstance(each, str)])
    material = plant_material(study, FAMILY, dilemmas, personas, draws)
    with _folder(output) as folder:
        loaded = _train(material.texts, folder, steps, study.seed)
        replies = ask_reference(FAMILY, loaded, material.choices, "reading choices")
        replies += ask_reference(FAMILY, loaded, material.reasons, "writing reasons")
    answers = derive_model_answers(study, FAMILY, dilemmas, material, replies)
    planted = planted_rows(study, FAMILY, codes, dilemmas)
    recovery = recover_model(FAMILY, planted, answers)
    if output is not None:
        is_own_axis = answers.projections["is_own_axis"].astype(bool)
        positions = answers.projections.loc[is_own_axis, ["trial_id", "draw", "position"]]
        reasons = answers.reasons.merge(positions, on=["trial_id", "draw"], how="left", validate="1:1")
        for name, frame, table in (
            ("planted", planted, PLANTED),
            ("choices", answers.choices, CHOICES),
            ("reasons", reasons, PLACED_REASONS),
            ("recovery", recovery, RECOVERY),
        ):
            write_frame(output / f"{name}.parquet", frame, table)
    for row in records(recovery):
        print(_line(row))
    misses = [row for row in records(recovery) if not row["is_within"]]
    if misses:
        raise MissingData(
            f"{scenarios}: what was planted was not recovered: {'; '.join(map(_line, misses[:3]))}; train longer "
            "(--steps), draw more (--draws), or look at the dilemmas"
        )
    print(f"{scenarios}: what was planted was recovered" + (f"; {output}" if output is not None else ""))


def calibration_study(scenarios: str, cultures: Iterable[Any]) -> Study:
    """The bundled study with other dilemmas and cultures."""
    from valuesassets.records.settings.worldwise import AskedCulture, Worldwise

    pattern = load_study("demo_worldwise")
    by_code = {each.code: AskedCulture(**each.model_dump(include={*AskedCulture.model_fields})) for each in cultures}
    source = "bundled" if scenarios == "bundled" else Path(scenarios)
    return Worldwise.of(pattern).model_copy(update={"scenarios": source, "cultures": by_code}).placed_in(pattern)


@contextlib.contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    """The model's folder: below the output, where it is kept for the next time, or a temporary one."""
    if output is not None:
        yield output / "reference_model"
        return
    with tempfile.TemporaryDirectory(prefix="valuesassets-") as folder:
        yield Path(folder, "reference_model")


def _train(texts: Mapping[str, Mapping[str, float]], folder: Path, steps: int, seed: int) -> "LoadedModel":
    """A model that is trained into a folder to give answers with known probabilities, by prompt."""
    from threadpoolctl import threadpool_limits

    from valuesassets.models.loading import load_model
    from valuesassets.models.reference import train_reference_model

    # Matrices this small keep a second thread waiting busily.
    with progress_bar("training the reference model") as tick, threadpool_limits(1, user_api="blas"):
        train_reference_model(texts, folder, steps, seed, lambda done, _: tick(done, steps))
    return load_model(str(folder), None, "float32", "cpu")


def _line(row: dict[str, Any]) -> str:
    """A measure, its value and its bound."""
    bound = f"at least {row['least']:.2f}" if row["least"] == row["least"] and row["least"] is not None else ""
    bound = bound or f"at most {row['most']:.3f}"
    about = f"{row['axis']}: {row['measure']}" if row["axis"] else str(row["measure"])
    verdict = "" if row["is_within"] else ", OFF"
    reason = f" ({row['reason']})" if row["reason"] else ""
    return f"{about}: {row['value']:.3f}, {bound} was expected{verdict}{reason}"


FORMS = ("decide", "open", "advocate")
CHAT = Prompting(style="chat", answer_prefix="none")


def reason(
    scenarios: ScenariosFile,
    output: Annotated[Path, typer.Option(help="File for the decisions and reasons (parquet).")],
    *,
    cultures: CulturesFile = None,
    wordings: Wordings = "0",
    forms: Annotated[
        str,
        typer.Option(
            help="What is asked, between commas: decide between the options, answer in open text, advocate an option."
        ),
    ] = "decide,open",
    draws: Annotated[int, typer.Option(min=1, help="Answers to each prompt and order.")] = 4,
    temperature: Annotated[
        float, typer.Option(min=0, help="Sampling temperature; 0: always the likeliest token.")
    ] = 0.7,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of an answer.")] = 300,
    values: Annotated[
        str, typer.Option(help="Values that an answer may name (CSV: value,axis,pole), or: bundled.")
    ] = BUNDLED,
    seed: Seed = 0,
    options: ModelOptions,
) -> None:
    """Have a model decide and give its reasons in every dilemma, as each culture and the two controls."""
    from valuesassets.instruments.worldwise.answers.reasons import Reply, derive_reasons, reply_of
    from valuesassets.instruments.worldwise.material.value_names import read_value_names
    from valuesassets.instruments.worldwise.tables import REASONS
    from valuesassets.instruments.worldwise.trials.reason_trials import requests_of, write_reason_trials
    from valuesassets.records.parquet import write_frame
    from valuesassets.records.readouts import Generate

    require_file_place(output, "a parquet file")
    form_names, numbers = _parse_forms(forms), parse_wordings(wordings)
    model = choose_model(options, CHAT)
    dilemmas, personas = read_material(scenarios, cultures)
    value_names = list(read_value_names(values)["value"])
    readout = Generate(max_tokens=max_tokens, temperature=temperature, samples=draws, seed=seed)
    trials = write_reason_trials(
        dilemmas, personas, value_names, readout, form_names, numbers, "advocate" in form_names
    )
    replies = model.ask(trials, "writing reasons", is_drawn=True)
    answers, requests = costs_of_draws(replies, model.endpoint), requests_of(trials, dilemmas, value_names)
    rows = []
    for trial in trials:
        for draw in range(draws):
            answer, cost = answers.get((trial.trial_id, draw), (None, {}))
            missing = Reply(draw, failure="the budget did not reach it; raise it and run it again", is_asked=False)
            rows.append((requests[trial.trial_id], missing if answer is None else reply_of(answer, **cost)))
    reasons = derive_reasons(rows)
    reasons.attrs["file_metadata"] = replies.description
    write_frame(output, reasons, REASONS)
    counts = ", ".join(f"{n} {status}" for status, n in Counter(reasons["status"]).most_common())
    print(f"{len(reasons)} answers in {output}: {counts}")
    if not answers:
        raise MissingData(f"{options.model}: nothing was asked: the budget is used up; raise it and run it again")


def _parse_forms(forms: str) -> list[str]:
    names = forms.split(",")
    if len(set(names)) < len(names) or not {*names} <= {*FORMS}:
        raise typer.BadParameter(f"--forms {forms[:40]}: some of {','.join(FORMS)} was expected, each once")
    return names


def trials(
    scenarios: ScenariosFile, output: TrialsFile, cultures: CulturesFile = None, wordings: Wordings = "0"
) -> None:
    """Write the choices that a model is given: every dilemma in both orders, as each culture and the two controls."""
    require_trials_place(output)
    _, written = choice_trials(scenarios, cultures, wordings)
    write_trials_file(output, written)
    print(f"{output}: {len(written)} trials")


def choose(
    scenarios: ScenariosFile,
    output: Annotated[Path, typer.Option(help="File for the choices (parquet).")],
    *,
    cultures: CulturesFile = None,
    wordings: Wordings = "0",
    options: ModelOptions,
) -> None:
    """Read how probable a model finds each option of every dilemma, as each culture and the two controls."""
    from valuesassets.instruments.worldwise.answers.choices import LOW_P_VALID, derive_choices
    from valuesassets.instruments.worldwise.measures.reliability import choice_orders
    from valuesassets.instruments.worldwise.tables import CHOICES
    from valuesassets.records.parquet import write_table

    require_file_place(output, "a parquet file")
    model = choose_model(options)
    dilemmas, asked_trials = choice_trials(scenarios, cultures, wordings)
    replies = model.ask(asked_trials, "reading choices")
    rules = Thresholds()
    least = rules.p_valid_question
    rows = derive_choices(dilemmas, asked_trials, replies.readings, model.name, model.name, least)
    reasons = [row["reason"] for row in rows if row["p_high"] is None]
    end = unread_part(model.name, len(rows), reasons, "choices could be read", "use another model")
    orders = choice_orders(model.name, CHOICES.frame(rows), rules)
    write_table(output, rows, CHOICES, replies.description | {"orders": orders})
    print(f"{len(rows)} choices in {output}{end}")
    print_orders(orders, len(rows), "choices", least, f"their status is {LOW_P_VALID}, and no analysis rests on them")


def study_prompts(study: Study) -> Iterator[list[Trial]]:
    """What a study asks each culture and control: choices, and reasons where it asks for them."""
    from valuesassets.instruments.worldwise.material.scenarios import read_scenarios
    from valuesassets.instruments.worldwise.trials import reason_trials
    from valuesassets.instruments.worldwise.trials import trials as choice_prompts

    settings = Worldwise.of(study)
    dilemmas = read_scenarios(settings.scenarios)
    for culture in settings.parts:
        for prompts in (choice_prompts, *([reason_trials] if settings.has_reasons else [])):
            yield prompts.study_trials(settings, culture, dilemmas, study.seed)
