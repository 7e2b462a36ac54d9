"""Twelve real extractions against each other: uses ../shared, and is skipped where it is absent."""

import json
import re
import statistics

import pytest

from valuesassets.instruments.survey.material.forms.layout.text_layer import script_share
from valuesassets_tests.cli.commands import succeed
from valuesassets_tests.needs import shared_file

pytestmark = pytest.mark.published
LANGUAGES = ["bul", "dan", "deu", "ell", "eng", "est", "fin", "fra", "ita", "pol", "slk", "spa"]
CODED = ["bul", "deu", "ell", "est", "fra", "ita", "pol", "slk", "spa"]
CODE = re.compile(r"v0*(\d{1,3}[a-z]?)(?=\W*$)")


def masked_id(printed, place, keeps_number):
    if not keeps_number:
        return f"x{place}"
    return CODE.sub("", printed).rstrip("_-[] ") or f"x{place}"


def align(folder, keeps_number=True, masks=True):
    """Aligns the twelve, each record with its place as a key of its own, and codes masked in all but English."""
    (folder / "in").mkdir()
    printed = {}
    for language in LANGUAGES:
        rows = json.loads(shared_file("data", "evs_extractions", f"{language}.json").read_text(encoding="utf-8"))
        for place, row in enumerate(rows):
            row["place"] = place
            code = CODE.search(str(row["id"]))
            printed[language, place] = f"v{code[1]}" if code else None
            if masks and language != "eng":
                row["id"] = masked_id(str(row["id"]), place, keeps_number)
        (folder / "in" / f"{language}.json").write_text(json.dumps(rows), encoding="utf-8")
    files = [str(folder / "in" / f"{language}.json") for language in LANGUAGES]
    succeed("align", *files, "--output", folder / "out")
    return printed, {
        name: json.loads((folder / "out" / f"{name}.json").read_text(encoding="utf-8"))
        for name in [*LANGUAGES, "master_questions"]
    }


def accuracy(printed, aligned, language):
    """Share of the records that print a code of the master which come out under it, alone or merged."""
    master = {question["id"] for question in aligned["master_questions"]}
    found = {
        place: question["id"]
        for question in aligned[language]
        for place in {question["place"], *question.get("merged_from", [])}
    }
    counted = [(place, code) for (spoken, place), code in printed.items() if spoken == language and code in master]
    return sum(found.get(place) == code for place, code in counted) / len(counted)


@pytest.mark.slow
@pytest.mark.parametrize("keeps_number", [True, False], ids=["with question numbers", "without any id"])
def test_without_their_codes_most_records_come_out_under_them(tmp_path, keeps_number):
    printed, aligned = align(tmp_path, keeps_number)
    shares = {language: accuracy(printed, aligned, language) for language in CODED}
    assert statistics.median(shares.values()) >= 0.93, shares
    assert min(shares.values()) >= 0.80, shares


@pytest.mark.slow
def test_nothing_is_offered_that_should_not_be(tmp_path):
    printed, aligned = align(tmp_path, masks=False)
    for language in LANGUAGES:
        for question in aligned[language]:
            where = f"{language} {question['id']}"
            values = [option["value"] for option in question["options"]]
            assert not {88, 99, 77, 66} & set(values), where
            assert question["response_type"] != "likert10" or "unfit" in question or values == [*range(1, 11)], where
            share = script_share(question["text"], language)
            assert share is None or share >= 0.5, where
    assert min(accuracy(printed, aligned, language) for language in CODED) > 0.9
    ids = [question["id"] for question in aligned["master_questions"]]
    for language in LANGUAGES:
        in_order = [question["id"] for question in aligned[language]]
        assert in_order == [code for code in ids if code in set(in_order)]
