"""`valuesassets psych reliability`: do item scores of models, wherever they were made, hold together, and by what?"""

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
            help="CSV: experiment, model, item, score; category where scales have parts; line where models are "
            "related.",
        ),
    ],
    output: Annotated[Path, typer.Option(help="Write the figures as JSON.")],
    keying: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="CSV: experiment, item, is_reversed (true or false). Scores are then expected as the labels have "
            "them: nothing is recoded here, and alpha, too, is of the scores as given.",
        ),
    ] = None,
) -> None:
    """Cronbach's alpha over models, its interval and that of no covariance; with --keying, trait or label preference.

    Intervals and tests are over lines of models, which are taken as independent: the file's column line, else what
    stands before the size in a model's name. Alpha is of the scores AS GIVEN: reverse-keyed items are never recoded,
    with --keying or without.
    """
    from valuesassets.instruments.psych_tasks.score_files import left_out, read_keying, read_scores
    from valuesassets.instruments.psych_tasks.score_reliability import keying_rows, scale_rows

    require_file_place(output, "JSON")
    given = read_scores(scores)
    is_reversed = read_keying(keying, given, scores) if keying is not None else None
    if keying is not None and (forward := left_out(keying, given)):
        print(f"{keying}: no item of {', '.join(forward)} in it: taken as keyed forward, all of them")
    scales = scale_rows(given)
    preferences = keying_rows(given, is_reversed) if is_reversed is not None else []
    write_json(output, {"scales": scales, "keying": preferences})
    _print(scales, preferences)
    print(f"{output}: {len(scales)} scales, {len(preferences)} keyings")


def _print(scales: Sequence[Mapping[str, Any]], preferences: Sequence[Mapping[str, Any]]) -> None:
    for row in scales:
        name = " ".join(filter(None, (row["experiment"], row["category"])))
        told = row["reason"] or (
            f"alpha {row['alpha']:.3f}{ends_of(row, 'alpha', '.3f')}, without covariance "
            f"{row['null_low']:.2f} to {row['null_high']:.2f}"
        )
        models = f"{row['models']} models" + (f" of {row['lines']} lines" if row["lines"] < row["models"] else "")
        print(f"{name}: {models}, {row['items']} items: {told}")
    for row in preferences:
        told = row["reason"] or (
            f"rho {row['rho']:.3f}, pi_bias {row['pi_bias']:.3f}{ends_of(row, 'pi_bias', '.3f')}, "
            f"{row['lines']} lines, p {row['p']:.3f}: {row['verdict']}"
        )
        print(f"{row['experiment']}, forward- against reverse-keyed: {told}")
