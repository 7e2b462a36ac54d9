import json

import pytest

from valuesassets.records.errors import PdfError
from valuesassets.records.questions import parse_questions
from valuesassets.records.settings.endpoints import Prices
from valuesassets_tests.instruments.survey.material.forms.gemini.loopback_server import (
    gemini_server,
    half_an_answer,
    question,
)
from valuesassets_tests.remote.loopback_gemini import KEY, candidate, hang, refusal, reset, saying

KEYS = ["id", "section", "text", "stem", "item", "response_type", "options", "answer_cue", "page"]
WRONG_FORM = {"questions": [{"id": "v1", "text": "How important?"}]}


def codes(extraction):
    return [row["id"] for row in extraction.rows]


def expected(questions):
    return [row["id"] for rows in questions.values() for row in rows]


def test_a_form_is_uploaded_once_and_read_to_its_last_page(ask, form, questions):
    progress = []
    with gemini_server(questions, polls=3) as server:
        extraction = ask(server, on_page=lambda *pages: progress.append(pages))
    assert codes(extraction) == expected(questions)
    assert [row["page"] for row in extraction.rows] == [page for page in questions for _ in range(3)]
    assert server.asked == [(1, 6), (7, 12), (13, 18), (19, 24), (25, 27)]
    assert server.requests == {"start": 1, "chunk": 1, "poll": 3, "generate": 5, "delete": 1}
    assert list(server.uploads.values()) == [form.read_bytes()]
    assert server.stored == set()
    assert progress == [(6, 27), (12, 27), (18, 27), (24, 27), (27, 27)]
    assert extraction.notes == ()
    assert extraction.usage.requests > 0


def test_rows_are_questions_of_the_file_format(ask, questions):
    with gemini_server(questions) as server:
        rows = ask(server).rows
    assert len(parse_questions(rows, "answer")) == 81
    assert list(rows[0]) == KEYS
    assert rows[0]["options"][0] == {"value": 1, "label": "answer 1"}


