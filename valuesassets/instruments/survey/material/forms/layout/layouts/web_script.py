"""Web scripts, as EVS prints what a web survey shows: a line `[Q1A][v1]` opens each question.

Below it stand the question, the item in a paragraph of its own where it is one of a list, and the answers, each with
its code behind it: `very important [1]`. In a list of which any number may be ticked an item is one line with its code,
`[Q6A][v22] Heavy drinkers [1]`, and the question stands once, under `[Q6]`. Headings are `[INTRO1]`, `[SECTION2]`, and
what else stands in brackets is for whoever programs the survey.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from valuesassets.instruments.survey.material.forms.layout.blocks import Block, Reading, read_at
from valuesassets.instruments.survey.material.forms.layout.lines import Line, join_lines
from valuesassets.instruments.survey.material.forms.layout.printed_form import Layout, PrintedForm
from valuesassets.instruments.survey.material.forms.layout.scales import answer_values
from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.instruments.survey.material.forms.layout.wording import item_text
from valuesassets.instruments.survey.material.forms.layout.words import Word

HEAD = re.compile(r"[\[({]([^\W\d_]{1,2})(\d{1,3})([^\W\d_]{0,2}\d?)[\])}]")
"""The number of a question in brackets: its letter, its figures, the letter of an item."""
HEADING = re.compile(r"[\[({][^\W\d_]{3,}\d*[\])}]")
ANSWER = re.compile(r"[\[({]0*(\d{1,2})[\])}]")
"""The code of an answer, as it stands behind the label."""
NOTE = re.compile(r"[\[({].*[\])}]\W*")
"""A line in brackets as a whole."""
CLOSED = re.compile(r"[\])}]\W*$")
OPENING, CLOSING = "[({", "])}"
FEWEST_HEADS = 3
SHARE_OF_CODES = 0.5
"""From this share of a form's variable codes on standing behind bracketed numbers, it is a script."""
ANSWERS_EACH = 2
"""A script without variable codes has so many answers to each question at least."""
PARAGRAPH = 0.8
"""Paragraphs are so many heights of a letter apart."""
INDENT = 12.0
"""Over a page break a paragraph ends where the left edge moves by so many points."""
REACH = 0.8
"""A label goes on in lines within so many heights of a letter."""
LEVEL = 0.3
"""Lines are level whose middles are no further apart than so many heights of a letter."""
OVERLAP = 0.2
"""Lines of one cell overlap those of the cell beside it by so many heights of a letter."""
LONGEST_HEADING = 25
"""Words; what is longer under a heading is an introduction."""
TICKED, BLANK = "☑", "☐"
"""What the box of an item says when it was ticked, and when it was not; the form has no words for it."""


@dataclass
class _Answer:
    value: int
    line: Line
    words: list[Word]
    below: list[Word] = field(default_factory=list)


def evidence(form: PrintedForm) -> str | None:
    """Whether bracketed numbers, with the codes of variables behind them, open the questions."""
    heads = [line for line in form.lines if _number(line)]
    if form.codes:
        codes = {line.words[1].code for line in heads if len(line.words) > 1} - {None}
        is_script = len(codes) >= max(FEWEST_HEADS, SHARE_OF_CODES * len(form.codes))
    else:
        heads = [line for line in heads if len(line.words) == 1]
        answers = sum(_answer(line) is not None for line in form.lines)
        is_script = len(heads) >= FEWEST_HEADS and answers >= ANSWERS_EACH * len(heads)
    if not is_script:
        return None
    first = heads[0]
    shown = "".join(word.text for word in first.words[:2])
    return f"{len(heads)} lines begin with a question number in brackets, the first {shown} on page {first.page}"


def divide(form: PrintedForm) -> list[Block]:
    """The blocks of a script in reading order; one without a code introduces those that follow under its number."""
    blocks: list[Block] = []
    heading: list[Line] | None = None
    for line in form.lines:
        number = _number(line)
        if len(line.words) == 1 and HEADING.fullmatch(line.text):
            heading = []
        elif number is not None:
            code = line.words[1].code if len(line.words) > 1 else None
            section = _section(heading) if heading is not None else (blocks[-1].section if blocks else None)
            named = code or (None if form.codes else f"q{number[1:]}".lower())
            blocks.append(Block(number, section, [line], named))
            heading = None
        elif heading is not None:
            heading.append(line)
        elif blocks:
            blocks[-1].lines.append(line)
    return blocks


