"""Texts are read as the option that they say, in every language with a lexicon, and never as another one."""

import unicodedata
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.answers.written_options import Options, Standing, read_option, shown_number, standing_of
from valuesassets.records.errors import MissingData
from valuesassets.records.lexicon import bundled_lexicons, load_lexicon
from valuesassets.records.trials import Answer, Status

ZEROS = [chr(code) for code in range(0x10FFFF) if unicodedata.decimal(chr(code), None) == 0 and code < 0x10000]
"""The digit 0 of every script in the basic plane."""
KINDS = ("numbers", "points", "negative", "letters", "many letters")


def options_of(language: str, kind: str) -> Options:
    """Options in the words of a lexicon: four with texts, ten points with words at the ends, or letters."""
    lexicon = load_lexicon(language)
    texts = (lexicon.agree, lexicon.disagree, f"{lexicon.yes}, {lexicon.agree}", f"{lexicon.no}, {lexicon.disagree}")
    ends = (lexicon.agree, *([""] * 8), lexicon.disagree)
    labels, option_texts = {
        "numbers": (("1", "2", "3", "4"), texts),
        "points": (tuple(map(str, range(1, 11))), ends),
        "negative": (("-2", "-1", "0", "1", "2"), (texts[0], "", "", "", texts[1])),
        "letters": (("A", "B", "C", "D"), texts),
        "many letters": (tuple("ABCDEFGHIJ"), ends),
    }[kind]
    return Options(labels, option_texts, tuple(range(len(labels))), lexicon.answer_cues, lexicon.missing_answers)


def prose_of(language: str) -> str:
    """A sentence of a language that is no option."""
    lexicon = load_lexicon(language)
    return lexicon.statement(sorted(lexicon.statements)[0], "xyz")


def readable(options: Options, place: int, prose: str, zero: str) -> Iterator[tuple[str, str]]:
    """Texts that say an option, by the name of their form."""
    label, text = options.labels[place], options.texts[place]
    cue, clause, other = (each.strip() for each in options.cues)
    listed = "\n".join(f"{n}. {words}".rstrip() for n, words in zip(options.labels, options.texts, strict=True))
    yield from {
        "alone": label,
        "line": f" {label}\n",
        "point": f"{label}.",
        "bracket": f"{label})",
        "brackets": f"({label})",
        "square": f"[{label}]",
        "bold": f"**{label}**",
        "code": f"`{label}`\n",
        "quoted": f"„{label}“",
        "cue": f"{cue}: {label}",
        "bold cue": f"**{cue}:** {label}.",
        "capital cue": f"{cue.upper()}:\n{label}",
        "clause": f"{clause} {label}.",
        "other cue": f"{other} – {label}",
        "cue twice": f"{cue}:\n\n{cue}: {label}",
        "tag": f"<answer>{label}</answer>",
        "boxed": f"$\\boxed{{{label}}}$",
        "json": f'{{"{cue}": "{label}"}}',
        "behind prose": f"{prose}\n\n{cue}: {label}",
        "before prose": f"{label}\n\n{prose}",
        "with prose": f"{label}. {prose}",
        "behind the list": f"{listed}\n{cue}: {label}",
        "next question": f"{label}\n\n2. {prose}",
    }.items()
    if not label.isalpha():
        yield "digits", "".join(chr(ord(zero) + int(c)) if c.isdecimal() else c for c in label)
        yield "minus", f"{cue}: {label.replace('-', '−')}!"
        yield "zero", f"{label.replace('-', '-0')}\n" if label.startswith("-") else f"0{label}"
    if text:
        yield from {
            "point text": f"{label}. {text}",
            "bracket text": f"({label}) {text}.",
            "dash text": f"{label} - {text}",
            "text behind": f"{label} {text}",
            "bold both": f"**{label}. {text}**",
            "text alone": text,
            "capital text": f"{text.upper()}!",
            "quoted text": f"«{text}»",
            "text number": f"{text} ({label})",
            "text colon": f"{text}: {label}.",
            "cue both": f"{cue}: {label}. {text}\n\n{prose}",
            "cue text": f"{clause}: {text}",
        }.items()


