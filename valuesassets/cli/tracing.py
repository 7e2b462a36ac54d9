"""The command `trace`: from a model's point on the map down to its prompts, readings and the pages of the form."""

import json
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic_core import to_jsonable_python
from rich import markup
from rich.console import Console
from rich.tree import Tree

from valuesassets.cli.completion import offer_languages
from valuesassets.cli.inputs import StudyName, open_study
from valuesassets.records.errors import InputError
from valuesassets.records.files import no_such_name
from valuesassets.records.places import storage_root
from valuesassets.records.terminal import terminal_text

if TYPE_CHECKING:
    from valuesassets.instruments.survey.report.traces import IndicatorTrace, ItemTrace, PointTrace

WIDE = 10_000
"""Columns where the output is no terminal, so that no line is broken."""


def trace(
    name: StudyName,
    model: Annotated[str, typer.Argument(help="Model family of the study.")],
    language: Annotated[
        str, typer.Argument(autocompletion=offer_languages, help="Language of the study, by its ISO 639-3 code.")
    ],
    question: Annotated[
        str | None,
        typer.Argument(help="Question as it was asked, such as v39 or v111@v110=1; the whole point if left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of a tree.")] = False,
) -> None:
    """Show where a model's point on the map comes from: its questions, prompts, readings and pages of the form."""
    from valuesassets.instruments.survey.answers.stored_survey import StoredSurvey
    from valuesassets.instruments.survey.report.provenance import trace_item, trace_point
    from valuesassets.instruments.survey.report.traces import PointTrace

    study = open_study(name)
    if language not in study.languages:
        raise InputError(no_such_name(language, f"language in study {study.name}", study.languages))
    folder = storage_root() / study.name
    if model in study.families:
        study.require_cell(model, language)
    elif not StoredSurvey(folder).folder.is_dir():
        raise InputError(no_such_name(model, f"model family in study {study.name}", study.families))
    place = (folder, model, language)
    traced = trace_point(*place) if question is None else trace_item(*place, question)
    if as_json:
        plain = to_jsonable_python(traced, inf_nan_mode="null", fallback=lambda number: number.item())  # numpy's
        print(json.dumps(plain, ensure_ascii=False, indent=1))
    else:
        tree = _point_tree(traced) if isinstance(traced, PointTrace) else _item_tree(traced)
        Console(width=None if Console().is_terminal else WIDE, highlight=False).print(tree)


def _point_tree(point: "PointTrace") -> Tree:
    place = f" at ({point.place['x']:+.3f}, {point.place['y']:+.3f})" if point.place else ""
    tree = Tree(f"[bold]{escape(point.model)} {point.language}[/]{place}")
    identity = point.identity
    commit = f", commit {identity.revision}" if identity.revision else ""
    chat = f", chat template {identity.template_sha256}" if identity.template_sha256 else ""
    tree.add(
        f"model {escape(identity.model_id)}{commit}, weights {identity.weights_id}, {identity.dtype}, scorer "
        f"{identity.scorer_version}, torch {identity.torch}{chat}"
    )
    tree.add(f"form {escape(point.form.source)}, sha256 {point.form.sha256}")
    for problem in point.problems:
        tree.add(f"[red]✗ {escape(problem)}[/]")
    for indicator in point.indicators:
        branch = tree.add(_indicator_line(indicator))
        for item in indicator.items:
            branch.add(_item_tree(item))
    return tree


def _indicator_line(indicator: "IndicatorTrace") -> str:
    if indicator.mean is None:
        return f"[bold]{indicator.code}[/] {indicator.name}: [red]missing: {escape(indicator.reason or '')}[/]"
    scale = f"on {indicator.low:g} to {indicator.high:g}"
    return f"[bold]{indicator.code}[/] {indicator.name}: {indicator.mean:.3f} {scale}"


def _item_tree(item: "ItemTrace") -> Tree:
    tree = Tree(f"[bold]{escape(item.question_id)}[/] {escape(item.reason or item.standing)}")
    for record in item.extracted:
        box = ", ".join(f"{edge:.0f}" for edge in record.box) if record.box else "not known"
        tree.add(f"printed on page {record.page or 'not known'}, box {box}: {escape(record.text)}")
    for probe in item.probes:
        answers = ", ".join(
            f"{answer.value}: {'not read' if answer.prob is None else f'{answer.prob:.3f}'}" for answer in probe.answers
        )
        tree.add(f"answers, cue {probe.wording + 1}: {answers}")
    for each in item.prompts:
        reading = each.reading
        if reading is None or reading.label_probs is None:
            line = f"[red]{escape(each.problem or (reading and reading.reason) or 'not read')}[/]"
        else:
            probs = zip(each.trial.values, reading.label_probs, strict=True)
            shares = ", ".join(f"{value}: {prob:.3f}" for value, prob in probs)
            line = f"P_valid {reading.p_valid:.3f} ({shares}), key {reading.reading_key}"
        tree.add(f"{escape(each.trial.trial_id)}  {line}").add(escape(each.text or each.trial.prompt))
    return tree


def escape(text: str) -> str:
    """A text in which nothing is markup."""
    return "\n".join(markup.escape(terminal_text(line)) for line in text.split("\n"))
