"""The page of one model and language: every answer is there as text, what something is wrong with first."""

import html
import re

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.answers.answer_quality import STATUSES, judge_answers
from valuesassets.instruments.cultural_robustness.report.answer_pages import (
    MOST_BYTES,
    MOST_LETTERS,
    render_answer_page,
)
from valuesassets.instruments.cultural_robustness.tables import ANSWERED

GREEK = "Πήγαινε στους οικοδεσπότες ένα κουτί μπισκότα και πες ευχαριστώ."
PROMPT = "Τι να πάω όταν με καλέσουν σε δείπνο οι καινούργιοι γείτονες;"
FAULTS = {
    "empty": {"text": " "},
    "failed": {"text": None, "reason": "its tokens are not whole"},
    "echo": {"text": PROMPT},
    "truncated": {"finish": "length"},
    "loop": {"text": "Πήγαινε ένα γλυκό στους γείτονες. " * 8},
    "wrong_language": {"text": "Bring your hosts a tin of biscuits and say thank you."},
}


def answered(changed=None, n=4, language="ell", samples=2):
    """Rows of answers to `n` questions; `changed`: by place, what a row has instead."""
    rows = []
    for number in range(n * samples):
        question = str(number // samples + 1)
        row = {"language": language, "kind": "unspecific", "id": question, "question_id": question, "country": None}
        row |= {"persona": None, "sample": number % samples, "prompt": PROMPT, "text": GREEK, "finish": "stop"}
        rows.append(row | {"reason": None} | (changed or {}).get(number, {}))
    return ANSWERED.frame(rows)


def rendered(changed=None, title="m in ell", **options):
    given = answered(changed, **options)
    return render_answer_page(given, judge_answers(given, ("ell", "deu", "eng")), title)


def items(page, status):
    """The entries of a status, as text."""
    section = re.search(rf'<section class="status flagged {status}">(.*?)</section>', page, re.S)
    entries = re.findall(r"<li>(.*?)</li>", section[1], re.S) if section else []
    return [" ".join(html.unescape(re.sub(r"<[^>]+>", " ", each)).split()) for each in entries]


@pytest.mark.parametrize("status", list(FAULTS))
def test_an_answer_with_a_fault_stands_with_prompt_status_and_reason_before_all_that_are_fine(status):
    page = rendered({3: FAULTS[status]})
    (entry,) = items(page, status)
    given = answered({3: FAULTS[status]})
    reason = judge_answers(given, ("ell", "deu", "eng"))["reason"].iloc[3]
    assert entry.startswith(f"2 answer 2: {reason} {PROMPT}")
    assert page.index(f'class="status flagged {status}"') < page.index('class="status ok"')
    assert "something is wrong with 1." in " ".join(page.split())


def test_every_status_has_words_of_its_own_and_the_faults_come_in_their_order():
    page = rendered(dict(enumerate(FAULTS.values())))
    assert re.findall(r'class="status flagged (\w+)"', page) == [name for name in STATUSES if name != "ok"]


def test_answers_that_are_fine_are_folded_under_their_prompt():
    page = rendered(n=2)
    folded = re.findall(r'<details class="asked">(.*?)</details>', page, re.S)
    assert [each.count(GREEK) for each in folded] == [2, 2]
    assert all(each.count(PROMPT) == 1 for each in folded), "a prompt is written once for all its answers"
    assert "something is wrong with none." in " ".join(page.split())


def test_what_models_write_is_text_and_nothing_is_run_or_fetched():
    page = rendered({0: {"text": "<script>alert(1)</script> & <img src=x>."}}, title="<b>m</b>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;img src=x&gt;" in page
    assert "<b>m</b>" not in page
    assert not re.search(r"<[^>]*\s(src|href)=", page)
    assert "default-src 'none'" in page


def test_texts_stand_in_their_language_and_direction():
    hebrew = answered(language="heb").assign(text="מה להביא לארוחת ערב אצל שכנים חדשים?")
    page = render_answer_page(hebrew, judge_answers(hebrew, ("heb", "eng")), "m in heb")
    assert 'lang="he" dir="auto">מה להביא' in page
    assert 'lang="el" dir="auto">Πήγαινε' in rendered()


def test_a_named_country_and_persona_are_told():
    given = answered().assign(kind="specific", id=[f"{k // 2 + 1}-7" for k in range(8)], country="GR", persona=2)
    given = ANSWERED.frame(given.assign(text=GREEK.replace(".", "")).to_dict("records"))
    quality = judge_answers(given.assign(finish=None), ("ell", "eng"))
    page = render_answer_page(given, quality, "m")
    assert items(page, "truncated")[0].startswith("1-7 GR, persona 2, answer 1: ends in 'ώ', which is no punctuation")


def test_each_status_that_is_there_can_be_chosen_without_a_script():
    page = rendered({3: FAULTS["empty"]})
    assert re.findall(r'type="radio" name="status" id="only-(\w+)"', page) == ["all", "ok", "empty"]
    assert "#only-empty:checked ~ main .status:not(.empty)" in page


@pytest.mark.parametrize("fault", [{}, FAULTS["wrong_language"]])
@pytest.mark.slow
def test_four_thousand_answers_are_hundreds_of_kilobytes_and_what_is_left_out_is_counted(fault):
    given = answered(dict.fromkeys(range(4000), fault), n=2000)
    more = "Flowers from the garden are just as welcome." if fault else "Τα λουλούδια από τον κήπο είναι εξίσου καλά."
    longer = given.assign(text=given["text"] + " " + more)
    page = render_answer_page(longer, judge_answers(longer, ("ell", "deu", "eng")), "m")
    assert len(page.encode()) < 1_000_000
    n_shown = len(items(page, "wrong_language")) if fault else page.count('<div class="said"')
    assert 0 < n_shown < 4000
    assert f"{4000 - n_shown:,} more" in page


def test_a_small_page_leaves_nothing_out():
    assert " more" not in re.sub(r"<style>.*</style>", "", rendered(n=200), flags=re.S)


def test_a_text_without_an_end_is_cut_and_says_so():
    page = rendered({0: {"text": "λ" * (MOST_LETTERS + 1234), "finish": "length"}})
    assert f"{'λ' * MOST_LETTERS}… (1,234 more characters)" in page
    assert MOST_LETTERS * 4 < MOST_BYTES


def test_a_language_without_answers_has_a_page():
    nothing = answered().head(0)
    page = render_answer_page(nothing, judge_answers(nothing, ("ell",)), "m in ell")
    assert "0 answers to 0 prompts" in page


def test_answers_and_statuses_that_do_not_belong_together_are_refused():
    given = answered()
    quality = judge_answers(given, ("ell",))
    with pytest.raises(pd.errors.MergeError):
        render_answer_page(given, pd.concat([quality, quality]), "m")
