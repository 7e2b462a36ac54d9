"""The command `calibrate`: what is planted in a tiny model, and whether it is found again on these prompts."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valuesassets.cli.inputs import Orders, OwnLexicon, asked_language, parse_orders, read_sound_questions, trials_of
from valuesassets.cli.models import read_answers
from valuesassets.cli.outputs import print_hardness, print_recovery, progress_bar
from valuesassets.records.errors import MissingData
from valuesassets.records.questions import Question
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import Study, load_study
from valuesassets.records.trials import Trial

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.answers.plants import Plants

FAMILY = "reference-mono"
LIMITS = ("max_w1_unit", "max_p_valid_error", "max_position_bias_error")
MARGIN = 0.5
"""Share of these limits within which what was trained in half of the passes need not be trained longer."""
PASSES_TIMED = 4
"""Passes that are timed to say how long the others will take: each of four reads other positions."""


def calibrate(
    questions: Annotated[Path | None, typer.Option(readable=False, help="Question file (JSON).")] = None,
    language: Annotated[str | None, typer.Option(help="ISO 639-3 code of the questions' language.")] = None,
    readouts: Annotated[
        bool, typer.Option("--readouts", help="Try spans and written answers on plants of their own, in a minute.")
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Most passes of training; {Phantom().steps} if left out. Half of them are tried first, and do where "
            "every bound then holds with room to spare.",
        ),
    ] = None,
    orders: Orders = "both",
    lexicon: OwnLexicon = None,
) -> None:
    """Train a reference model on these prompts and print how well it is read back; exit 1 when it is off.

    Two channels: the probabilities of the answers as `probe` reads them, and answers drawn and parsed as text.
    """
    if readouts:
        from valuesassets.cli.readouts import calibrate_readouts

        if questions is not None or language is not None:
            raise typer.BadParameter("--readouts brings plants of its own; leave --questions and --language out")
        calibrate_readouts(steps)
    elif questions is None or language is None:
        raise typer.BadParameter("--questions and --language are missing; give both, or --readouts")
    else:
        calibrate_questions(questions, language, steps, orders, lexicon)


def calibrate_questions(questions: Path, language: str, steps: int | None, orders: str, lexicon: Path | None) -> None:
    """What `calibrate` does with a questionnaire."""
    from valuesassets.answers.calibration import describe_hardness, summarise_recovery
    from valuesassets.instruments.survey.plants import plant_questions
    from valuesassets.records.frames import records

    sound = read_sound_questions(questions)
    study = calibration_study(language, orders, lexicon)
    trials = trials_of(questions, sound, language, orders, study.seed, lexicon)
    plants = plant_questions(study, FAMILY, language, sound)
    most = steps or study.phantom.steps
    tight = study.phantom.model_copy(update={name: getattr(study.phantom, name) * MARGIN for name in LIMITS})
    comparison = _read_back(study, sound, trials, plants, max(1, most // 2))
    if most > 1 and not bool(summarise_recovery(comparison, tight)["is_recovered"].all()):
        comparison = _read_back(study, sound, trials, plants, most)
    summary = summarise_recovery(comparison, study.phantom)
    print_recovery(summary)
    print_hardness(describe_hardness(comparison))
    off = [row for row in records(summary) if not row["is_recovered"]]
    if off:
        raise MissingData(
            f"{questions}: what was planted was not recovered ({', '.join(row['response_type'] for row in off)}): "
            f"{off[0]['reason']}; train longer (--steps), or look at the prompts of the rows marked OFF"
        )


def _read_back(
    study: Study, questions: list[Question], trials: list[Trial], plants: "Plants", passes: int
) -> "pd.DataFrame":
    """Planted against recovered (see `compare_with_plants`), by both channels, of a model that is trained for this."""
    import pandas as pd
    import torch
    from threadpoolctl import threadpool_limits

    from valuesassets.answers.calibration import compare_with_plants
    from valuesassets.answers.plants import planted_answers
    from valuesassets.answers.reference_models import planted_text_rows
    from valuesassets.answers.sampled_answers import derive_sampled_distributions
    from valuesassets.models.loading import load_model
    from valuesassets.models.reference import train_reference_model
    from valuesassets.models.sampling import sample_answers
    from valuesassets.records.parquet import answer_rows

    answers: dict[str, dict[str, float]] = {}
    for row in planted_text_rows(trials, plants):
        answers.setdefault(str(row["prompt"]), {})[str(row["answer_text"])] = float(str(row["prob"]))
    language = trials[0].language
    torch.set_num_threads(1)  # a second thread gains nothing on matrices this small, and waits busily
    with tempfile.TemporaryDirectory(prefix="valuesassets-") as folder, threadpool_limits(1):
        with progress_bar("training the reference model") as tick:
            on_pass = _with_time_said(tick, len(questions), passes)
            train_reference_model(answers, Path(folder, "phantom"), passes, study.seed, on_pass)
        loaded = load_model(f"{folder}/phantom", None, "float32", "cpu")
        recovered, _ = read_answers(loaded, FAMILY, trials, questions, is_calibration=True)
        with progress_bar("drawing answers") as tick:
            drawn = sample_answers(loaded, [trial.prompt for trial in trials], study.phantom.samples, study.seed, tick)
    written = pd.DataFrame(answer_rows(trials, drawn))
    sampled = derive_sampled_distributions(written, trials, plants, FAMILY, language)
    planted = planted_answers({(FAMILY, language): plants})
    return compare_with_plants(pd.DataFrame(recovered), planted, sampled)


def _with_time_said(tick: Callable[[int, int], None], n_questions: int, passes: int) -> Callable[[int, float], None]:
    """What to call after each pass: it moves the bar, and says after the first few how long all of them will take."""
    began = time.monotonic()

    def on_pass(done: int, _: float) -> None:
        nonlocal began
        if done == 1:
            began = time.monotonic()  # what comes before the passes is not theirs
        if done == 1 + PASSES_TIMED:
            seconds = (time.monotonic() - began) / PASSES_TIMED * passes
            print(f"{n_questions} questions, {passes} passes of training: about {seconds:.0f} seconds", flush=True)
        tick(done, passes)

    return on_pass


def calibration_study(language: str, orders: str, lexicon: Path | None = None) -> Study:
    """A study of one language, one reference family and some option orders, with the demo's seed."""
    pattern, asked = load_study("demo"), asked_language(language, lexicon)
    # What is planted leans towards some country; which does not matter where the language says none.
    asked = asked.model_copy(update={"country": asked.country or pattern.languages["eng"].country})
    return pattern.model_copy(
        update={
            "name": "calibration",
            "questionnaires": Questionnaires.of(pattern).model_copy(update={"master": language}),
            "languages": {language: asked},
            "families": {FAMILY: pattern.families[FAMILY]},
            "elicitation": parse_orders(orders),
            "phantom": Phantom(),
        }
    )
