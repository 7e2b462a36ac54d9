"""Pictures of assets' values for the UI, for assets without pictures of their own.

Tables without rows get no picture (`shown.first_look`).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from valuesassets.records.instruments import named
from valuesassets.records.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from valuesassets.records.trials import Reading


def _figure(name: str) -> "Callable[..., Figure]":
    """The function `draw_<name>`, imported when called, so that loading the graph does not import matplotlib."""
    return lambda *arguments: named(f"valuesassets.figures.overviews:draw_{name}")(*arguments)


draw_bars, draw_matrix, draw_page_boxes, draw_spread, draw_status_grid = map(
    _figure, ("bars", "matrix", "page_boxes", "spread", "status_grid")
)


def draw_pages(questions: Sequence[Any], n_pages: int, doubtful: set[str], language: str) -> "Figure | None":
    """The places of questions in a form; None for questions without a PDF."""
    boxes = [(question.id, question.page, question.box) for question in questions if question.page and question.box]
    if not boxes:
        return None
    return draw_page_boxes(boxes, n_pages, doubtful, f"Questions found in the form of {language}")


def draw_alignment(matches: Sequence[Any], language: str) -> "Figure | None":
    """The status of each of the master's questions in a language."""
    statuses = {match.question_id: match.status for match in matches if match.question_id}
    if not statuses:
        return None
    return draw_status_grid(statuses, "aligned", f"The master's questions in the form of {language}")


def draw_readings(readings: Sequence["Reading"], planted: bool) -> "Figure":
    """P_valid of each prompt, by the order of options."""
    orders: dict[str, list[float]] = {}
    for reading in readings:
        p_valid = float("nan") if reading.p_valid is None else reading.p_valid
        orders.setdefault(reading.trial_id.rpartition("/")[2], []).append(p_valid)
    return draw_spread(orders, "Probability that the answer is one of the options", "P_valid of a prompt", planted)


def first_page(pdf: Path) -> str:
    """The first page of a form as a small PNG in base64."""
    import base64
    import io

    import pypdfium2

    from valuesassets.instruments.survey.material.forms.form_pictures import drawn_from

    def draw(document: pypdfium2.PdfDocument) -> bytes:
        buffer = io.BytesIO()
        page = document[0].render(scale=0.7).to_pil().convert("L")  # type: ignore[arg-type]
        page.quantize(16).save(buffer, "PNG", optimize=True)
        return buffer.getvalue()

    return base64.b64encode(drawn_from(pdf, draw)).decode("ascii")


def draw_losses(phantoms: Sequence[Mapping[str, Any]]) -> "Figure":
    """The final training loss of each reference model."""
    losses = {
        f"{Path(phantom['folder']).parent.name}/{Path(phantom['folder']).name}": phantom["loss"] for phantom in phantoms
    }
    return draw_bars(losses, "Loss after training", "mean loss at the end, nats", True)


def draw_written(commonest: pd.DataFrame, trial: str) -> "Figure":
    """The texts that a reference model writes after one prompt, the most frequent first."""
    counts = {repr(row["answer_text"]): float(row["n"]) for row in commonest.to_dict("records")}
    return draw_bars(counts, f"Texts written after the prompt {trial}", "answers", True)


def draw_master(questions: list[Any], study: Study) -> "Figure | None":
    """The master's questions that each language has."""
    languages_of = {question.id: (question.model_extra or {}).get("coverage") or [] for question in questions}
    languages = [language for language in study.languages if any(language in codes for codes in languages_of.values())]
    if not languages:
        return None
    table = pd.DataFrame(
        {name: [float(language in codes) for language in languages] for name, codes in languages_of.items()}
    )
    return draw_matrix(table.set_axis(pd.Index(languages)), "Which language has which question", ("lacks it", "has it"))


def draw_trials(trials: list[Any], study: Study) -> "Figure | None":
    """The lengths of prompts, by number of options."""
    lengths: dict[str, list[float]] = {}
    for trial in trials:
        lengths.setdefault(f"{len(trial.labels)} options", []).append(len(trial.prompt))
    ordered = dict(sorted(lengths.items(), key=lambda item: int(item[0].split()[0])))
    return draw_spread(ordered, "Length of the prompts", "characters of a prompt") if ordered else None


def draw_weights(fetched: Mapping[str, Any], study: Study) -> "Figure | None":
    """The size of each model on the disk."""
    sizes = {entry["model"]: entry["size"] / 2**30 for entry in fetched["models"]}
    return draw_bars(sizes, "Size of the weights on the disk", "GiB") if sizes else None


def draw_preflight(verdict: Mapping[str, Any], study: Study) -> "Figure | None":
    """The findings of a preflight, by part."""
    rows = pd.DataFrame(verdict["findings"])
    if not len(rows):
        return None
    table = rows.assign(passed=rows.passed.astype(float)).pivot_table(
        index="what", columns="part", values="passed", aggfunc="min", sort=False
    )
    return draw_matrix(table, "Findings of the preflight", ("failed", "passed"), study.is_planted)


def draw_controls(controls: pd.DataFrame, study: Study) -> "Figure":
    """The error of each wrong-language pair."""
    table = controls.pivot_table(index="language", columns="answered_by", values="w1_unit_error_mean", sort=False)
    return draw_matrix(table, "Prompts of a language (row), the model of another (column)", "mean W1 error", True)


def draw_respondents(frame: pd.DataFrame, study: Study) -> "Figure":
    """Respondents per country."""
    counts = {str(country): float(n) for country, n in frame.groupby("country", sort=False).size().items()}
    return draw_bars(counts, "Respondents", "respondents", _are_planted(frame))


def draw_human_distributions(frame: pd.DataFrame, study: Study) -> "Figure":
    """Share of people without an answer, per country and question."""
    table = frame.pivot_table(index="country", columns="question_id", values="dk_rate", aggfunc="first", sort=False)
    return draw_matrix(table, "Don't know and no answer", "share of respondents", _are_planted(frame))


def draw_human_means(frame: pd.DataFrame, study: Study) -> "Figure":
    """Mean answers per country and question."""
    unit = frame.assign(unit=(frame["mean"] - frame.low) / (frame.high - frame.low))
    table = unit.pivot_table(index="country", columns="question_id", values="unit", sort=False)
    return draw_matrix(table, "Mean answers of people", "mean, scale from 0 to 1", _are_planted(frame))


def draw_statistics(frame: pd.DataFrame, study: Study) -> "Figure":
    """The entropy of each family's answers."""
    shares = {str(model): rows.entropy_share.tolist() for model, rows in frame.groupby("model", sort=False)}
    return draw_spread(shares, "Entropy of the answers", "entropy over the maximum of the scale", study.is_planted)


def _are_planted(frame: pd.DataFrame) -> bool:
    return bool((frame.source == "planted").any())
