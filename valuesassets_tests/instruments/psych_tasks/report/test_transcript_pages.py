"""The page of transcripts: every mark in its place with what a model says there, what was not read first."""

import html
import math
import re

import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.report.shown_marks import TONES
from valuesassets.instruments.psych_tasks.report.transcript_pages import MOST_LISTED, MOST_SHOWN, render_transcript_page
from valuesassets.instruments.psych_tasks.tables import CANDIDATES, MARKS
from valuesassets_tests.instruments.psych_tasks.made_people import (
    BALLOONS,
    INSTRUCTIONS,
    balloon_text,
    person,
    survey_person,
    survey_task,
)

TASK = survey_task()
LABELS = "12345"
Q = {"alone": [0.2] * 5, "human": [0.1, 0.2, 0.6, 0.06, 0.04]}
P_VALID = 0.9


def tables(people, q=Q, changed=None):
    """Rows of the two tables; `changed`: by participant, mark and history, what its row has instead."""
    marks, candidates = [], []
    for each in people:
        for mark in each.marks:
            base = {"experiment": each.experiment, "participant": each.participant, "mark": mark.number}
            base |= {"kind": mark.kind, "human_answer": mark.answer, "status": str(mark.status), "reason": mark.reason}
            if not mark.is_asked:
                marks.append(base)
                continue
            for history, probs in q.items():
                place = base | {"history": history, "layout": "marked"}
                options = dict(zip(mark.candidates, probs, strict=False))
                best = max(options, key=options.__getitem__)
                row = place | {"p_valid": P_VALID, "likeliest": best, "share_likeliest": options[best]}
                if mark.answer in options and mark.status == "read":
                    row |= {"log_prob_human": log(options[mark.answer]), "is_likeliest": mark.answer == best}
                marks.append(row | (changed or {}).get((each.participant, mark.number, history), {}))
                candidates += [
                    {name: place[name] for name in ("experiment", "participant", "mark", "history", "layout")}
                    | {"candidate": text, "log_prob": log(share), "n_tokens": 1}
                    for text, share in options.items()
                ]
    return MARKS.frame(marks), CANDIDATES.frame(candidates)


def log(share):
    return math.log(share * P_VALID)


def rendered(people, task=TASK, title="m in survey", **options):
    return render_transcript_page(people, task, *tables(people, **options), title)


def text_of(page, name):
    """The transcript as the page shows it, without what was added."""
    body = re.search(rf'id="t-{name}".*?<div class="text">(.*?)</div>\n</details>', page, re.S)[1]
    body = re.sub(r"<details.*?</details>", "", body, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "", body))


def mark_of(page, name, number):
    """Class and text of a mark, and the small table behind it."""
    match = re.search(
        rf'<span class="mark (\w+)" id="m-{name}-{number}" title="([^"]*)">(.*?)</span>(<details.*?</details>)',
        page,
        re.S,
    )
    return match[1], html.unescape(match[2]), html.unescape(match[3]), match[4]


def cells(table):
    return re.findall(r"<td>(.*?)(?=<)", table)


def test_the_text_stands_as_it_is():
    people = [survey_person("a", [3, 4, 5]), person("b", balloon_text(), BALLOONS)]
    page = rendered(people[:1])
    assert text_of(page, "a") == people[0].transcript.text
    balloons = rendered(people[1:], BALLOONS, q={"human": [0.7, 0.3]})
    assert text_of(balloons, "b") == people[1].transcript.text


def test_broken_and_empty_marks_leave_the_text_whole():
    text = f"{INSTRUCTIONS}1. One. <<\n2. Two. <<>>\n3. Three. <<4>>\n4. Four. <<1\n2>>\n"
    page = rendered([person("a", text, TASK)])
    assert text_of(page, "a") == text
    assert [mark_of(page, "a", number)[0] for number in (1, 2, 3, 4)] == ["unread", "unread", "q1", "unread"]


def test_a_mark_has_the_share_of_its_answer_the_likeliest_and_every_history():
    page = rendered([survey_person("a", [3, 2])])
    tone, title, text, table = mark_of(page, "a", 2)
    assert (tone, text) == ("q2", "<<2>>")
    assert "q .20, likeliest 3 (.60), P_valid .90" in title
    assert ">.20; likeliest 3 (.60)<" in table
    assert cells(table) == ["3", ".60", "2", ".20", "1", ".10", "4", ".06", "5", ".04", "alone", ".20", "human", ".20"]
    assert '<tr class="said"><td>2' in table
    assert ">.60<" in mark_of(page, "a", 1)[3], "where the answer is the likeliest it stands alone"


@pytest.mark.parametrize("share", [0.01, 0.1, 0.2, 0.4, 0.6, 0.9])
def test_colours_go_by_the_share(share):
    page = rendered([survey_person("a", [1])], q={"human": [share, *[(1 - share) / 4] * 4]})
    assert mark_of(page, "a", 1)[0] == f"q{sum(share >= step for step in TONES)}"


def test_at_most_twelve_candidates_are_shown_and_the_others_counted():
    task = survey_task(kinds=[{"name": "n", "before": r"\. $", "candidates": {"range": [1, 40]}}])
    page = rendered([survey_person("a", [40], task)], task, q={"human": [1 / 41] * 39 + [2 / 41]})
    table = mark_of(page, "a", 1)[3]
    assert len(cells(table)) == 2 * 12 + 2
    assert "28 less likely ones" in table