def unreadable(options: Options, place: int, prose: str) -> Iterator[tuple[str, str]]:
    """Texts that say no option, or several."""
    label, text = options.labels[place], options.texts[place]
    further = (place + 1) % len(options.labels)
    other, cue = options.labels[further], options.cues[0].strip()
    yield from {
        "or": f"{label} or {other}",
        "both": f"{label}, {other}",
        "both lines": f"{label}\n{other}",
        "perhaps": f"{label}, {prose} {other}.",
        "two cues": f"{label}\n{cue}: {other}",
        "not": f"not {label}",
        "cue not": f"{cue}: not {label}",
        "sentence": f"{prose} {label}",
        "prose": prose,
        "an AI": "I am an AI and have no opinion.",
        "as an AI": "I, as an AI, have no opinion.",
        "A.I.": "A.I. models have no opinion.",
        "I'm": "I'm an AI.",
        "asks": f"{label}?",
        "about": f"~{label}",
        "list": "\n".join(f"{n}. {prose}" for n in options.labels),
        "options": "\n".join(f"{n}. {each}".rstrip() for n, each in zip(options.labels, options.texts, strict=True)),
        "nothing": " \n",
        "markdown": "**\n\n---",
        "dots": "...",
        "cue alone": f"{cue}:",
        "don't know": options.missing[0],
        "don't know cue": f"{cue}: {options.missing[0]}.",
        "label of don't know": f"{label}. {options.missing[0]}",
    }.items()
    if not label.isalpha():
        yield from {
            "range": f"{label}-{other.lstrip('-')}",
            "long range": f"{label} – {other.lstrip('-')}",
            "half": f"{label}.5",
            "comma": f"{label},5",
            "fraction": f"{label}½",
            "of ten": f"{label}/10",
            "out of": f"{label} out of 10",
            "footnote": f"{label}²",
            "percent": f"{label}%",
            "point scale": f"{label}-point scale",
            "ordinal": f"{label}rd",
            "more": f"{label}+",
            "struck": f"~~{label}~~",
            "thousand": f"{label},000",
            "time": f"{label}:30",
            "children": f"{label} children",
            "money": f"${label}",
            "off": f"{cue}: 99",
            "long": f"{label}{label.lstrip('-')}{label.lstrip('-')}",
            "wrong text": f"{label}. {options.texts[0] if place else options.texts[-1]}",
        }.items()
    if text:
        yield "text and prose", f"{text} {prose}"
        yield "wrong label", f"{text} ({other})"
        yield "of another", f"{other}. {text}"


@pytest.mark.parametrize("language", bundled_lexicons())
def test_every_readable_form_is_read_and_none_as_another_option(language):
    rng, prose, read, texts, forms = np.random.default_rng(5), prose_of(language), 0, 0, set[str]()
    for kind in KINDS:
        options = options_of(language, kind)
        for place, value in enumerate(options.values):
            for form, text in readable(options, place, prose, str(rng.choice(ZEROS))):
                answer = read_option(text, options)
                assert answer.value in (value, None), (kind, form, text, answer)
                assert (answer.standing is Standing.OPTION) == (answer.value is not None) == (answer.reason is None)
                read, texts = read + (answer.value == value), texts + 1
                forms |= {form}
    assert len(forms) >= 13
    assert texts > 800
    assert read >= 0.99 * texts


@pytest.mark.parametrize("language", bundled_lexicons())
def test_no_unreadable_form_is_read(language):
    forms, prose = set[str](), prose_of(language)
    for kind in KINDS:
        options = options_of(language, kind)
        for place in range(len(options.values)):
            for form, text in unreadable(options, place, prose):
                answer = read_option(text, options)
                assert answer.value is None, (kind, form, text, answer)
                assert answer.standing is not Standing.OPTION
                assert answer.reason
                forms |= {form}
    assert len(forms) >= 9


