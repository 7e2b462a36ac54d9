"""`survey/distances`: how far every two cells are apart, and the plane on which they lie."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.cell_answers import answers_by_cell, apart
from valuesassets.measure.mds import plane_from_distances


@dataclass(frozen=True)
class Distances:
    """Distances between cells.

    Attributes:
        pairs: one row per ordered pair of cells, itself included: mean `jsd_distance` over `n_items` shared items,
            mean `w1_unit` over the `n_items_w1` of them that have an order; null where nothing is shared.
        points: one row per cell: x, y of the MDS plane (jsd_distance) and its stress.
        notes: sentences that belong under the figure.
    """

    pairs: pd.DataFrame
    points: pd.DataFrame
    notes: pd.DataFrame

    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        return {"pairs": self.pairs, "points": self.points, "notes": self.notes}


def derive_distances(answers: pd.DataFrame) -> Distances:
    """Distances between all cells over the items that both have.

    Args:
        answers: as `usable_answers` gives them.
    """
    cells = answers_by_cell(answers)
    plain = {cell: {name: answer.distribution for name, answer in found.items()} for cell, found in cells.items()}
    rows = []
    for number, (one, answered) in enumerate(cells.items()):
        for other in list(cells)[number:]:
            found = apart(answered, plain[other])
            sides = [(one, other)] if one == other else [(one, other), (other, one)]
            rows += [
                {
                    "model_a": a[0],
                    "language_a": a[1],
                    "model_b": b[0],
                    "language_b": b[1],
                    "jsd_distance": found.jsd_distance,
                    "n_items": found.n_items,
                    "w1_unit": found.w1_unit,
                    "n_items_w1": found.n_items_w1,
                }
                for a, b in sides
            ]
    pairs = pd.DataFrame(rows).astype({"jsd_distance": float, "w1_unit": float})
    points, note = _plane(pairs, list(cells))
    return Distances(pairs, points, pd.DataFrame({"note": [note]}))


def _plane(pairs: pd.DataFrame, cells: list[tuple[str, str]]) -> tuple[pd.DataFrame, str]:
    columns = ["model", "language", "x", "y", "stress", "n_cells"]
    order = {cell: place for place, cell in enumerate(cells)}
    matrix = np.full((len(cells), len(cells)), np.nan)
    for row in pairs.itertuples():
        matrix[order[row.model_a, row.language_a], order[row.model_b, row.language_b]] = row.jsd_distance  # type: ignore[index]
    if len(cells) < 3 or np.isnan(matrix).any():
        why = f"{len(cells)} cells" if len(cells) < 3 else "some cells share no item"
        return pd.DataFrame(
            columns=pd.Index(columns)
        ), f"No plane is drawn: {why}; three or more that share items are needed."
    plane = plane_from_distances(matrix)
    rows = [
        dict(zip(columns, (*cell, float(x), float(y), plane.stress, len(cells)), strict=True))
        for cell, (x, y) in zip(cells, plane.points, strict=True)
    ]
    items = pairs["n_items"]
    note = (
        f"Jensen-Shannon distance, mean over {items.min()} to {items.max()} shared items; "
        f"normalised stress of the plane {plane.stress:.2f} over {len(cells)} cells."
    )
    return pd.DataFrame(rows), note
