"""The command `psych_tasks reliability`: the reliability of item scores of models that were made anywhere."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.outputs import ends_of
from valuesassets.records.files import write_json


def reliability(
    scores: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES",
            readable=False,
            help="Item scores (CSV: experiment, model, item, score; category where scales have parts; line where "
            "models are related).",
        ),
    ],
    output: Annotated[Path, typer.Option(help="File for the figures (JSON).")],
    keying: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Which items are reverse-keyed (CSV: experiment, item, is_reversed, true or false). Scores are then "
            "expected as labelled: nothing is recoded, for alpha neither.",
        ),
    ] = None,
) -> None:
    """Compute Cronbach's alpha over models, with intervals; with --keying also whether answers follow trait or label.

    Intervals and tests are over lines of models, which are taken as independent: the file's column line, else the part
    of a model's name before its size. Alpha is of the scores AS GIVEN: reverse-keyed items are never recoded, with
    --keying or without.
    """
    from valuesassets.instruments.psych_tasks.measures.score_files import (
        keying_rows,
        left_out,
        read_keying,
        read_scores,
        scale_rows,
    )

    require_file_place(output, "JSON")
    frame = read_scores(scores)
    is_reversed = read_keying(keying, frame, scores) if keying is not None else None
    if keying is not None and (forward := left_out(keying, frame)):
        print(f"{keying}: no item of {', '.join(forward)} in it: taken as keyed forward, all of them")
    scales = scale_rows(frame)
    preferences = keying_rows(frame, is_reversed) if is_reversed is not None else []
    write_json(output, {"scales": scales, "keying": preferences})
    _print(scales, preferences)
    print(f"{output}: {len(scales)} scales, {len(preferences)} keyings")


def _print(scales: Sequence[Mapping[str, Any]], preferences: Sequence[Mapping[str, Any]]) -> None:
    for row in scales:
        name = " ".join(filter(None, (row["experiment"], row["category"])))
        alpha = row["reason"] or (
            f"alpha {row['alpha']:.3f}{ends_of(row, 'alpha', '.3f')}, without covariance "
            f"{row['null_low']:.2f} to {row['null_high']:.2f}"
        )
        models = f"{row['models']} models" + (f" of {row['lines']} lines" if row["lines"] < row["models"] else "")
        print(f"{name}: {models}, {row['items']} items: {alpha}")
    for row in preferences:
        result = row["reason"] or (
            f"rho {row['rho']:.3f}, pi_bias {row['pi_bias']:.3f}{ends_of(row, 'pi_bias', '.3f')}, "
            f"{row['lines']} lines, p {row['p']:.3f}: {row['verdict']}"
        )
        print(f"{row['experiment']}, forward- against reverse-keyed: {result}")
