"""Evidence from an embedder, with vectors made up and with a tiny real model."""

import json

import numpy as np
import pytest

from valuesassets.instruments.survey.material.aligned_questions import align_questions
from valuesassets.instruments.survey.material.alignment.evidence import (
    MOST_CLOSENESS,
    embedded_evidence,
    texts_to_embed,
)
from valuesassets.instruments.survey.material.alignment.targets import master_targets
from valuesassets.instruments.survey.material.normalisation import Normalised
from valuesassets.people.variables import load_variables
from valuesassets.records.questions import questions_to_rows
from valuesassets_tests.cli.commands import refuse, succeed
from valuesassets_tests.instruments.survey.asked import ask
from valuesassets_tests.models.tiny_embedder import save_embedder
from valuesassets_tests.studies.expected_questions import expected_questions

MASTER = [ask("v1", text="Work"), ask("v2", text="Family"), ask("v3", text="Friends"), ask("v4", text="Leisure")]


def test_likeness_finds_what_order_alone_would_miss():
    variables, targets = load_variables(), master_targets(MASTER, load_variables())
    places = [[target.code for target in targets].index(code) for code in ("v2", "v4")]
    vectors = np.eye(len(targets) + 2, dtype=np.float32)[: len(targets) + 2]
    likeness = embedded_evidence(np.vstack([vectors[places], vectors[: len(targets)]]), 2)
    extracted = Normalised.of([ask("x1", text="家族"), ask("x2", text="余暇")])
    without = align_questions(extracted, "eng", MASTER, variables)
    alignment = align_questions(extracted, "eng", MASTER, variables, likeness=likeness)
    assert [question.id for question in alignment.questions] == ["v2", "v4"]
    assert [question.id for question in without.questions] != ["v2", "v4"]


def test_the_texts_are_the_items_of_both_and_topics_where_the_master_lacks_one():
    targets = master_targets([ask("v1", text="All of it", item="Work")], load_variables())
    texts = texts_to_embed([ask("x", text="Stem Arbeit", item="Arbeit")], targets)
    assert texts[:3] == ["Arbeit", "Work", "importance of family"]
    assert len(texts) == 1 + len(targets)


def test_evidence_is_relative_to_a_usual_target_and_bounded():
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32)
    (log_odds,) = embedded_evidence(vectors, 1)
    assert log_odds[0] == MOST_CLOSENESS
    assert log_odds[1] == log_odds[2] < 0


@pytest.mark.slow
def test_the_command_takes_an_embedder_and_refuses_what_is_none(tmp_path):
    rows = {code: questions_to_rows(expected_questions(code)) for code in ("eng", "deu")}
    for code, questions in rows.items():
        (tmp_path / f"{code}.json").write_text(json.dumps(questions), encoding="utf-8")
    files = [tmp_path / f"{code}.json" for code in rows]
    embedder = save_embedder(tmp_path / "model", [row["text"] for row in rows["eng"]])
    output = succeed("align", *files, "--output", tmp_path / "out", "--embedder", embedder)
    assert "deu: 31 of 31 questions aligned" in output
    line = refuse("align", *files, "--output", tmp_path / "other", "--embedder", tmp_path / "nowhere")
    assert "nowhere: no such folder" in line
    assert not (tmp_path / "other").exists()