def read(blocks: Sequence[Block]) -> list[Reading]:
    """The questions of a script in their order."""
    introductions: dict[str, str] = {}
    stems: dict[str, set[tuple[str, ...]]] = {}
    parted = [_parted(block) for block in blocks]
    for block, (texts, _) in zip(blocks, parted, strict=True):
        paragraphs = _paragraphs(texts)
        if _is_item(block.source_id) and len(paragraphs) > 1:
            stem = " ".join(map(_spoken, paragraphs[:-1]))
            stems.setdefault(_base(block.source_id), set()).add(tuple(words_of(stem)))
    readings: list[Reading] = []
    for block, (texts, answers) in zip(blocks, parted, strict=True):
        if not answers and (block.code is None or not block.lines[0].codes):
            introductions[block.source_id] = " ".join(map(_spoken, _paragraphs(texts)))
        else:
            readings.append(_question(block, texts, answers, introductions, stems))
    return readings


def _number(line: Line) -> str | None:
    """The question number in brackets that opens a line, where a variable code or nothing follows it."""
    found = HEAD.fullmatch(line.words[0].text) if line.words[0].code is None else None
    if found is None or not (len(line.words) == 1 or (line.words[1].code and line.words[1].text[-1] in CLOSING)):
        return None
    return "".join(found.groups())


def _is_item(number: str) -> bool:
    return not number[-1].isdigit()


def _base(number: str) -> str:
    return re.sub(r"[^\W\d_]+\d?$", "", number)


def _section(lines: Sequence[Line]) -> str | None:
    text = join_lines([line.words for line in lines])
    return text if 0 < len(text.split()) <= LONGEST_HEADING else None


def _answer(line: Line) -> tuple[int, int] | None:
    """The code of the answer that a line ends with, and the place of its word: nothing but brackets follow it."""
    found = [(place, match) for place, word in enumerate(line.words) if (match := ANSWER.fullmatch(word.text))]
    if not found:
        return None
    place, match = found[-1]
    rest = " ".join(word.text for word in line.words[place + 1 :])
    return (int(match[1]), place) if not rest or NOTE.fullmatch(rest) else None


def _parted(block: Block) -> tuple[list[Line], list[_Answer]]:
    """The lines of a block that ask, and its answers with all of their words."""
    head, *lines = block.lines
    rest = head.without(head.words[: 2 if head.codes else 1])
    texts: list[Line] = []
    answers: list[_Answer] = []
    waiting: list[Line] = []
    for line in _without_notes([*([rest] if rest.words else []), *lines]):
        found = _answer(line)
        if found is None:
            waiting.append(line)
            continue
        value, place = found
        label = [word for word in line.words[:place] if word.code is None]
        above = [
            each for each in waiting if _is_part(each, line, answers) or (not answers and _is_light(each, waiting))
        ]
        _go_on(answers, texts, [each for each in waiting if each not in above])
        answers.append(_Answer(value, line, [*(word for each in above for word in each.words), *label]))
        waiting = []
    _go_on(answers, texts, waiting)
    return texts, answers


