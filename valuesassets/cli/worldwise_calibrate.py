"""The command `worldwise calibrate`: are choices and reasons that were planted in a tiny model recovered?"""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.asking import ask_reference
from valuesassets.cli.inputs import require_folder_place
from valuesassets.cli.outputs import progress_bar
from valuesassets.cli.worldwise_inputs import CulturesFile, ScenariosFile, read_material
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Study, load_study

if TYPE_CHECKING:
    from valuesassets.models.loaded_model import LoadedModel

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