FOUR = Options(
    ("1", "2", "3", "4"),
    ("very important", "important", "not important", "not at all important"),
    (4, 3, 2, 1),
    ("Answer", "The answer is", "My answer"),
    ("don't know", "no answer", "DK", "I don't know", "refused"),
)
TEN = Options(tuple(map(str, range(1, 11))), ("left", *[""] * 8, "right"), tuple(range(1, 11)), FOUR.cues)
LEFT_RIGHT = Options(("-2", "-1", "0", "1", "2"), ("against", "", "", "", "for"), (-2, -1, 0, 1, 2), FOUR.cues)
CHILDREN = Options(("1", "2", "3", "4"), ("0", "1", "2", "3 or more"), (0, 1, 2, 3), FOUR.cues)
LETTERS = Options(tuple("ABCDEFGHIJ"), (*FOUR.texts, "e", "f", "g", "h", "i", "j"), tuple(range(10)), FOUR.cues)


@pytest.mark.parametrize(
    ("options", "text", "value"),
    [
        (FOUR, "important", 3),
        (FOUR, "Not important.", 2),
        (FOUR, "3. Not important\n\nPolitics moves 2 of us.", 2),
        (FOUR, "1. very important\n2. important\nThe answer is 2", 3),
        (FOUR, "I do not know much.\nMy answer: 4", 1),
        (FOUR, "Answer: 3. The answer is not based on feelings.", 2),
        (FOUR, "Answer: 3\n\nAnswer:", 2),
        (FOUR, "3<br>since I live here", 2),
        (FOUR, "3</s>", 2),
        (FOUR, "2️⃣", 3),
        (FOUR, "②", 3),
        (FOUR, "\u200f٢\u200f", 3),
        (FOUR, "- 2", 3),
        (FOUR, "> 2", 3),
        (FOUR, "```\n2\n```", 3),
        (FOUR, "```2\n```", 3),
        (TEN, "10", 10),
        (TEN, "1", 1),
        (TEN, "10. right", 10),
        (TEN, "Left", 1),
        (LEFT_RIGHT, "-2", -2),
        (LEFT_RIGHT, "–2", -2),
        (LEFT_RIGHT, "+2", 2),
        (LEFT_RIGHT, "2 - for", 2),
        (LEFT_RIGHT, "for - 2", 2),
        (LEFT_RIGHT, "against (-2)", -2),
        (CHILDREN, "3 or more", 3),
        (CHILDREN, "3. 2", 2),
        (LETTERS, "I", 8),
        (LETTERS, "b", 1),
        (LETTERS, "B) A thing of its own", 1),
        (LETTERS, "Answer:\n\nAnswer: C", 2),
    ],
)
def test_options_read_by_hand(options, text, value):
    assert read_option(text, options) == (value, Standing.OPTION, None)


