"""The published files: three that describe the variables, and `seed_format/`, eight TSV files of people and answers.

The three are in the folder `dataset_construction` of a copy of the authors' repository. The eight have the same bytes
as those of the published script.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pydantic
from pyarrow import csv

from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.material.splits import SPLITS, published_order
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, load_value_questions
from valuesassets.people.own_variables import NO_IDS
from valuesassets.people.repeated_ids import Entry
from valuesassets.records.errors import InputError
from valuesassets.records.faults import validated
from valuesassets.records.files import no_such_file, read_json, whole_file

ID = "D_INTERVIEW"
DEMOGRAPHIC, VALUE = "demographic", "value"
FILES = tuple(Path(split, f"{split}_{use}_qa.tsv") for split in ("full", *SPLITS) for use in (DEMOGRAPHIC, VALUE))
DROPPED = "858069901"
"""The only id whose rows the published script leaves out."""
EMPTY = np.iinfo(np.int64).min
"""The code of an empty cell while codes are sorted."""
METADATA, CODEBOOK, ADJUSTMENT = "question_metadata.json", "codebook.json", "answer_adjustment.json"

AnyFile = TypeVar("AnyFile")


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="ignore")


class PublishedQuestion(_Record):
    """The published description of a variable.

    Attributes:
        use_case: whether it belongs to a person's background or is asked of models.
        answer_scale_min, answer_scale_max: ends of its scale; empty without a scale.
        answer_data_type: `ordinal` for numbers on a scale; other answers have labels.
    """

    question: str
    category: str = ""
    use_case: Literal["demographic", "value"]
    answer_scale_min: int | Literal[""] = ""
    answer_scale_max: int | Literal[""] = ""
    answer_data_type: Literal["ordinal", "non_ordinal"]


class _Codes(_Record):
    choices: dict[str, str] = {}


_Questions = pydantic.RootModel[dict[str, PublishedQuestion]]
_Codebook = pydantic.RootModel[dict[str, _Codes]]
_Adjustments = pydantic.RootModel[dict[str, dict[str, str]]]


@dataclass(frozen=True)
class PublishedFiles:
    """The published files: questions by variable, in the order of their columns, and labels by variable and code."""

    folder: Path
    questions: Mapping[str, PublishedQuestion]
    labels: Mapping[str, Mapping[str, str]]

    def named(self, use_case: str) -> list[str]:
        """Variables of a use case in the published order, without the id of the interview."""
        return [name for name, each in self.questions.items() if each.use_case == use_case and name != ID]


def read_published_files(folder: Path) -> PublishedFiles:
    """The three files of a folder, which must agree with the bundled scales and recodings.

    Raises:
        InputError: the folder or a file is missing or malformed, or a question has another scale or recoding.
    """
    if not folder.is_dir():
        raise InputError(no_such_file(folder, "folder"))
    questions = _read(folder / METADATA, _Questions)
    if ID not in questions:
        raise InputError(
            f"{folder / METADATA}: no {ID} among its {len(questions)} variables; is it the published file?"
        )
    codebook = _read(folder / CODEBOOK, _Codebook)
    adjustments = _read(folder / ADJUSTMENT, _Adjustments)
    if lacking := [name for name in questions if name not in codebook]:
        raise InputError(f"{folder / CODEBOOK}: no {lacking[0]}, which {METADATA} has; take both of one version")
    for name, each in questions.items():
        if each.use_case == "value":
            _require_same(folder, name, each, adjustments.get(name, {}))
        elif name in adjustments:
            raise InputError(f"{folder / ADJUSTMENT}: {name} is recoded, though no question; remove it")
    return PublishedFiles(folder, questions, {name: codebook[name].choices for name in questions})


def _require_same(folder: Path, name: str, published: PublishedQuestion, adjusted: Mapping[str, str]) -> None:
    question = load_value_questions().get(name)
    if question is None:
        raise InputError(
            f"{folder / METADATA}: {name} is none of the {len(load_value_questions())} questions; remove it"
        )
    if (published.answer_scale_min, published.answer_scale_max) != (question.lo, question.hi):
        raise InputError(
            f"{folder / METADATA}: {name} has a scale of {published.answer_scale_min} to {published.answer_scale_max}, "
            f"{question.lo} to {question.hi} was expected; take the published file"
        )
    if dict(adjusted) != (expected := _adjustment(question)):
        raise InputError(
            f"{folder / ADJUSTMENT}: {name} is recoded by {dict(adjusted)}, {expected} was expected; take the "
            "published file"
        )


def _adjustment(question: ValueQuestion) -> dict[str, str]:
    recoded = {str(old): str(new) for old, new in question.recodes.items()}
    return recoded | {str(code): "" for code in question.missing}


def _read(path: Path, kind: type[pydantic.RootModel[AnyFile]]) -> AnyFile:
    return validated(kind, read_json(path, InputError), InputError, str(path)).root


def write_published_format(dataset: Dataset, published: PublishedFiles, folder: Path) -> list[Path]:
    """Write `<split>/<split>_{demographic,value}_qa.tsv` for full, train, valid and test.

    Backgrounds have the published labels, answers are numbers, and missing cells are empty. Splits and the order of
    rows are the published ones, regardless of the rule of the data set.

    Raises:
        InputError: the published files have a variable that the data set does not have.
        StorageError: a file cannot be written.
    """
    require_variables(dataset, published)
    backgrounds, answers = _backgrounds(dataset, published), _answers(dataset, published)
    plain = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    for split, places in {"full": list(range(len(backgrounds))), **published_order(len(backgrounds))}.items():
        with whole_file(folder / split / f"{split}_{DEMOGRAPHIC}_qa.tsv") as path:
            backgrounds.iloc[places].to_csv(path, sep="\t", index=False, encoding="utf-8", lineterminator="\n")
        with whole_file(folder / split / f"{split}_{VALUE}_qa.tsv") as path, open(path, "wb") as stream:
            stream.write(("\t".join(answers.column_names) + "\n").encode())
            csv.write_csv(answers.take(pa.array(places)), stream, plain)
    return [folder / path for path in FILES]


def require_variables(dataset: Dataset, published: PublishedFiles) -> None:
    """Check that a data set has all variables of the published files.

    Raises:
        InputError: names the first variable that is missing; or its people have no ids of the survey.
    """
    if (dataset.ledger["why"] == NO_IDS).any():
        raise InputError(
            f"column {ID}: the survey's file has none, and the published files name people by it; take the file as the "
            "survey distributes it, or leave out the published files"
        )
    for use_case, frame in ((DEMOGRAPHIC, dataset.participants), (VALUE, dataset.value_answers)):
        for name in published.named(use_case):
            if name not in frame:
                raise InputError(
                    f"{published.folder / METADATA}: {name} ({use_case}) is not in the data set; remove it there, or "
                    "take the published file"
                )


def unlike_published(dataset: Dataset) -> list[Entry]:
    """The ids with other rows in the eight files than in the published ones, which leave out only `DROPPED`."""
    ledger, what = dataset.ledger, "unlike the seed's"
    treated = ledger[ledger["what"].isin(("dropped", "merged", "renumbered")) & (ledger["subject"] != DROPPED)]
    counts = treated.groupby("subject", sort=False)["n"].sum()
    entries = [
        Entry(what, str(name), int(n), "its script keeps rows of this id as they are") for name, n in counts.items()
    ]
    if n := int((dataset.participants["interview_id"] == DROPPED).sum()):
        entries.append(Entry(what, DROPPED, n, "its script drops this id"))
    return entries


def _backgrounds(dataset: Dataset, published: PublishedFiles) -> pd.DataFrame:
    columns = {ID: dataset.participants["participant_id"].to_numpy(dtype=object)}
    for name in published.named(DEMOGRAPHIC):
        is_label = published.questions[name].answer_data_type != "ordinal"
        labels = published.labels[name]
        codes = dataset.participants[name].to_numpy(dtype=np.int64, na_value=EMPTY)
        kinds, place = np.unique(codes, return_inverse=True)
        texts = [labels.get(str(code), str(code)) if is_label else str(code) if code >= 0 else "" for code in kinds]
        texts = ["" if code == EMPTY else text for code, text in zip(kinds, texts, strict=True)]
        columns[name] = np.array(texts, dtype=object)[place]
    return pd.DataFrame(columns)


def _answers(dataset: Dataset, published: PublishedFiles) -> pa.Table:
    columns = {ID: pa.array(dataset.participants["participant_id"])}
    for name in published.named(VALUE):
        codes = dataset.value_answers[name].to_numpy(dtype=np.int16, na_value=-1)
        columns[name] = pa.array(codes, mask=codes < 0)
    return pa.table(columns)
