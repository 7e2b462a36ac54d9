"""The seed's own texts and labels, out of the folder `dataset_construction` of the user's copy of its repository."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import pydantic

from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, load_value_questions
from valuesassets.records.errors import InputError
from valuesassets.records.faults import validated
from valuesassets.records.files import no_such_file, read_json

ID = "D_INTERVIEW"
METADATA, CODEBOOK, ADJUSTMENT = "question_metadata.json", "codebook.json", "answer_adjustment.json"

AnyFile = TypeVar("AnyFile")


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="ignore")


class SeedQuestion(_Record):
    """What the seed says of a variable.

    Attributes:
        question: in the seed's wording.
        use_case: whether it tells a person's background or is asked of models.
        answer_scale_min, answer_scale_max: ends of its scale; empty where it has none.
        answer_data_type: `ordinal` for numbers on a scale, else answers are told by their labels.
    """

    question: str
    category: str = ""
    use_case: Literal["demographic", "value"]
    answer_scale_min: int | Literal[""] = ""
    answer_scale_max: int | Literal[""] = ""
    answer_data_type: Literal["ordinal", "non_ordinal"]


class _Codes(_Record):
    choices: dict[str, str] = {}


_Questions = pydantic.RootModel[dict[str, SeedQuestion]]
_Codebook = pydantic.RootModel[dict[str, _Codes]]
_Adjustments = pydantic.RootModel[dict[str, dict[str, str]]]


@dataclass(frozen=True)
class SeedFiles:
    """The seed's files.

    Attributes:
        questions: by variable, in the order of the seed's columns.
        labels: by variable and code.
    """

    folder: Path
    questions: Mapping[str, SeedQuestion]
    labels: Mapping[str, Mapping[str, str]]

    def named(self, use_case: str) -> list[str]:
        """Variables of a use, in the seed's order, but for the id of the interview."""
        return [name for name, each in self.questions.items() if each.use_case == use_case and name != ID]


def read_seed_files(folder: Path) -> SeedFiles:
    """The three files of a folder, which must agree with the bundled scales and recodings.

    Raises:
        InputError: the folder or a file is missing or malformed, or a question has another scale or recoding.
    """
    if not folder.is_dir():
        raise InputError(no_such_file(folder, "folder"))
    questions = _read(folder / METADATA, _Questions)
    if ID not in questions:
        raise InputError(f"{folder / METADATA}: no {ID} among its {len(questions)} variables; is it the seed's file?")
    codebook = _read(folder / CODEBOOK, _Codebook)
    adjustments = _read(folder / ADJUSTMENT, _Adjustments)
    if lacking := [name for name in questions if name not in codebook]:
        raise InputError(f"{folder / CODEBOOK}: no {lacking[0]}, which {METADATA} has; take both of one version")
    for name, each in questions.items():
        if each.use_case == "value":
            _require_same(folder, name, each, adjustments.get(name, {}))
        elif name in adjustments:
            raise InputError(f"{folder / ADJUSTMENT}: {name} is recoded, though no question; remove it")
    return SeedFiles(folder, questions, {name: codebook[name].choices for name in questions})


def _require_same(folder: Path, name: str, found: SeedQuestion, adjusted: Mapping[str, str]) -> None:
    question = load_value_questions().get(name)
    if question is None:
        raise InputError(
            f"{folder / METADATA}: {name} is none of the {len(load_value_questions())} questions; remove it"
        )
    if (found.answer_scale_min, found.answer_scale_max) != (question.lo, question.hi):
        raise InputError(
            f"{folder / METADATA}: {name} has a scale of {found.answer_scale_min} to {found.answer_scale_max}, "
            f"{question.lo} to {question.hi} was expected; take the seed's own file"
        )
    if dict(adjusted) != (expected := _adjustment(question)):
        raise InputError(
            f"{folder / ADJUSTMENT}: {name} is recoded by {dict(adjusted)}, {expected} was expected; take the "
            "seed's own file"
        )


def _adjustment(question: ValueQuestion) -> dict[str, str]:
    recoded = {str(old): str(new) for old, new in question.recodes.items()}
    return recoded | {str(code): "" for code in question.missing}


def _read(path: Path, kind: type[pydantic.RootModel[AnyFile]]) -> AnyFile:
    return validated(kind, read_json(path, InputError), InputError, str(path)).root