def _without_notes(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines without those in brackets as a whole, one or more; what comes first is the question all the same."""
    is_open = False
    for place, line in enumerate(lines):
        if is_open:
            is_open = not CLOSED.search(line.text)
        elif place == 0 or line.text[0] not in OPENING or _answer(line):
            yield line
        elif not NOTE.fullmatch(line.text):
            is_open = not any(bracket in line.text for bracket in CLOSING)
            if not is_open:
                yield line


def _go_on(answers: Sequence[_Answer], texts: list[Line], lines: Sequence[Line]) -> None:
    """Put lines of words where they go on: to the question, to the last answer, or to the one before it.

    A line that stands level with the last answer was printed over it, and goes on with the one before.
    """
    if not answers:
        texts += lines
        return
    last = answers[-1].line
    level = [line for line in lines if line.page == last.page and abs(line.y - last.y) < LEVEL * last.words[0].height]
    answers[-1].below += _words_near([line for line in lines if line not in level], last)
    for answer in answers[-2:-1]:
        answer.below += _words_near(level, answer.line)


def _is_light(text: Line, asked: Sequence[Line]) -> bool:
    """Whether a line is set lighter than the question, which is in bold: then it is the beginning of an answer."""
    return asked[0].is_bold and not text.is_bold and not any(each.is_bold for each in asked[asked.index(text) :])


def _is_part(text: Line, line: Line, answers: Sequence[_Answer]) -> bool:
    """Whether a line of words belongs to the answer that ends below it, not to what stands before."""
    if text.page != line.page:
        return False
    if text.box[3] - line.box[1] > OVERLAP * text.words[0].height:
        return True
    before = answers[-1].line if answers else None
    return before is not None and (before.page != text.page or line.y - text.y < text.y - before.y)


def _words_near(texts: Sequence[Line], line: Line) -> list[Word]:
    """The words of lines that go on from a line, each next to the one before."""
    words: list[Word] = []
    for text in texts:
        if text.page != line.page or text.box[1] - line.box[3] > REACH * text.words[0].height:
            break
        words += text.words
        line = text
    return words


def _paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    paragraphs: list[list[Line]] = []
    for line in lines:
        last = paragraphs[-1][-1] if paragraphs else None
        if last is None:
            is_new = True
        elif last.page != line.page:
            is_new = abs(last.box[0] - line.box[0]) > INDENT
        else:
            is_new = line.box[1] - last.box[3] > PARAGRAPH * line.words[0].height
        if is_new:
            paragraphs.append([])
        paragraphs[-1].append(line)
    return paragraphs


def _spoken(paragraph: Sequence[Line]) -> str:
    """A paragraph as it is said: without the brackets around a text that has been shown before."""
    text = join_lines([line.words for line in paragraph])
    return text.strip("[]({}) ") if NOTE.fullmatch(text) else text


def _question(
    block: Block,
    texts: Sequence[Line],
    answers: Sequence[_Answer],
    introductions: Mapping[str, str],
    stems: Mapping[str, set[tuple[str, ...]]],
) -> Reading:
    code = next(iter(block.lines[0].codes), None)
    introduction = introductions.get(_base(block.source_id), "")
    if len(answers) == 1 and answers[0].line.words[-1] in block.lines[0].words:  # a box to tick
        (answer,) = answers
        item = item_text(" ".join(word.text for word in (*answer.words, *answer.below)))
        options = [(answer.value, TICKED), (answer.value + 1, BLANK)]
        return read_at(block, code, block.lines[:1], introduction, item, options)
    stem, item = _stem_and_item(block.source_id, texts, introduction, stems.get(_base(block.source_id), set()))
    kept = answer_values([answer.value for answer in answers])
    labels = _labels(answers)
    options = [(value, labels[value]) for value in dict.fromkeys(kept)]
    lines = [block.lines[0], *texts, *(answer.line for answer in answers)]
    return read_at(block, code, lines, stem, item, options)


def _stem_and_item(
    number: str, texts: Sequence[Line], introduction: str, stems: set[tuple[str, ...]]
) -> tuple[str, str | None]:
    """What a question shares with its list, and what it alone asks; a question of no list has no item."""
    paragraphs = _paragraphs(texts)
    if not _is_item(number) or not paragraphs:
        return " ".join(map(_spoken, paragraphs)), None
    if len(paragraphs) == 1:
        (lines,) = paragraphs
        ends = [n for n in range(1, len(lines)) if tuple(words_of(_spoken(lines[:n]))) in stems]
        if ends:
            return _spoken(lines[: ends[-1]]), item_text(_spoken(lines[ends[-1] :]))
        return (introduction, item_text(_spoken(lines))) if introduction else (_spoken(lines), None)
    return " ".join(map(_spoken, paragraphs[:-1])), item_text(_spoken(paragraphs[-1]))


def _labels(answers: Sequence[_Answer]) -> dict[int, str]:
    """Label by code, without the figures of a scale that stand in a column of their own before the codes."""
    figures = [answer.words[-1] for answer in answers if answer.words and answer.words[-1].text == str(answer.value)]
    span = (0.0, 0.0)
    if len(figures) * 2 > len(answers):
        span = min(word.box[0] for word in figures), max(word.box[2] for word in figures)
    labels: dict[int, str] = {}
    for answer in answers:
        words = [
            word.text
            for word in (*answer.words, *answer.below)
            if not (word.text.isdigit() and span[0] <= word.x <= span[1])
        ]
        labels.setdefault(answer.value, item_text(" ".join(words)))
    return labels


LAYOUT = Layout(
    "web_script",
    "a line such as [Q1A][v1], the question below it, and answers with their codes behind them: very important [1]",
    evidence,
    divide,
    read,
)
