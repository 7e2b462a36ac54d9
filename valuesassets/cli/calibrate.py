"""The command `calibrate`: are answers that were planted in a tiny model recovered with these prompts?"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valuesassets.cli.asking import ask_reference
from valuesassets.cli.extras import require
from valuesassets.cli.inputs import Orders, OwnLexicon, asked_language, parse_orders, read_sound_questions, trials_of
from valuesassets.cli.outputs import progress_bar
from valuesassets.cli.probe import derive_answers
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records
from valuesassets.records.questions import Question
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import DEMO, Study, load_study
from valuesassets.records.trials import Reading, Trial

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.answers.plants import Plants

FAMILY = "reference-mono"
LIMITS = ("max_w1_unit", "max_p_valid_error", "max_position_bias_error")
MARGIN = 0.5
"""Share of these limits: a model within it after half of the passes is not trained longer."""
PASSES_TIMED = 4
"""Passes that are timed to predict how long all will take: each of four reads other positions."""


def calibrate(
    questions: Annotated[
        Path | None, typer.Option(readable=False, help="Question file (JSON); needed without --readouts.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of the questions (ISO 639-3); needed without --readouts.")
    ] = None,
    readouts: Annotated[
        bool,
        typer.Option("--readouts", help="Try spans and written answers on planted material of their own: a minute."),
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Most passes of training; {Phantom().steps} if left out. Half of them are tried first and are enough "
            "where every error is then far below its limit.",
        ),
    ] = None,
    orders: Orders = "both",
    lexicon: OwnLexicon = None,
) -> None:
    """Train a tiny model to give known answers to these questions and test whether they are recovered; exit 1 if not.

    Two channels are compared: probabilities as `probe` reads them, and answers that are drawn and parsed as text.
    """
    require("calibrate", "models")
    if readouts:
        from valuesassets.cli.calibrate_readouts import calibrate_readouts

        if questions is not None or language is not None:
            raise typer.BadParameter("--readouts brings plants of its own; leave --questions and --language out")
        calibrate_readouts(steps)
    elif questions is None or language is None:
        raise typer.BadParameter("--questions and --language are missing; give both, or --readouts")
    else:
        calibrate_questions(questions, language, steps, orders, lexicon)


def calibrate_questions(questions: Path, language: str, steps: int | None, orders: str, lexicon: Path | None) -> None:
    """Calibrate with the questions of a file."""
    from valuesassets.answers.calibration import describe_hardness, summarise_recovery
    from valuesassets.instruments.survey.plants.plants import plant_questions

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
    _print_recovery(summary)
    _print_hardness(describe_hardness(comparison))
    misses = [row for row in records(summary) if not row["is_recovered"]]
    if misses:
        raise MissingData(
            f"{questions}: what was planted was not recovered ({', '.join(row['response_type'] for row in misses)}): "
            f"{misses[0]['reason']}; train longer (--steps), or look at the prompts of the rows marked OFF"
        )


def _read_back(
    study: Study, questions: list[Question], trials: list[Trial], plants: "Plants", passes: int
) -> "pd.DataFrame":
    """Planted and recovered answers of a newly trained model, by both channels (see `compare_with_plants`)."""
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
            on_pass = _with_duration(tick, len(questions), passes)
            train_reference_model(answers, Path(folder, "phantom"), passes, study.seed, on_pass)
        loaded = load_model(f"{folder}/phantom", None, "float32", "cpu")
        records = ask_reference(FAMILY, loaded, trials, "reading answers")
        readings = [record for record in records if isinstance(record, Reading)]
        recovered = derive_answers(readings, trials, questions, FAMILY)
        with progress_bar("drawing answers") as tick:
            drawn = sample_answers(loaded, [trial.prompt for trial in trials], study.phantom.samples, study.seed, tick)
    texts = pd.DataFrame(answer_rows(trials, drawn))
    sampled = derive_sampled_distributions(texts, trials, plants, FAMILY, language)
    planted = planted_answers({(FAMILY, language): plants})
    return compare_with_plants(pd.DataFrame(recovered), planted, sampled)


def _with_duration(tick: Callable[[int, int], None], n_questions: int, passes: int) -> Callable[[int, float], None]:
    """A function to call after each pass: it moves the bar and prints, after the first few, how long all will take."""
    began = time.monotonic()

    def on_pass(done: int, _: float) -> None:
        nonlocal began
        if done == 1:
            began = time.monotonic()  # preparations are not counted
        if done == 1 + PASSES_TIMED:
            seconds = (time.monotonic() - began) / PASSES_TIMED * passes
            print(f"{n_questions} questions, {passes} passes of training: about {seconds:.0f} seconds", flush=True)
        tick(done, passes)

    return on_pass


def calibration_study(language: str, orders: str, lexicon: Path | None = None) -> Study:
    """A study of one language, one reference family and some option orders, with the demo's random seed."""
    pattern, named = load_study(DEMO), asked_language(language, lexicon)
    # Planted answers lean towards some country; any country does where the language names none.
    named = named.model_copy(update={"country": named.country or pattern.languages["eng"].country})
    return pattern.model_copy(
        update={
            "name": "calibration",
            "questionnaires": Questionnaires.of(pattern).model_copy(update={"master": language}),
            "languages": {language: named},
            "families": {FAMILY: pattern.families[FAMILY]},
            "elicitation": parse_orders(orders),
            "phantom": Phantom(),
        }
    )


def _print_recovery(summary: "pd.DataFrame") -> None:
    """Print the recovery of each response type: means and 95th percentiles of errors, by both channels."""
    print(f"  {'':<36} {'scored: W1':<15} {'P_valid':<15} {'position bias':<15} sampled: W1 (bound)")
    for row in records(summary):
        verdict = "recovered" if row["is_recovered"] else f"OFF: {row['reason']}"
        errors = (
            f"{row[f'{error}_mean']:.4f} | {row[f'{error}_p95']:.4f}"
            for error in ("w1_unit_error", "p_valid_error", "position_bias_error")
        )
        sampled = f"{row['sampled_w1_unit_error_mean']:.4f} ({row['sampled_w1_unit_error_bound']:.4f})"
        print(f"  {row['model']:<16} {row['response_type']:<12} {row['n']:>4}  {' '.join(errors)} {sampled}  {verdict}")


def _print_hardness(hardness: "pd.DataFrame") -> None:
    """Print how hard the plants were, a row per response type."""
    print(
        "  hardness of the plants: W1 from uniform, share with strong position bias, P_valid, both ends of ten points"
    )
    for row in records(hardness):
        ends = f"{row['both_ends_share']:.0%}" if row["both_ends_share"] == row["both_ends_share"] else ""
        print(
            f"  {'':<16} {row['response_type']:<12} {row['n']:>4}  {row['w1_unit_to_uniform_mean']:.3f}  "
            f"{row['position_bias_share_strong']:.0%}  {row['p_valid_min']:.2f}-{row['p_valid_max']:.2f}  {ends}"
        )
