"""Extracts the questions of a form with Gemini, one range of pages after the other."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valuesassets.instruments.survey.material.forms.gemini.request import (
    Answer,
    AnsweredQuestions,
    PageRange,
    QuestionRow,
    page_ranges,
    prompt_text,
    read_answer,
)
from valuesassets.instruments.survey.material.forms.gemini.task import Task, extraction_task
from valuesassets.records.errors import PdfError
from valuesassets.records.settings.endpoints import GEMINI_KEY
from valuesassets.records.settings.questionnaires import GeminiSettings
from valuesassets.remote.client import Client
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import Asker, WrongAnswer, one_line
from valuesassets.remote.gemini import GeminiService, parsing, usage_of

if TYPE_CHECKING:
    from google import genai
    from google.genai.types import File, Part

POLLS, POLL_PAUSE_S = 60, 2.0  # requests for the state of an uploaded PDF, and the pause between them
DELETE_TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class GeminiExtraction:
    """The questions of a form as Gemini read them.

    Attributes:
        rows: the answers in page order, not normalised, with the keys of `QuestionRow`.
        usage: of this call.
        cost_usd: of this call, at most.
        paid_before: usage of the answers kept from earlier calls.
        notes: for a person, such as pages that were asked for in parts.
    """

    rows: list[dict[str, Any]]
    usage: Usage
    cost_usd: float | None
    paid_before: Usage
    notes: tuple[str, ...]


def extract_with_gemini(
    pdf: Path,
    language: str,
    settings: GeminiSettings,
    *,
    cache: Path,
    on_page: Callable[[int, int], None] | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> GeminiExtraction:
    """Extract the questions of a form in one language; each answer is kept at once, so that nothing is paid for twice.

    Args:
        language: ISO 639-3.
        cache: folder of the kept answers.
        on_page: called with (pages read, pages in all) after each range of pages.

    Raises:
        InputError: no key in GEMINI_API_KEY, a key that Gemini refuses, or an unknown model.
        PdfError: not a readable PDF, no answer of Gemini, or pages that it cannot read.
        StudyError: the language has no known English name.
        StorageError: an answer cannot be written.
    """
    task = extraction_task(pdf, language, settings, cache)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(contextlib.closing(form_client(pdf, settings, pause)))
        material = Material(task, client)
        stack.callback(material.take_away)
        reading = _Reading(task, client, material)
        for pages in page_ranges(task.pages, settings.pages_per_request):
            reading.read(pages)
            if reading.unreadable:
                raise PdfError(
                    f"{pdf}: {'; '.join(reading.unreadable)}; the answers for other pages are kept: have the page "
                    "images sent, name another model, or use the layout extractor"
                )
            if on_page:
                on_page(pages.last, task.pages)
        left_behind = material.take_away()
    notes = (*reading.notes, left_behind) if left_behind else tuple(reading.notes)
    rows = [row.model_dump(mode="json") for row in reading.rows]
    return GeminiExtraction(rows, reading.usage, reading.usage.cost_usd(settings.prices), reading.paid_before, notes)


def form_client(pdf: Path, settings: GeminiSettings, pause: Callable[[float], None]) -> Client:
    """The client for requests about a form."""
    asker = Asker(
        where=str(pdf),
        noun="extractor",
        instead=", or use the layout extractor",
        again="what was answered so far is kept: run it again",
        error=PdfError,
    )
    return Client(GeminiService(), settings.model, settings, asker, pause, key_env=GEMINI_KEY)


class Material:
    """The PDF or page images of a form's prompts; the first prompt uploads the PDF to Google's Files API."""

    def __init__(self, task: Task, client: Client):
        self._task, self._client = task, client
        self._name: str | None = None
        self._pdf: Part | None = None

    def parts(self, pages: PageRange) -> "list[Part]":
        """The whole PDF, or pictures of these pages and the next one, each under its page number.

        Raises:
            InputError: as `Client.send`.
            PdfError: the PDF cannot be uploaded or read in, or a page cannot be drawn.
        """
        from google.genai.types import Part

        if self._task.settings.use_page_images:
            parts: list[Part] = []
            for number, png in self._task.page_images(pages):
                parts += [Part.from_text(text=f"Page {number}:"), Part.from_bytes(data=png, mime_type="image/png")]
            return parts
        if self._pdf is None:
            file = self._read_in(self._client.send("upload", self._upload))
            self._pdf = Part.from_uri(file_uri=file.uri or "", mime_type="application/pdf")
        return [self._pdf]

    def take_away(self) -> str | None:
        """Delete the uploaded copy; returns a note if that fails."""
        name, self._name = self._name, None
        config = {"http_options": {"timeout": DELETE_TIMEOUT_MS}}
        if name is None or self._client.try_once(lambda sdk: sdk.files.delete(name=name, config=config)):  # type: ignore[arg-type]
            return None
        return f"the uploaded copy ({name}) could not be deleted; Gemini deletes it by itself after two days"

    def _upload(self, sdk: "genai.Client") -> "File":
        # With a path the SDK would send the file's name, which may not be ASCII.
        with open(self._task.pdf, "rb") as stream, parsing():
            file = sdk.files.upload(file=stream, config={"mime_type": "application/pdf"})
        if not (file.name and file.uri):
            raise WrongAnswer("the uploaded file was given no name")
        self._name = file.name
        return file

    def _read_in(self, file: "File") -> "File":
        name = file.name or ""
        for _ in range(POLLS):
            state = file.state.name if file.state else None
            if state == "ACTIVE":
                return file
            if state == "FAILED":
                why = self._client.masked(one_line((file.error and file.error.message) or "no reason given"))
                raise PdfError(
                    f"{self._task.pdf}: Gemini cannot read the PDF in ({why}); print it to a new PDF, or have the "
                    "page images sent"
                )
            self._client.pause(POLL_PAUSE_S)
            file = self._client.send("upload", lambda sdk: _file(sdk, name))
        raise PdfError(
            f"{self._task.pdf}: Gemini has not read the PDF in after {POLLS * POLL_PAUSE_S:.0f} s; try again later, or "
            "have the page images sent"
        )


def _file(sdk: "genai.Client", name: str) -> "File":
    with parsing():
        return sdk.files.get(name=name)


class _Reading:
    """The state of an extraction."""

    def __init__(self, task: Task, client: Client, material: Material):
        self._task, self._client, self._material = task, client, material
        self.unreadable: list[str] = []
        self.rows: list[QuestionRow] = []
        self.notes: list[str] = []
        self.usage, self.paid_before = Usage(), Usage()

    def read(self, pages: PageRange) -> None:
        """Read the questions of these pages, in two parts if the answer for all of them is incomplete."""
        answer = self._task.find(pages)
        if answer is not None:
            self.paid_before += answer.usage
        else:
            answer = self._ask(pages)
        if answer.unfinished is None:
            self.rows.extend(answer.rows)
            # A grid that begins on the last page may continue on the next one.
            strays = [row.id for row in answer.rows if not pages.first <= row.page <= pages.last + 1]
            if strays:
                self.notes.append(f"{pages}: questions said to stand on other pages: {', '.join(strays)}")
        elif pages.is_single:
            self.unreadable.append(f"{pages}: {answer.unfinished}")
        else:
            self.notes.append(f"{pages} were asked for in two parts: {answer.unfinished}")
            for half in pages.halves():
                self.read(half)

    def _ask(self, pages: PageRange) -> Answer:
        """Request the answer for these pages and keep it, except an incomplete answer for a single page."""
        prompt = prompt_text(self._task.language, pages, self._task.pages, self.rows[-1] if self.rows else None)
        contents = [*self._material.parts(pages), prompt]
        used = Usage()

        def request(sdk: "genai.Client") -> Answer:
            nonlocal used
            used += Usage(requests=1)
            with parsing():
                response = sdk.models.generate_content(
                    model=self._task.settings.model,
                    contents=contents,  # type: ignore[arg-type]  # a list of parts and text
                    config={
                        "temperature": 0,
                        "response_mime_type": "application/json",
                        "response_schema": AnsweredQuestions,
                        "automatic_function_calling": {"disable": True},
                        "automatic_continuation": False,
                    },
                )
                used += usage_of(response)
                return read_answer(response)

        answer = self._client.send(str(pages), request).model_copy(update={"usage": used})
        self.usage += used
        if answer.unfinished is None or not pages.is_single:
            self._task.keep(pages, answer)
        return answer