def test_every_fault_at_once_loses_and_repeats_no_question(ask, questions):
    faults = {
        ("start", 1): refusal(503),
        ("chunk", 1): reset,
        ("poll", 1): saying(502, "<!DOCTYPE html><title>Bad gateway</title>"),
        ("generate", 1): refusal(429, headers={"Retry-After": "7"}),
        ("generate", 2): refusal(500),
        ("generate", 3): reset,
        ("generate", 5): half_an_answer,
        ("generate", 8): saying(200, candidate(json.dumps(WRONG_FORM))),
        ("generate", 9): saying(200, candidate("", "SAFETY")),
        ("generate", 12): saying(200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
        ("generate", 14): hang,
        ("generate", 15): saying(200, "<html>a captive portal</html>"),
        ("delete", 1): refusal(500),
    }
    with gemini_server(questions, faults, most_rows=10, polls=4) as server:
        extraction = ask(server, timeout_s=0.5)
    assert codes(extraction) == expected(questions)
    assert set(faults) <= {(name, time) for name, count in server.requests.items() for time in range(1, count + 1)}
    assert extraction.notes[:4] == (
        "pages 1 to 6 were asked for in two parts: the answer was cut off",
        "pages 1 to 3 were asked for in two parts: the answer was cut off",
        "pages 4 to 6 were asked for in two parts: Gemini stopped (SAFETY)",
        "pages 7 to 12 were asked for in two parts: Gemini refused to read (PROHIBITED_CONTENT)",
    )
    assert "(files/form-3) could not be deleted" in extraction.notes[-1]


def test_a_second_call_sends_nothing_and_needs_no_key(ask, questions, monkeypatch):
    with gemini_server(questions, most_rows=10) as server:
        first = ask(server)
        sent = server.total
        monkeypatch.delenv("GEMINI_API_KEY")
        second = ask(server)
        assert server.total == sent
    assert second.rows == first.rows
    assert second.notes == first.notes
    assert second.usage.requests == 0
    assert second.paid_before == first.usage
    assert second.usage.requests == 0


@pytest.mark.slow
def test_an_interrupted_extraction_goes_on_where_it_stopped(ask, questions):
    faults = {("generate", 3): refusal(400, "no"), ("generate", 5): refusal(400, "no")}
    with gemini_server(questions, faults) as server:
        for _ in range(2):
            with pytest.raises(PdfError, match=r"pages .*: Gemini refuses the request \(400 no\)"):
                ask(server)
            assert server.stored == set()
        extraction = ask(server)
    assert codes(extraction) == expected(questions)
    assert server.asked == [(1, 6), (7, 12), (13, 18), (13, 18), (19, 24), (19, 24), (25, 27)]
    assert extraction.usage.requests == 2
    assert extraction.paid_before.requests == 3


def test_a_damaged_answer_is_asked_for_again(ask, questions):
    with gemini_server(questions) as server:
        rows = ask(server).rows
        files = sorted(ask.cache.rglob("*.json"))
        files[0].write_text(files[0].read_text()[:100])
        files[1].write_text(files[1].read_text().replace("How important", "How unimportant", 1))
        files[2].write_text("[]")
        again = ask(server)
    assert again.rows == rows
    assert server.asked[5:] == [(1, 6), (7, 12), (13, 18)]


@pytest.mark.parametrize(
    "change", [{"model": "models/gemini-3.8-flash"}, {"language": "ces"}, {"use_page_images": True}]
)
@pytest.mark.slow
def test_another_way_of_asking_has_answers_of_its_own(ask, questions, change):
    with gemini_server(questions) as server:
        ask(server)
        assert ask(server, **change).usage.requests > 0


def test_what_does_not_change_an_answer_asks_for_nothing_again(ask, questions, form, tmp_path):
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(form.read_bytes())
    with gemini_server(questions) as server:
        ask(server)
        prices = Prices(input=1, output=1)
        assert ask(server, pdf=copy, timeout_s=9, attempts=2, prices=prices).usage.requests == 0


@pytest.mark.slow
def test_pages_whose_answer_is_too_long_are_asked_for_in_halves(ask, questions):
    with gemini_server(questions, most_rows=5) as server:
        extraction = ask(server, pages_per_request=27)
    assert codes(extraction) == expected(questions)
    assert server.asked[:5] == [(1, 27), (1, 14), (1, 7), (1, 4), (1, 2)]
    assert extraction.notes[0] == "pages 1 to 27 were asked for in two parts: the answer was cut off"


def test_a_page_whose_answer_is_always_too_long_is_an_error_that_names_it(ask, questions):
    crowded = questions | {9: [question(f"v9{place}") for place in range(30)]}
    with gemini_server(crowded, most_rows=20) as server:
        with pytest.raises(PdfError) as error:
            ask(server)
        assert "dotazník ČR.pdf: page 9: the answer was cut off; the answers for other pages are kept" in str(
            error.value
        )
        assert server.asked == [(1, 6), (7, 12), (7, 9), (7, 8), (9, 9), (10, 12)]
        with pytest.raises(PdfError):
            ask(server)
        assert server.asked[6:] == [(9, 9)]


def test_pages_that_gemini_will_not_read_are_found_one_by_one_and_all_named(ask, questions):
    stops = {8: "RECITATION", 11: "SAFETY"}
    with gemini_server(questions, stops=stops) as server, pytest.raises(PdfError) as error:
        ask(server)
    assert "page 8: Gemini stopped (RECITATION); page 11: Gemini stopped (SAFETY); the answers" in str(error.value)
    assert (13, 18) not in server.asked
    assert server.stored == set()


def test_the_question_before_is_named_to_the_model(ask, questions):
    with gemini_server(questions) as server:
        ask(server)
    assert "The last question listed so far" not in server.prompts[0]
    assert 'The last question listed so far is v18: "How important is v18 in your life?".' in server.prompts[1]
    assert all("copy only what is printed in english" in prompt.lower() for prompt in server.prompts)


def test_the_model_is_asked_at_temperature_zero_for_json_of_our_form(ask, questions):
    with gemini_server(questions) as server:
        ask(server)
    config = server.configs[0]
    assert config["temperature"] == 0
    assert config["responseMimeType"] == "application/json"
    row = config["responseSchema"]["properties"]["questions"]["items"]
    assert row["required"] == KEYS
    assert row["properties"]["section"]["nullable"]
    assert "likert10" in row["properties"]["response_type"]["enum"]


def test_questions_said_to_stand_elsewhere_are_kept_with_a_note(ask, questions):
    strays = [{**question("v1"), "page": 40}, {**question("v2"), "page": 7}]
    faults = {("generate", 1): saying(200, candidate(json.dumps({"questions": strays})))}
    with gemini_server(questions, faults) as server:
        extraction = ask(server)
    assert codes(extraction)[:2] == ["v1", "v2"]
    assert extraction.notes == ("pages 1 to 6: questions said to stand on other pages: v1",)


def test_tokens_of_every_attempt_are_counted_and_priced(ask, questions):
    faults = {
        ("generate", 1): refusal(503),
        ("generate", 2): saying(200, candidate(json.dumps(WRONG_FORM))),
    }
    with gemini_server(questions, faults) as server:
        extraction = ask(server, prices=Prices(input=0.5, output=3))
    assert extraction.usage.model_dump() == {
        "requests": 7,
        "prompt_tokens": 6000,
        "cached_tokens": 2400,
        "output_tokens": 300,
        "thought_tokens": 42,
    }
    assert extraction.cost_usd == pytest.approx((6000 * 0.5 + 342 * 3) / 1e6)


def test_a_cost_without_prices_is_not_known(ask, questions):
    with gemini_server(questions) as server:
        assert ask(server).cost_usd is None


def test_page_images_go_with_the_prompt_and_nothing_is_uploaded(ask, questions):
    with gemini_server(questions) as server:
        extraction = ask(server, use_page_images=True)
    assert codes(extraction) == expected(questions)
    assert server.requests == {"generate": 5}
    assert server.pictures == [7, 7, 7, 7, 3]
    assert server.prompts[1].startswith("Page 7:\nPage 8:")
    assert server.keys == {KEY}


@pytest.mark.slow
def test_a_file_of_more_than_one_chunk_arrives_whole(ask, questions, form, tmp_path):
    large = tmp_path / "large.pdf"
    large.write_bytes(form.read_bytes() + b"\n%" + b"x" * (9 << 20))
    with gemini_server(questions) as server:
        ask(server, pdf=large)
    assert server.requests["chunk"] == 2
    assert list(server.uploads.values()) == [large.read_bytes()]


def test_pages_without_questions_are_covered_too(ask, questions):
    sparse = {page: rows for page, rows in questions.items() if 7 <= page <= 12}
    with gemini_server(sparse) as server:
        extraction = ask(server)
        assert ask(server).usage.requests == 0
    assert codes(extraction) == expected(sparse)
    assert server.asked[-1] == (25, 27)
    assert "The last question listed so far" not in server.prompts[1]
    assert "The last question listed so far is v36" in server.prompts[4]