@pytest.mark.parametrize(
    ("options", "text", "standing"),
    [
        (FOUR, "I do not think the answer is 3", Standing.NO_OPTION),
        (FOUR, "I would not answer 3", Standing.NO_OPTION),
        (FOUR, "The answer is not 3", Standing.NO_OPTION),
        (FOUR, "important to me", Standing.NO_OPTION),
        (FOUR, "-2", Standing.OFF_SCALE),
        (FOUR, "0", Standing.OFF_SCALE),
        (FOUR, "13", Standing.OFF_SCALE),
        (FOUR, "important (3)", Standing.TWO_OPTIONS),
        (FOUR, "2. very important", Standing.TWO_OPTIONS),
        (FOUR, "1 2 3 4", Standing.TWO_OPTIONS),
        (FOUR, "5. DK/no answer", Standing.DONT_KNOW),
        (FOUR, "I don’t know. It depends on 3 things.", Standing.DONT_KNOW),
        (FOUR, "1⁰", Standing.NO_OPTION),
        (FOUR, None, Standing.EMPTY),
        (FOUR, "<answer></answer>", Standing.EMPTY),
        (TEN, "1⁰", Standing.NO_OPTION),
        (TEN, "1..10", Standing.TWO_OPTIONS),
        (TEN, "3/10", Standing.NO_OPTION),
        (TEN, "1 0", Standing.NO_OPTION),
        (TEN, "1,0", Standing.NO_OPTION),
        (TEN, "11", Standing.OFF_SCALE),
        (LEFT_RIGHT, "- 2", Standing.NO_OPTION),
        (LEFT_RIGHT, "2, -2", Standing.TWO_OPTIONS),
        (LEFT_RIGHT, "-3", Standing.OFF_SCALE),
        (CHILDREN, "2", Standing.TWO_OPTIONS),
        (LETTERS, "I am an AI", Standing.NO_OPTION),
        (LETTERS, "I, as an AI, cannot say", Standing.NO_OPTION),
        (LETTERS, "A.I. has no view", Standing.TWO_OPTIONS),
        (LETTERS, "A friend", Standing.NO_OPTION),
        (LETTERS, "B or C", Standing.TWO_OPTIONS),
        (LETTERS, "B, C", Standing.TWO_OPTIONS),
        (LETTERS, "Z", Standing.OFF_SCALE),
        (LETTERS, "Antwort: C", Standing.NO_OPTION),
    ],
)
def test_what_is_no_option_by_hand(options, text, standing):
    answer = read_option(text, options)
    assert (answer.value, answer.standing) == (None, standing)
    assert answer.reason


def answer(text: str | None, finish: str | None = "end", status: Status = Status.OK, **more: object) -> Answer:
    return Answer("v1/0/forward", 0, text, finish, None if text is None else 5, status, None, "k", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3\n\nI say so because poli", 2),
        ("3. Politics is for others.\nAnd", 2),
        ("Answer: 3\n", 2),
        ("3. not important. I chose", 2),
        ("The answer is: not important (3). I chose", None),
        ("3", None),
        ("3.", None),
        ("3. Polit", None),
        ("3. Politics is for others. I", None),
        ("3. not impor", None),
        ("3. not important", None),
        ("not important", None),
        ("Answer: 3. Politics", None),
        ("1. Politics matters.\n2. Fam", None),
        ("3\nMy answer: 4", None),
        ("Let me see", None),
    ],
)
def test_a_text_that_ran_out_of_tokens_is_an_option_only_where_a_whole_line_says_it(text, value):
    read = standing_of(answer(text, "length"), FOUR)
    assert read.value == value
    assert read.standing is (Standing.CUT_OFF if value is None else Standing.OPTION)
    assert standing_of(answer(text), FOUR) == read_option(text, FOUR)


def test_refusals_and_thoughts_without_an_end_are_answers_and_failures_are_none():
    assert standing_of(answer("", "end"), FOUR).standing is Standing.EMPTY
    assert standing_of(answer("", "length"), FOUR).standing is Standing.CUT_OFF
    assert standing_of(answer(None, None, Status.REFUSED), FOUR).standing is Standing.REFUSED
    assert standing_of(answer(None, None, Status.FAILED, reasoning="Hm"), FOUR).standing is Standing.CUT_OFF
    with pytest.raises(MissingData, match="v1/0/forward: this answer failed; ask for it again"):
        standing_of(answer(None, None, Status.FAILED), FOUR)


@given(st.text(max_size=80))
def test_any_text_has_a_standing_and_an_option_only_of_its_own(text):
    for options in (FOUR, TEN, LEFT_RIGHT, LETTERS):
        for read in (read_option(text, options), standing_of(answer(text, "length"), options)):
            assert (read.value in options.values) == (read.standing is Standing.OPTION) == (read.reason is None)


@given(st.integers(-30, 30))
def test_a_number_is_read_whether_it_was_shown_or_not(number):
    assert shown_number(f" {number}.") == number