def test_open_and_unlisted_marks_have_no_share():
    opened = survey_task(kinds=[{"name": "why", "before": r"\. $", "candidates": "open"}])
    people = [survey_person("a", ["because"], opened)]
    marks, candidates = tables(people)
    page = render_transcript_page(people, opened, marks.assign(log_prob_human=-12.34), candidates, "t")
    tone, _, _, table = mark_of(page, "a", 1)
    assert (tone, "log P -12.3" in table) == ("open", True)
    tone, _, _, table = mark_of(rendered([survey_person("a", [9])]), "a", 1)
    assert tone == "unlisted"
    assert "unlisted; likeliest 3 (.60)" in table
    assert "the answer &#39;9&#39; is none of the 5 candidates" in table


def test_unread_marks_come_first_grouped_by_status_and_link_to_their_place():
    people = [survey_person("a", [3, 3]), person("b", f"{INSTRUCTIONS}1. One. <<>>\n2. Two. <<4>>\n", TASK)]
    lost = {"status": "too_long", "reason": "6,000 tokens; the model reads 4,096", "p_valid": None}
    page = rendered(people, changed={("a", 2, "alone"): lost})
    listed = page[page.index("What was not read") : page.index('<h2 id="transcripts"')]
    assert listed.index("empty: 1 mark of 1 participant") > 0
    assert '<a href="#m-b-1">participant b, mark 1</a>' in listed
    assert '<a href="#m-a-2">participant a, mark 2</a> (agreement) after alone: 6,000 tokens' in listed
    assert "not read after alone" in mark_of(page, "a", 2)[3]
    tone, title, _, table = mark_of(page, "b", 1)
    assert tone == "unread"
    assert "it is empty" in title
    assert '<p class="why">' in table


def test_nothing_unread_is_said():
    assert "Nothing: every mark was read." in rendered([survey_person("a", [3])])


def test_of_many_people_twelve_are_shown_with_the_unread_first_and_the_others_counted():
    people = [survey_person(f"p{n}", [3]) for n in range(30)]
    people.append(person("late", f"{INSTRUCTIONS}1. One. <<>>\n", TASK))
    page = rendered(people)
    anchors = re.findall(r'class="transcript" id="t-([\w.]+)"', page)
    assert len(anchors) == MOST_SHOWN
    assert anchors[:2] == ["late", "p0"]
    assert "31 participants; 12 of them on this page" in page
    assert "19 more participants are not on this page" in page


def test_of_many_unread_marks_the_first_are_named_and_the_others_counted():
    people = [person(f"p{n}", f"{INSTRUCTIONS}1. One. <<>>\n2. Two. <<3>>\n", TASK) for n in range(50)]
    page = rendered(people)
    assert page.count(": mark 1 in line 2: it is empty") == MOST_LISTED + MOST_SHOWN  # titles have the reason too
    assert "empty: 50 marks of 50 participants" in page
    assert f"and {50 - MOST_LISTED} more" in page
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links <= set(re.findall(r'id="([^"]+)"', page))
    assert len(links) == MOST_SHOWN


def test_what_stands_in_a_transcript_is_escaped_everywhere():
    evil = "<script>alert('x')</script>"
    task = survey_task(kinds=[{"name": evil, "before": r"\. $", "candidates": {"list": ["<i>", "3\"'&"]}}])
    text = f"{evil}\n1. <img src=x onerror=y>. <<<i>>>\n2. b. <<>>\n"
    page = rendered([person(f"p{evil}", text, task)], task, title=evil, q={"human": [0.7, 0.3]})
    assert "<script" not in page
    assert "<img" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page
    name = re.search(r'class="transcript" id="t-([^"]+)"', page)[1]
    assert re.fullmatch(r"[\w.]+", name)
    assert text_of(page, name) == text


def test_ids_are_there_once_though_names_are_alike():
    people = [person("a b", f"{INSTRUCTIONS}1. O. <<3>>\n", TASK, experiment=e) for e in ("x", "y")]
    people.append(person("a/b", f"{INSTRUCTIONS}1. O. <<3>>\n", TASK, experiment="x"))
    page = rendered(people)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {"m-a_b-1", "m-a_b.2-1", "m-a_b.3-1"} <= set(ids)
    assert "Participant a b of y" in page


def test_own_draws_are_averaged_and_the_reversed_scale_is_named():
    people = [person("a", f"{INSTRUCTIONS}1. O. <<3>>\n", TASK, presentation="reversed")]
    marks, candidates = tables(people, q={"human": Q["human"], "own": Q["human"]})
    own = marks[marks.history == "own"]
    other = own.assign(draw=1, log_prob_human=log(0.2))
    page = render_transcript_page(people, TASK, pd.concat([marks, other]), candidates, "t")
    assert cells(mark_of(page, "a", 1)[3])[-2:] == ["own (2 draws)", ".40"]
    assert "Participant a, scale shown reversed" in page


def test_without_the_human_history_the_first_that_was_asked_is_shown_and_named():
    page = rendered([survey_person("a", [3])], q={"alone": [0.2] * 5})
    assert "after the history <em>alone</em>" in page


def test_transcripts_without_marks_are_named_with_their_reason():
    people = [survey_person("a", [3]), person("none", "Nothing asked.", TASK)]
    page = rendered(people)
    assert "no marks: 1 transcript" in page
    assert "participant none: no &lt;&lt; stands in it" in page


def test_people_whom_nothing_was_asked_of_make_a_page():
    people = [survey_person("a", [3])]
    page = render_transcript_page(people, TASK, MARKS.empty_frame(), CANDIDATES.empty_frame(), "t")
    assert mark_of(page, "a", 1)[0] == "unasked"
    assert "but none was asked" in page


def test_the_page_needs_no_script_and_fetches_nothing():
    page = rendered([survey_person("a", [3])])
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r'(src|href)="(?!#)', page)
