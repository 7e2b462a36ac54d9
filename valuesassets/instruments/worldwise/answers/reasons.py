"""Reads what models wrote about dilemmas: the decision, the ticked values and the reason.

Nothing is guessed: an answer that can be read in two ways is `unparsed`, with the reason, and stays in the table.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from valuesassets.answers.spoken_language import foreign_language
from valuesassets.answers.text_faults import echo, has_words, repetition
from valuesassets.instruments.worldwise.tables import REASONS
from valuesassets.records.ends import end_of
from valuesassets.records.frames import rows
from valuesassets.records.trials import Answer, Status

OK, DECLINED, REFUSED, FILTERED = "ok", "declined", "refused", "filtered"
LOOP, TRUNCATED, UNPARSED, FAILED, NOT_ASKED = "loop", "truncated", "unparsed", "failed", "not_asked"
STATUSES = (OK, DECLINED, REFUSED, FILTERED, LOOP, TRUNCATED, UNPARSED, FAILED, NOT_ASKED)
DECIDE, OPEN, ADVOCATE = ("decide", "open", "advocate")
FIELDS = DECISION, VALUES, REASON = ("DECISION", "VALUES", "REASON")
NEITHER = "neither"
LACKING = "nothing stands behind"
FEWEST_LETTERS = 40
"""The language of a shorter text is not judged."""
OTHER_LANGUAGES = ("ara", "deu", "eng", "fra", "hin", "ind", "ita", "jpn", "kor", "nld", "pol", "por", "rus", "spa")
OTHER_LANGUAGES += ("tur", "ukr", "vie", "zho")
"""Languages that an answer in the wrong language is compared with."""
CUT = "the answer ended for its length"
FILTER_END, REFUSAL_END = "content_filter", "refusal"
"""Finish reasons: the provider stopped the answer, or the model itself refused."""
MODEL_REFUSED = "the model refused"
"""Beginning of the reason of a refusal by the model itself, as its interface words it."""
REFUSAL = re.compile(
    r"\bas an? (?:ai|(?:large )?language model)\b"
    r"|\bI(?: can(?:no|['’])t| can not| won['’]t| will not|(?: am|['’]m) (?:unable|not able) to| must decline to) "
    r"(?:assist|comply|fulfill?|respond to|role-?play|help (?:you )?with (?:this|that|your)"
    r"|answer (?:this|that|your|the question)|(?:provide|give|offer) (?:you )?an? (?:answer|opinion|personal))",
    re.IGNORECASE,
)
"""Words of a model that does not answer; `I can't help my brother` and `I can't accept` are answers."""
_MARKS = re.compile(r"[*_`#]+")
_BULLET_MARK = r"\s*(?:[-•>–]|\(?\d{1,2}[.)])\s*"
_FIELD = re.compile(rf"^(?:{_BULLET_MARK})?\s*({'|'.join(FIELDS)})\s*:\s*", re.IGNORECASE | re.MULTILINE)
_INLINE = re.compile(rf"[ \t;|/]+(?=(?:{'|'.join(FIELDS)})\s*:)")
_LETTER = re.compile(r"(?:(?:option|answer|choice)\s+)?\(?([ab])(?:\)|[.:;,)–-]|$)[\s.:;,)–-]*(.*)", re.IGNORECASE)
_LABELLED = re.compile(r"(?:option|answer|choice)\s+([ab])\b[\s.:;,)–-]*(.*)|([ab])\s+(.+)", re.IGNORECASE)
_OTHER = re.compile(r"\b(?:A|B|NEITHER|[Bb]oth|[Nn]either)\b")


@dataclass(frozen=True)
class Request:
    """A prompt, and the facts that its answer is read with.

    Attributes:
        order: forward or reversed; None without options.
        options: the texts behind A and B; empty without options.
        poles: the poles of A and B; of an advocate the one to argue for.
        values: the values that may be ticked.
        wording: number of the persona line.
        language: ISO 639-3.
    """

    trial_id: str
    prompt: str
    scenario_id: str
    axis: str
    culture: str
    form: str
    order: str | None = None
    options: tuple[str, ...] = ()
    poles: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    wording: int = 0
    language: str = "eng"

    @property
    def pole(self) -> str | None:
        """The pole that an advocate argues for."""
        return self.poles[0] if self.form == ADVOCATE else None


@dataclass(frozen=True)
class Reply:
    """The reply to a prompt: a text, or why there is none.

    Attributes:
        draw: number of the reply among those to the same prompt, from 0.
        failure: why there is no text.
        is_asked: whether the prompt was asked at all.
        counts: `prompt_tokens`, `output_tokens`, `cost_usd`, as far as they are known.
    """

    draw: int
    text: str | None = None
    finish_reason: str | None = None
    failure: str | None = None
    is_asked: bool = True
    counts: Mapping[str, float] | None = None


def reply_of(answer: Answer, **counts: float | None) -> Reply:
    """The answer of a node job or an API as a reply; counts, such as `cost_usd`, are kept where they are known."""
    finish: str | None = answer.finish
    if answer.status is Status.REFUSED:
        finish = REFUSAL_END if (answer.reason or "").startswith(MODEL_REFUSED) else FILTER_END
    every_count = counts | {"output_tokens": answer.n_tokens}
    known_counts = {name: count for name, count in every_count.items() if count is not None}
    return Reply(answer.sample, answer.text, finish, failure=answer.reason, counts=known_counts)


def derive_reasons(answers: Iterable[tuple[Request, Reply]]) -> pd.DataFrame:
    """The table `reasons`: a row for each reply, whatever its status."""
    return REASONS.frame([_row(request, reply) for request, reply in answers])


def unasked(reasons: pd.DataFrame) -> pd.DataFrame:
    """The rows of requests that were not asked, or failed."""
    return rows(reasons, reasons["status"].isin([FAILED, NOT_ASKED]))


def unread(reasons: pd.DataFrame) -> pd.DataFrame:
    """The rows of answers that exist and cannot be read."""
    return rows(reasons, reasons["status"].isin([LOOP, TRUNCATED, UNPARSED]))


def share_read(reasons: pd.DataFrame) -> float:
    """Share of readable answers among those that exist and that nobody refused; 1 without any."""
    n_read, n_unread = int(reasons["status"].isin([OK, DECLINED]).sum()), len(unread(reasons))
    return n_read / (n_read + n_unread) if n_read + n_unread else 1.0


def parse_answer(reply: Reply, request: Request) -> dict[str, Any]:
    """`status`, `reason`, `decision` (a pole), `values`, `unknown_values` (not listed) and `explanation` of an answer.

    Fields are read if the form is `decide`; the text is taken whole otherwise. A decision exists only if the status is
    ok, and nothing but the reason if it is neither ok nor declined.
    """
    end, text = end_of(reply.finish_reason), (reply.text or "").strip()
    if not reply.is_asked:
        return _unread(NOT_ASKED, reply.failure or "the prompt was not asked")
    if end == "filter":
        return _unread(FILTERED, reply.failure or f"the answer was filtered: {reply.finish_reason}")
    if end == "refusal":
        return _unread(REFUSED, reply.failure or MODEL_REFUSED)
    if reply.failure is not None:
        return _unread(FAILED, reply.failure)
    is_cut = end == "length"
    if not text:  # cut before its first word, as by a model that thinks first, or nothing at all
        return _unread(TRUNCATED, CUT) if is_cut else _unread(UNPARSED, "the answer is empty")
    if circles := repetition(text):
        return _unread(LOOP, f"the answer goes round in circles: {circles}")
    if request.form != DECIDE:
        if fault := _fault(text, request):
            return _unread(UNPARSED, fault)
        if is_cut:
            return _unread(TRUNCATED, CUT)
        return _unread(REFUSED, _refusal(text)) if _is_refusal(text) else _read(OK, explanation=text)
    outcome = _parse_fields(text, request)
    if is_cut and outcome["status"] != REFUSED:
        # A longer answer would be no better where the first line, a decision, is not there.
        if outcome["status"] == UNPARSED and not outcome["reason"].startswith(LACKING):
            return outcome | {"reason": f"{outcome['reason']}; {CUT}"}
        return _unread(TRUNCATED, CUT)
    return outcome


def _fault(text: str, request: Request) -> str | None:
    """A fault that can be seen without reading the text; whether it is on its topic cannot."""
    if not has_words(text):
        return "the answer holds no word"
    if passage := echo(text, [request.prompt]):
        return f"the answer is an echo: {passage}"
    other = foreign_language(text, request.language, OTHER_LANGUAGES, FEWEST_LETTERS)
    return f"the answer is in {other}, {request.language} was asked" if other else None


def _row(request: Request, reply: Reply) -> dict[str, Any]:
    of_prompt = {name: getattr(request, name) for name in REASONS.names if hasattr(request, name) and name != "values"}
    of_answer = {"draw": reply.draw, "text": reply.text, "finish_reason": reply.finish_reason}
    return of_prompt | of_answer | dict(reply.counts or {}) | parse_answer(reply, request)


def _parse_fields(text: str, request: Request) -> dict[str, Any]:
    """The outcome of an answer to the form `decide`."""
    fields = _fields(text)
    if DECISION not in fields and VALUES in fields:
        # In bare text the prompt ends in the name of the first field, which the answer goes on from.
        completed = _fields(f"{DECISION}: {text}")
        if _decision(completed[DECISION][0].split("\n")[0].strip(), request) is not None:
            fields = completed
    if DECISION not in fields and _is_refusal(text):
        return _unread(REFUSED, _refusal(text))
    several = [name for name in fields if len({" ".join(each.casefold().split()) for each in fields[name]}) > 1]
    if several:
        return _unread(UNPARSED, f"{several[0]} stands there more than once, and differs")
    if DECISION not in fields:
        return _unread(UNPARSED, "no line DECISION")
    first_line = fields[DECISION][0].split("\n")[0].strip()
    pole = _decision(first_line, request)
    if pole is None:
        return _unread(UNPARSED, f"DECISION: {first_line!r} found, A, B or NEITHER was expected")
    listed, others = _ticked(fields.get(VALUES, [""])[0], request.values)
    explanation = fields.get(REASON, [""])[0]
    if pole == NEITHER:
        return _read(DECLINED, None, listed, others, explanation or None) | {"reason": "the model takes neither option"}
    missing = [name for name, is_there in ((VALUES, listed or others), (REASON, explanation)) if not is_there]
    if missing:
        return _unread(UNPARSED, f"{LACKING} {' and '.join(missing)}")
    return _read(OK, pole, listed, others, explanation)


def _fields(text: str) -> dict[str, list[str]]:
    """The contents behind each field's name, one for each time that the name occurs."""
    plain = _INLINE.sub("\n", _MARKS.sub("", text))
    contents: dict[str, list[str]] = {}
    pieces = _FIELD.split(plain)[1:]
    for name, content in zip(pieces[::2], pieces[1::2], strict=True):
        contents.setdefault(name.upper(), []).append(content.strip())
    return contents


