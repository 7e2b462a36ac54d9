"""`Task`, an extraction with its kept answers, and `GeminiPlan`, the requests still to be sent."""

import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic
import pypdfium2

from valuesassets.instruments.survey.material.forms.form_pictures import drawn_from
from valuesassets.instruments.survey.material.forms.gemini import request
from valuesassets.instruments.survey.material.questionnaire_pdf import count_pages
from valuesassets.records.errors import PdfError
from valuesassets.records.files import no_such_file, sha256_file, sha256_json
from valuesassets.records.settings.questionnaires import GeminiSettings
from valuesassets.remote.answer_cache import find_answer, keep_answer
from valuesassets.remote.cost import Usage

DPI = 144  # of the pictures of pages
TOKENS_PER_PAGE, TOKENS_PER_IMAGE = 560, 1120
"""For a page of a PDF and for a picture: Gemini 3 at its default media resolution (Gemini 2: 258 for a page).
Source: docs.cloud.google.com, Gemini 3 Flash, technical specifications."""
CHARACTERS_PER_TOKEN = 4
OUTPUT_TOKENS_PER_FORM = 35_000
"""Answers for an EVS 2017 form, about 100,000 characters in real extractions, without thoughts."""


@dataclass(frozen=True)
class Task:
    """The extraction of one language (ISO 639-3) of a form.

    Attributes:
        cache: folder of the kept answers.
        identity: everything that an answer depends on, except the pages.
    """

    pdf: Path
    pages: int
    language: str
    settings: GeminiSettings
    cache: Path
    identity: dict[str, Any]

    def find(self, pages: request.PageRange) -> request.Answer | None:
        """The kept answer for these pages; None if there is none, or its file is damaged."""
        record = find_answer(self._path(pages), self._key(pages))
        try:
            return None if record is None else request.Answer.model_validate(record)
        except pydantic.ValidationError:
            return None

    def keep(self, pages: request.PageRange, answer: request.Answer) -> None:
        """Write an answer for `find`; raises `StorageError` if that fails."""
        keep_answer(self._path(pages), self._key(pages), answer.model_dump(mode="json"))

    def parts(self, pages: request.PageRange) -> Iterator[tuple[request.PageRange, request.Answer | None]]:
        """The parts in which these pages are requested, each with its kept answer or None."""
        kept = self.find(pages)
        if kept is None or kept.unfinished is None:
            yield pages, kept
            return
        for half in pages.halves():
            yield from self.parts(half)

    def page_images(self, pages: request.PageRange) -> list[tuple[int, bytes]]:
        """The pictures (PNG, grey) of these pages and the next one, where a question may continue, by page.

        Raises:
            PdfError: a page cannot be drawn.
        """

        def draw(document: pypdfium2.PdfDocument) -> list[tuple[int, bytes]]:
            drawn = []
            for number in range(pages.first, min(pages.last + 1, self.pages) + 1):
                page = document[number - 1].render(scale=DPI / 72, grayscale=True)  # type: ignore[arg-type]
                buffer = io.BytesIO()
                page.to_pil().save(buffer, "PNG")
                drawn.append((number, buffer.getvalue()))
            return drawn

        return drawn_from(self.pdf, draw)

    def _path(self, pages: request.PageRange) -> Path:
        name = f"{self.language}-{sha256_json(self.identity)[:16]}"
        return self.cache / name / f"pages-{pages.first:03}-{pages.last:03}.json"

    def _key(self, pages: request.PageRange) -> list[Any]:
        return [self.identity, pages.first, pages.last]


def extraction_task(pdf: Path, language: str, settings: GeminiSettings, cache: Path) -> Task:
    """The task for a form; raises `StudyError` if the prompt cannot name the language."""
    request.language_name(language)
    if not pdf.is_file():
        raise PdfError(no_such_file(pdf))
    identity = {
        "pdf_sha256": sha256_file(pdf),
        "language": language,
        "model": settings.model,
        "prompt_version": request.prompt_version(),
        "page_images": settings.use_page_images,
    }
    return Task(pdf, count_pages(pdf, str(pdf)), language, settings, cache, identity)


@dataclass(frozen=True)
class GeminiPlan:
    """The requests of an extraction; tokens and cost are estimates.

    Attributes:
        requests: pages of each request; incomplete answers need more requests.
        kept: pages with kept answers.
        prompt: of the first request; empty without one.
        bytes_to_send: of the PDF, or of the pictures of its pages.
    """

    model: str
    requests: tuple[request.PageRange, ...]
    kept: tuple[request.PageRange, ...]
    prompt: str
    bytes_to_send: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    def __str__(self) -> str:
        if not self.requests:
            return "nothing is sent: every answer was kept"
        cost = "at unknown prices" if self.cost_usd is None else f"about {self.cost_usd:.2f} USD"
        return (
            f"{len(self.requests)} requests to {self.model} ({', '.join(map(str, self.requests))}), "
            f"{self.bytes_to_send / 1e6:.1f} MB; an estimate: {self.input_tokens} tokens sent, {self.output_tokens} "
            f"received, thoughts not counted, {cost}"
        )


def plan_extraction(pdf: Path, language: str, settings: GeminiSettings, cache: Path) -> GeminiPlan:
    """The requests of `extract_with_gemini`, with the same arguments and errors; no key is needed."""
    task = extraction_task(pdf, language, settings, cache)
    parts = [part for each in request.page_ranges(task.pages, settings.pages_per_request) for part in task.parts(each)]
    requests = [pages for pages, answer in parts if answer is None]
    read = itertools.takewhile(lambda part: part[1] is not None, parts)
    rows = [row for _, answer in read if answer is not None for row in answer.rows]
    prompt = request.prompt_text(language, requests[0], task.pages, rows[-1] if rows else None) if requests else ""
    kept = [pages for pages, answer in parts if answer is not None]
    tokens, size = _material_size(task, requests)
    input_tokens = tokens + len(requests) * len(prompt) // CHARACTERS_PER_TOKEN
    output_tokens = OUTPUT_TOKENS_PER_FORM * sum(pages.count for pages in requests) // task.pages
    cost_usd = Usage(prompt_tokens=input_tokens, output_tokens=output_tokens).cost_usd(settings.prices)
    return GeminiPlan(settings.model, tuple(requests), tuple(kept), prompt, size, input_tokens, output_tokens, cost_usd)


def _material_size(task: Task, requests: list[request.PageRange]) -> tuple[int, int]:
    """Tokens and bytes of the PDF, which every request refers to, or of the pictures of its pages."""
    if not task.settings.use_page_images:
        return len(requests) * task.pages * TOKENS_PER_PAGE, task.pdf.stat().st_size if requests else 0
    pictures = [png for pages in requests for _, png in task.page_images(pages)]
    return len(pictures) * TOKENS_PER_IMAGE, sum(map(len, pictures))
