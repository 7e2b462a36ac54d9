"""Files in WVS-7's columns and codes of people whom nobody asked, and made-up files of the seed beside them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset, read_participants
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, Design, plant_people
from valuesassets_tests.people.synthetic_files import save

PLANTED_SLOPES = {"aware": 0.8, "blind": 0.0, "contrary": -0.4, "caricature": 1.6}
"""Share of people's moves that each planted model makes."""
URUGUAY = 858069901
"""The id that the published script leaves out, whoever has it."""
RECODED = Design(
    ("Q1", "Q56", "Q94", "Q106", "Q111", "Q119", "Q122", "Q222", "Q241", "Q254"),
    (156, 276, 484, 858, 909),
    (1, 2),
    tuple(range(9)),
)
"""Questions of every kind of coding, people of every code of education, Northern Ireland among the countries."""


def planted_file(folder: Path, frame: pd.DataFrame | None = None, ending: str = "csv") -> Path:
    """A file of these people, by default of the demonstration's."""
    return save(plant_people(64, 1) if frame is None else frame, folder / f"wvs.{ending}")


def planted_dataset(folder: Path, n: int = 64, design: Design = DEMO, **options: object) -> Dataset:
    """The data set of people of a design."""
    path = planted_file(folder, plant_people(n, 1, design))
    return read_participants(path, chosen_questions(design.questions), **options)  # type: ignore[arg-type]


def with_cell(column: str, value: object, row: int = 3):
    """A change of one cell, for files that are wrong there."""

    def make(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.astype({column: object})
        frame.loc[row, column] = value
        return frame

    return make


def write_published_files(folder: Path, questions: Sequence[str]) -> Path:
    """A folder such as the published `dataset_construction`, in our own words, with texts that TSV files must quote."""
    chosen = chosen_questions(questions)
    backgrounds = [attribute.id for attribute in load_backgrounds().attributes]
    numbers = ("Q261", "Q262", "J_INTDATE")
    metadata = {
        name: {
            "question": f"what is {name}?",
            "category": "Background",
            "use_case": "demographic",
            "answer_scale_min": 1 if name == "Q288" else "",
            "answer_scale_max": 10 if name == "Q288" else "",
            "answer_data_type": "ordinal" if name == "Q288" else "non_ordinal",
        }
        for name in [*backgrounds[:2], "D_INTERVIEW", *backgrounds[2:]]
    }
    values = {
        each.id: {
            "question": f"from {each.lo} to {each.hi}: {each.id}?",
            "category": each.category,
            "use_case": "value",
            "answer_scale_min": each.lo,
            "answer_scale_max": each.hi,
            "answer_data_type": "ordinal",
        }
        for each in chosen
    }
    # The questions stand between the attributes, as they do in the survey's file.
    order = [*list(metadata)[:10], *values, *list(metadata)[10:]]
    metadata = {name: (metadata | values)[name] for name in order}
    missing = {"-1": "don't know", "-2": 'no "answer"', "-4": "not asked", "-5": "missing;\tunknown"}
    labelled = [name for name in metadata if name not in (*numbers, "D_INTERVIEW", "N_TOWN")]
    codebook = {
        name: {"question": name, "choices": missing | ({str(code): f"{name}: é {code}" for code in range(6)})}
        if name in labelled
        else {"question": name, "choices": missing if name != "D_INTERVIEW" else {}}
        for name in metadata
    }
    adjusted = {
        each.id: {str(old): str(new) for old, new in each.recodes.items()} | {str(code): "" for code in each.missing}
        for each in chosen
        if each.recodes or each.missing
    }
    folder.mkdir()
    for name, content in {
        "question_metadata": metadata,
        "codebook": codebook,
        "answer_adjustment": adjusted,
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder
