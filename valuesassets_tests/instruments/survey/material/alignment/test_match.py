"""The row of a question that was not found says which records it may be, and what a person can do."""

import pytest

from valuesassets.instruments.survey.material.aligned_questions import align_questions
from valuesassets.instruments.survey.material.alignment.match import MOST_NAMED, Match, match_of_missing
from valuesassets.instruments.survey.material.forms.overrides import apply_overrides, fingerprint, read_overrides
from valuesassets.instruments.survey.material.normalisation import Normalised
from valuesassets.people.variables import load_variables
from valuesassets_tests.studies.expected_questions import expected_questions

MASTER, FORM = expected_questions("eng"), expected_questions("fra")
MISPRINTED = [question.replace(id="v38") if question.id == "v39" else question for question in FORM]
"""As the form has them, but for the code of v39."""
MARK = next(fingerprint(question) for question in MISPRINTED if question.id == "v38")


def missing(questions):
    return missing_of(Normalised.of(questions))


def missing_of(extracted):
    matches = align_questions(extracted, "fra", MASTER, load_variables()).matches
    return {match.question_id: match.evidence for match in matches if match.status == "missing"}


def unmatched(*positions, **more):
    return [Match(f"Q{n}", f"Q{n}", "beyond", "", position=n, mark=f"m{n}", **more) for n in positions]


@pytest.mark.parametrize(
    ("code", "named"), [("v1", ["m0"]), ("v3", ["m3", "m4"]), ("v4", ["m3", "m4"]), ("v6", ["m7", "m8"])]
)
def test_the_records_between_the_nearest_neighbours_are_named(code, named):
    order, places = ["v1", "v2", "v3", "v4", "v5", "v6"], {"v2": 1, "v5": 6}
    match = match_of_missing(code, order, places, unmatched(0, 3, 4, 7, 8))
    assert [mark for mark in ("m0", "m3", "m4", "m7", "m8") if f"mark {mark}" in match.evidence] == named


def test_the_row_says_what_to_do():
    (match,) = unmatched(1, page=3)
    row = match_of_missing("v2", ["v1", "v2", "v3"], {"v1": 0, "v3": 2}, [match])
    assert (row.question_id, row.source_id, row.status) == ("v2", None, "missing")
    assert row.evidence == (
        "not found in this language's questionnaire; unmatched between its neighbours: Q1 (page 3, mark m1); "
        'id = "v2" in the overrides pins one of them, drop = true for v2 says that it is not asked'
    )


def test_where_nothing_unmatched_stands_there_the_row_says_what_is_left_to_do():
    assert match_of_missing("v2", ["v1", "v2"], {"v1": 1}, unmatched(0)).evidence == (
        "not found in this language's questionnaire; no unmatched record stands between its neighbours; in the "
        "overrides drop = true for v2 says that it is not asked, add = true how the form asks it"
    )


def test_of_many_records_the_first_are_named_and_the_rest_are_counted():
    row = match_of_missing("v1", ["v1"], {}, unmatched(*range(MOST_NAMED + 2))).evidence
    assert [f"mark m{n})" in row for n in range(MOST_NAMED + 2)] == [True] * MOST_NAMED + [False] * 2
    assert " and 2 more; id = " in row


def test_a_record_that_prints_another_code_is_named_and_pinned_by_the_id_that_the_row_says(tmp_path):
    row = missing(MISPRINTED)
    assert row.keys() == {"v39"}
    assert f'v38 (mark {MARK}); id = "v39"' in row["v39"]
    overrides = tmp_path / "fra.toml"
    overrides.write_text(f'["{MARK}"]\nreason = "misprinted"\nid = "v39"\n', encoding="utf-8")
    assert missing(apply_overrides(MISPRINTED, read_overrides(overrides), overrides).questions) == {}


def test_a_question_that_the_form_has_elsewhere_is_no_neighbour():
    (behind,) = [n for n, question in enumerate(MISPRINTED) if question.id == "v38"]
    moved = [MISPRINTED[behind + 1], *MISPRINTED[: behind + 1], *MISPRINTED[behind + 2 :]]
    assert f"mark {MARK}" in missing(moved)["v39"]


def test_what_stands_there_in_the_form_s_other_language_is_not_named():
    (place,) = [n for n, question in enumerate(FORM) if question.id == "v39"]
    places = [(n,) for n in range(len(FORM)) if n != place]
    twin = MISPRINTED[place].replace(text="Насколько вы довольны своей жизнью в целом?")
    mine = [question for question in FORM if question.id != "v39"]
    assert "no unmatched record" in missing_of(Normalised(mine, [], places, [twin], [(place,)]))["v39"]
