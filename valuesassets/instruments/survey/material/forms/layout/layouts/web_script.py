"""Web scripts, as EVS prints its web surveys: a line `[Q1A][v1]` opens each question.

Below it are the question, the item of a list in a paragraph of its own, and the answers, each before its code:
`very important [1]`. In a list to tick, an item is one line with its code, `[Q6A][v22] Heavy drinkers [1]`, and the
question is printed once, under `[Q6]`. Headings are `[INTRO1]`, `[SECTION2]`; other brackets are for the programmer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from valuesassets.instruments.survey.material.forms.layout.blocks import Block, Reading, read_at
from valuesassets.instruments.survey.material.forms.layout.form_lines import PrintedForm
from valuesassets.instruments.survey.material.forms.layout.lines import Line, join_lines
from valuesassets.instruments.survey.material.forms.layout.scales import answer_values
from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.instruments.survey.material.forms.layout.wording import item_text
from valuesassets.instruments.survey.material.forms.layout.words import Word

HEAD = re.compile(r"[\[({]([^\W\d_]{1,2})(\d{1,3})([^\W\d_]{0,2}\d?)[\])}]")
"""The number of a question in brackets: its letter, its figures, the letter of an item."""
HEADING = re.compile(r"[\[({][^\W\d_]{3,}\d*[\])}]")
ANSWER = re.compile(r"[\[({]0*(\d{1,2})[\])}]")  # the code of an answer, after the label
NOTE = re.compile(r"[\[({].*[\])}]\W*")  # a whole line in brackets
CLOSED = re.compile(r"[\])}]\W*$")
OPENING, CLOSING = "[({", "])}"
FEWEST_HEADS = 3
SHARE_OF_CODES = 0.5  # least share of a script's variable codes that follow a bracketed number
ANSWERS_EACH = 2  # least answers per question of a script without variable codes
# The next lengths are in heights of a letter, INDENT in points.
PARAGRAPH = 0.8  # least distance between paragraphs
INDENT = 12.0  # least move of the left edge that ends a paragraph at a page break
REACH = 0.8  # most distance between lines of one label
LEVEL = 0.3  # most distance between the middles of level lines
OVERLAP = 0.2  # least overlap of lines of neighbouring cells
LONGEST_HEADING = 25  # words; longer text under a heading is an introduction
TICKED, BLANK = "☑", "☐"  # the two answers of a box to tick, for which the form has no words


@dataclass
class _Answer:
    value: int
    line: Line
    words: list[Word]
    below: list[Word] = field(default_factory=list)


def evidence(form: PrintedForm) -> str | None:
    """The evidence that bracketed numbers with variable codes open the questions, in words; else None."""
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
    example = "".join(word.text for word in first.words[:2])
    return f"{len(heads)} lines begin with a question number in brackets, the first {example} on page {first.page}"


def divide(form: PrintedForm) -> list[Block]:
    """The blocks of a script in reading order; a block without a code introduces those under its number."""
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
    """The questions of a script in order."""
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
    """The bracketed question number at the beginning of a line, before a variable code or nothing."""
    match = HEAD.fullmatch(line.words[0].text) if line.words[0].code is None else None
    if match is None or not (len(line.words) == 1 or (line.words[1].code and line.words[1].text[-1] in CLOSING)):
        return None
    return "".join(match.groups())


def _is_item(number: str) -> bool:
    return not number[-1].isdigit()


def _base(number: str) -> str:
    return re.sub(r"[^\W\d_]+\d?$", "", number)


def _section(lines: Sequence[Line]) -> str | None:
    text = join_lines([line.words for line in lines])
    return text if 0 < len(text.split()) <= LONGEST_HEADING else None


def _answer(line: Line) -> tuple[int, int] | None:
    """The code of the answer at the end of a line, and the place of its word; only brackets may follow."""
    matches = [(place, match) for place, word in enumerate(line.words) if (match := ANSWER.fullmatch(word.text))]
    if not matches:
        return None
    place, match = matches[-1]
    rest = " ".join(word.text for word in line.words[place + 1 :])
    return (int(match[1]), place) if not rest or NOTE.fullmatch(rest) else None


def _parted(block: Block) -> tuple[list[Line], list[_Answer]]:
    """The lines of a block's question, and its answers with all of their words."""
    head, *lines = block.lines
    rest = head.without(head.words[: 2 if head.codes else 1])
    texts: list[Line] = []
    answers: list[_Answer] = []
    waiting: list[Line] = []
    for line in _without_notes([*([rest] if rest.words else []), *lines]):
        answer = _answer(line)
        if answer is None:
            waiting.append(line)
            continue
        value, place = answer
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
    """The lines without notes in brackets of one or more lines; the first line always belongs to the question."""
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
    """Add lines of words to the question, to the last answer, or to the answer before it.

    A line level with the last answer continues the answer before it.
    """
    if not answers:
        texts += lines
        return
    last = answers[-1].line
    level = [line for line in lines if line.page == last.page and abs(line.y - last.y) < LEVEL * last.words[0].height]
    answers[-1].below += _words_near([line for line in lines if line not in level], last)
    for answer in answers[-2:-1]:
        answer.below += _words_near(level, answer.line)


def _is_light(text: Line, lines: Sequence[Line]) -> bool:
    """Whether a line after a question in bold is not bold, and so begins an answer."""
    return lines[0].is_bold and not text.is_bold and not any(each.is_bold for each in lines[lines.index(text) :])


def _is_part(text: Line, line: Line, answers: Sequence[_Answer]) -> bool:
    """Whether a line of words belongs to the answer below it."""
    if text.page != line.page:
        return False
    if text.box[3] - line.box[1] > OVERLAP * text.words[0].height:
        return True
    before = answers[-1].line if answers else None
    return before is not None and (before.page != text.page or line.y - text.y < text.y - before.y)


def _words_near(texts: Sequence[Line], line: Line) -> list[Word]:
    """The words of lines that continue a line without a gap."""
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
    """The text of a paragraph, without the brackets around a repeated text."""
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
    """The stem that a question shares with its list, and its own item; a question outside lists has no item."""
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
    """The label of each code, without a column of figures before the codes."""
    figures = [answer.words[-1] for answer in answers if answer.words and answer.words[-1].text == str(answer.value)]
    span = (0.0, 0.0)
    if len(figures) * 2 > len(answers):
        span = min(word.box[0] for word in figures), max(word.box[2] for word in figures)
    labels: dict[int, str] = {}
    for answer in answers:
        words = (*answer.words, *answer.below)
        texts = [word.text for word in words if not (word.text.isdigit() and span[0] <= word.x <= span[1])]
        labels.setdefault(answer.value, item_text(" ".join(texts)))
    return labels