def _decision(text: str, request: Request) -> str | None:
    """The pole of a decision, or `neither`; None if it is not clear."""
    plain = _plain(text)
    by_option = [place for place, option in enumerate(request.options) if plain == _plain(option)]
    if len(by_option) == 1:
        return request.poles[by_option[0]]
    if re.fullmatch(r"neither(?: of (?:them|the two|these|both)| option| a nor b)?", plain):
        return NEITHER
    if match := _LETTER.fullmatch(text):
        letter, rest, is_free = match[1], match[2], True
    elif match := _LABELLED.fullmatch(text):
        letter, rest, is_free = match[1] or match[3], match[2] or match[4] or "", bool(match[1])
    else:
        return None
    place = "ab".index(letter.lower())
    behind = _plain(rest)
    if not behind or behind == _plain(request.options[place]):
        return request.poles[place]
    # "A difficult choice" begins with no letter of an option, and "A, or B" names two.
    is_other = _OTHER.search(rest) or any(_plain(each) in behind for each in request.options)
    return request.poles[place] if is_free and not is_other else None


def _ticked(text: str, listed: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Ticked values of the list, as it spells them, and others; each once, in the order of the answer."""
    spelled = {_plain(value): value for value in listed}
    pieces = re.split(r"[;\n]", text)
    if len(pieces) == 1 and _plain(text) not in spelled:
        pieces = text.split(",")
    ticked = dict.fromkeys(
        each
        for piece in pieces
        if (each := re.sub(r"^and\s+", "", re.sub(f"^{_BULLET_MARK}", "", piece).strip(" \t.,[]\"'")))
    )
    in_list = dict.fromkeys(spelled[_plain(each)] for each in ticked if _plain(each) in spelled)
    return list(in_list), [each for each in ticked if _plain(each) not in spelled]


def _plain(text: str) -> str:
    """The words alone, without case."""
    return " ".join(re.findall(r"[\w'’-]+", text.casefold()))


def _is_refusal(text: str) -> bool:
    return REFUSAL.search(_first_sentences(text)) is not None


def _refusal(text: str) -> str:
    return f"the model does not answer: {_first_sentences(text)[:80]!r}"


def _first_sentences(text: str) -> str:
    """The first two sentences, in which a refusal occurs."""
    return " ".join(re.split(r"(?<=[.!?])\s+", text.strip())[:2])


def _read(
    status: str,
    decision: str | None = None,
    values: list[str] | None = None,
    unknown: list[str] | None = None,
    explanation: str | None = None,
) -> dict[str, Any]:
    lists = {"values": values or [], "unknown_values": unknown or []}
    return {"status": status, "reason": None, "decision": decision, "explanation": explanation} | lists


def _unread(status: str, reason: str) -> dict[str, Any]:
    return _read(status) | {"reason": reason}
