"""`worldwise/reason_vectors`: answers as vectors: their reasons, and the texts that worldWiseAI scored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.answer_texts import sentences
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, OK
from valuesassets.instruments.worldwise.answers.vectors import Vectors, vector_columns
from valuesassets.instruments.worldwise.material.dimensions import HIGH
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.measures.projections import text_vectors
from valuesassets.instruments.worldwise.published.measures import COMPOSITIONS
from valuesassets.instruments.worldwise.tables import REASON_VECTORS, REASONED
from valuesassets.records.frames import records, rows

KEYS = ("trial_id", "scenario_id", "axis", "culture", "form", "pole", "draw")


@dataclass(frozen=True)
class ReasonTexts:
    """The texts of answers that are embedded.

    Attributes:
        rows: a row for each text, in columns of `REASON_VECTORS`.
        parts: the pieces of each text, whose vectors are averaged.
    """

    rows: list[dict[str, Any]]
    parts: list[list[str]]

    @property
    def pieces(self) -> list[str]:
        """The pieces of all texts, in order."""
        return [piece for parts in self.parts for piece in parts]


def reason_texts(reasons: pd.DataFrame, scenarios: Sequence[Scenario], names: Iterable[str] = ()) -> ReasonTexts:
    """The sentences of each reason that was read, and the texts that worldWiseAI composed of decisions.

    Countries and `names`, those of the study's cultures, are masked.
    """
    by_id, masked = {scenario.id: scenario for scenario in scenarios}, tuple(names)
    text_rows, parts = [], []
    for row in records(rows(reasons, (reasons["status"] == OK) & reasons["explanation"].notna())):
        key = {name: row[name] for name in KEYS}
        texts = {REASONED: sentences(row["explanation"], masked)}
        if row["form"] == DECIDE:
            texts |= {f"seed_{name}": [compose(_decided(row, by_id))] for name, compose in COMPOSITIONS.items()}
        for kind, own in texts.items():
            text_rows.append(key | {"kind": kind})
            parts.append(own)
    return ReasonTexts(text_rows, parts)


def derive_reason_vectors(
    texts: ReasonTexts, vectors: Vectors, is_truncated: NDArray[np.bool_] | None = None
) -> pd.DataFrame:
    """Rows of `REASON_VECTORS`: each text as the mean of its pieces' unit vectors, brought to length one.

    Vectors are (m, d) of the pieces; a text whose pieces have no direction has no row.
    """
    averaged, has_direction = text_vectors(vectors, texts.parts)
    text_of = np.repeat(np.arange(len(texts.parts)), [len(parts) for parts in texts.parts])
    is_cut = False if is_truncated is None else np.bincount(text_of, is_truncated, len(texts.parts)) > 0
    table = REASON_VECTORS.frame(texts.rows).assign(**vector_columns(averaged), is_truncated=is_cut)
    return rows(table, has_direction).reset_index(drop=True)


def _decided(row: Mapping[str, Any], scenarios: Mapping[str, Scenario]) -> dict[str, Any]:
    """An answer with the text of its option as the decision, as worldWiseAI's answers have it."""
    scenario = scenarios[row["scenario_id"]]
    return {**row, "decision": scenario.high if row["decision"] == HIGH else scenario.low}
