"""The command `worldwise score`: answers to dilemmas that were made anywhere, by published scores and on axes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.inputs import Seed, require_folder_place
from valuesassets.cli.outputs import progress_bar
from valuesassets.records.extras import require

if TYPE_CHECKING:
    from valuesassets.instruments.worldwise.published.rescoring import TextVectors


def score(
    responses: Annotated[
        Path,
        typer.Option(
            readable=False,
            help="Answers (CSV, JSON, JSONL or parquet): response_id, scenario_id, axis, model, culture, decision, "
            "values, explanation.",
        ),
    ],
    exemplars: Annotated[
        str, typer.Option(help="Sentences at both ends of each axis (CSV: axis,pole,pair,text), or: bundled.")
    ],
    embedder: Annotated[str, typer.Option(help="Hub id or folder of a sentence-transformers model, or: lexical.")],
    output: Annotated[Path, typer.Option(help="Folder for scores.parquet and summary.json.")],
    targets: Annotated[
        Path | None, typer.Option(readable=False, help="Published targets (CSV: culture,axis,seed_target).")
    ] = None,
    values: Annotated[
        Path | None, typer.Option(readable=False, help="Values that could be ticked (CSV: value,axis,pole).")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Score answers to dilemmas: worldWiseAI's published scores beside their null values, and positions on axes."""
    from valuesassets.instruments.worldwise.answers.answer_files import read_answer_file
    from valuesassets.instruments.worldwise.material.exemplars import read_exemplars
    from valuesassets.instruments.worldwise.material.value_names import read_value_names
    from valuesassets.instruments.worldwise.published.rescoring import place, prepare, score_rows, summarise
    from valuesassets.instruments.worldwise.published.targets import read_targets, require_targets
    from valuesassets.instruments.worldwise.tables import SCORES
    from valuesassets.records.files import write_json
    from valuesassets.records.parquet import write_frame
    from valuesassets.records.settings.worldwise import LEXICAL

    require_folder_place(output)
    if embedder != LEXICAL:
        require("worldwise score", "models")
    answers = read_answer_file(responses)
    expected = None if targets is None else read_targets(targets)
    if expected is not None and targets is not None:
        require_targets(expected, answers, targets)
    value_names = None if values is None else read_value_names(values, has_both_poles=False)
    prepared = prepare(answers, read_exemplars(exemplars), exemplars)
    vectors, description = _embed(embedder, prepared.texts)
    placed = place(prepared, vectors, seed=seed)
    scored = score_rows(prepared, placed, vectors)
    summary = summarise(prepared, scored, placed, targets=expected, values=value_names, seed=seed)
    (output / "summary.json").unlink(missing_ok=True)  # it stands for the scores beside it
    write_frame(output / "scores.parquet", scored, SCORES)
    write_json(output / "summary.json", {"embedder": description} | summary)
    _print(summary)
    print(f"{output}: scores.parquet, summary.json")


def _embed(embedder: str, texts: list[str]) -> "tuple[TextVectors, dict[str, object]]":
    """The vectors of texts, each embedded once, and what names the embedder."""
    from valuesassets.instruments.worldwise.published.rescoring import TextVectors, lexical
    from valuesassets.records.settings.worldwise import LEXICAL

    if embedder == LEXICAL:
        return lexical(texts), {"model": LEXICAL}
    from valuesassets.models.embedding import open_embedder

    opened = open_embedder(embedder)
    with progress_bar("embedding") as tick:
        embedded = opened.embed(texts, on_progress=tick)
    return TextVectors(texts, embedded.vectors, embedded.is_truncated), opened.describe()


def _print(summary: dict[str, Any]) -> None:
    """Print whether each axis is valid, and the published score's error beside those of its nulls."""
    n, cut = summary["n_responses"], summary["n_truncated"]
    print(f"{n} answers, {cut} of them longer than the embedder reads in the published composition")
    for axis, row in summary["projection"]["axes"].items():
        verdict = "valid" if row["is_valid"] else "NOT VALID: no positions"
        print(f"  {axis}  held-out AUC {row['held_out_auc']:.2f}  p {row['p']:.3f}  {verdict}")
    convergent, discriminant = (summary["projection"][name] for name in ("convergent_mean", "discriminant_mean_abs"))
    if convergent is not None and discriminant is not None:
        print(f"  r with ticked values: {convergent:.2f} on the same axis, {discriminant:.2f} (size) on others")
    for name in ("final", "stored"):
        errors = summary["seed"].get(name, {})
        if errors.get("n"):
            print(
                f"  published score ({name}): MAE {errors['mae']:.4f}; zero {errors['mae_zero']:.4f}, cultures "
                f"exchanged {errors['mae_permuted_mean']:.4f} (p {errors['p_permuted']:.3f})"
            )
