"""The command `worldwise calibrate`: are choices and reasons that were planted in a tiny model recovered?"""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.asking import ask_reference
from valuesassets.cli.inputs import require_folder_place
from valuesassets.cli.outputs import progress_bar
from valuesassets.cli.worldwise_inputs import CulturesFile, ScenariosFile, read_material
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Study, load_study
from valuesassets.records.trials import Answer, Reading, Trial

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.instruments.worldwise.scenarios import Scenario

FAMILY = "reference"
MAX_TOKENS = 80
"""Most tokens of an answer; planted ones have some thirty."""
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
    from valuesassets.instruments.worldwise.model_answers import ModelAnswers
    from valuesassets.instruments.worldwise.recovery import planted_rows, recover_model
    from valuesassets.instruments.worldwise.tables import CHOICES, PLACED_REASONS, PLANTED, RECOVERY
    from valuesassets.records.frames import records
    from valuesassets.records.parquet import write_frame

    if output is not None:
        require_folder_place(output)
    dilemmas, personas = read_material(scenarios, cultures)
    codes = [each if isinstance(each, str) else each.code for each in personas]
    study = calibration_study(scenarios, [each for each in personas if not isinstance(each, str)])
    with _folder(output) as folder:
        choices, reasons, projections = _read_back(study, dilemmas, personas, folder, draws, steps)
    planted = planted_rows(study, FAMILY, codes, dilemmas)
    recovery = recover_model(FAMILY, planted, ModelAnswers(choices, reasons, projections))
    if output is not None:
        own = projections.loc[projections["is_own_axis"].astype(bool), ["trial_id", "draw", "position"]]
        placed = reasons.merge(own, on=["trial_id", "draw"], how="left", validate="1:1")
        for name, frame, table in (
            ("planted", planted, PLANTED),
            ("choices", choices, CHOICES),
            ("reasons", placed, PLACED_REASONS),
            ("recovery", recovery, RECOVERY),
        ):
            write_frame(output / f"{name}.parquet", frame, table)
    for row in records(recovery):
        print(_line(row))
    off = [row for row in records(recovery) if not row["is_within"]]
    if off:
        raise MissingData(
            f"{scenarios}: what was planted was not recovered: {'; '.join(map(_line, off[:3]))}; train longer "
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


def _read_back(
    study: Study, scenarios: "list[Scenario]", personas: list[Any], folder: Path, draws: int, steps: int
) -> "tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]":
    """Choices, reasons and the reasons' positions on axes, of a model that is trained into a folder."""
    from threadpoolctl import threadpool_limits

    from valuesassets.answers.reference_models import planted_text_rows
    from valuesassets.instruments.worldwise.choices import derive_choices
    from valuesassets.instruments.worldwise.cultures import persona_code
    from valuesassets.instruments.worldwise.planted_reasons import planted_reason_rows
    from valuesassets.instruments.worldwise.plants import plant_choices
    from valuesassets.instruments.worldwise.reason_trials import asked_of, write_reason_trials
    from valuesassets.instruments.worldwise.reasons import derive_reasons, written
    from valuesassets.instruments.worldwise.tables import CHOICES
    from valuesassets.instruments.worldwise.trials import write_trials
    from valuesassets.instruments.worldwise.value_names import read_value_names
    from valuesassets.models.loading import load_model
    from valuesassets.models.reference import train_reference_model
    from valuesassets.records.readouts import Generate

    values = list(read_value_names()["value"])
    readout = Generate(max_tokens=MAX_TOKENS, samples=draws, seed=study.seed)
    choice_trials, reason_trials = list[Trial](), list[Trial]()
    texts: dict[str, dict[str, float]] = {}
    for persona in personas:
        code = persona_code(persona)
        choice_trials += (trials := write_trials(scenarios, [persona], seed=study.seed))
        reason_trials += (requests := write_reason_trials(scenarios, [persona], values, readout, seed=study.seed))
        planted = planted_text_rows(trials, plant_choices(study, FAMILY, code, trials))
        for row in (*planted, *planted_reason_rows(study, FAMILY, code, requests)):
            texts.setdefault(str(row["prompt"]), {})[str(row["answer_text"])] = float(str(row["prob"]))
    # Matrices this small keep a second thread waiting busily.
    with progress_bar("training the reference model") as tick, threadpool_limits(1, user_api="blas"):
        train_reference_model(texts, folder, steps, study.seed, lambda done, _: tick(done, steps))
    loaded = load_model(str(folder), None, "float32", "cpu")
    chosen = ask_reference(FAMILY, loaded, choice_trials, "reading choices")
    texts_written = ask_reference(FAMILY, loaded, reason_trials, "writing reasons")
    readings = [record for record in chosen if isinstance(record, Reading)]
    answers = [record for record in texts_written if isinstance(record, Answer)]
    requests_by_id = asked_of(reason_trials, scenarios, values, study.seed)
    choices = CHOICES.frame(derive_choices(scenarios, choice_trials, readings, FAMILY, FAMILY))
    reasons = derive_reasons((requests_by_id[answer.trial_id], written(answer)) for answer in answers)
    return choices, reasons, _placed(study, scenarios, reasons)


def _placed(study: Study, scenarios: "list[Scenario]", reasons: "pd.DataFrame") -> "pd.DataFrame":
    """The positions of reasons on the axes of the bundled exemplars, by a bag of words."""
    from valuesassets.instruments.worldwise.axes import derive_axes
    from valuesassets.instruments.worldwise.exemplars import read_exemplars
    from valuesassets.instruments.worldwise.lexical import lexical_vectors
    from valuesassets.instruments.worldwise.projections import derive_projections
    from valuesassets.instruments.worldwise.reason_vectors import derive_reason_vectors, reason_texts
    from valuesassets.records.bundled import BUNDLED
    from valuesassets.records.settings.worldwise import LEXICAL, Worldwise

    names = [name for culture in Worldwise.of(study).cultures.values() for name in culture.names]
    exemplars = read_exemplars(BUNDLED)
    axes = derive_axes(exemplars, lexical_vectors(list(exemplars["text"])), LEXICAL, seed=study.seed)
    texts = reason_texts(reasons, scenarios, names)
    vectors = derive_reason_vectors(texts, lexical_vectors(texts.pieces))
    return derive_projections(vectors, vectors, axes["vectors"], axes["validity"])


def _line(row: dict[str, Any]) -> str:
    """A measure, its value and its bound."""
    bound = f"at least {row['least']:.2f}" if row["least"] == row["least"] and row["least"] is not None else ""
    bound = bound or f"at most {row['most']:.3f}"
    about = f"{row['axis']}: {row['measure']}" if row["axis"] else str(row["measure"])
    verdict = "" if row["is_within"] else ", OFF"
    reason = f" ({row['reason']})" if row["reason"] else ""
    return f"{about}: {row['value']:.3f}, {bound} was expected{verdict}{reason}"
