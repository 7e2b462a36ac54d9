"""Any part of a grid gives tables and figures, or says why not; never a warning and never a crash."""

import pandas as pd
import pytest

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.distances import derive_distances
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.comparing.mono_vs_multi import derive_mono_vs_multi
from valuesassets.comparing.position_bias import derive_position_bias
from valuesassets.figures.cell_distances import draw_distance_structure, draw_jsd_heatmap, draw_nearest_neighbours
from valuesassets.figures.mono_vs_multi import draw_mono_vs_multi
from valuesassets.figures.own_country_ranks import draw_own_country_ranks
from valuesassets.figures.position_bias import draw_order_effect
from valuesassets.records.parquet import write_frame
from valuesassets.records.tables import table_of_asset
from valuesassets_tests.comparing.planted_grid import answers, demo, human

PARTS = {
    "one cell": "model == 'reference-mono' and language == 'eng'",
    "one model": "model == 'reference-mono'",
    "one language": "language == 'eng'",
    "one item": "question_id == 'v31'",
    "categorical items": "response_type == 'categorical'",
}
PEOPLE = {"all": "n > 0", "one country": "country == 'GB'", "none": "n < 0"}


def compared(rows, people, study, means=None):
    return derive_human_comparison(answer_grid(rows, people), people, study, means)


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.slow
def test_a_part_of_the_grid_gives_tables_and_figures(part, people):
    rows, known = answers().query(PARTS[part]), human().query(PEOPLE[people])
    distances = derive_distances(answer_grid(rows), demo())
    people_told = compared(rows, known, demo())
    paired = derive_mono_vs_multi(answer_grid(rows, known), demo())
    biased = derive_position_bias(answer_grid(rows), demo())
    for frames in (distances, people_told, paired):
        tests = frames["tests"]
        if len(tests):
            unmade = tests[tests["p"].isna()]
            assert unmade["verdict"].notna().all(), unmade["test"].tolist()
    for frames in (distances, people_told, paired, biased):
        assert frames["notes"]["note"].str.len().gt(0).all()
    draw_jsd_heatmap(distances["pairs"])
    draw_distance_structure(distances["groups"], distances["variance_shares"])
    draw_order_effect(biased["by_response_type"])
    if len(distances["neighbours"]):
        draw_nearest_neighbours(distances["neighbour_counts"])
    families = people_told["own_country"]
    if "n_cells" in families and sum(families["n_cells"]) > 0:
        draw_own_country_ranks(people_told["cells"], families)
    if len(paired["pairs"]):
        draw_mono_vs_multi(paired["pairs"], paired["summary"])


@pytest.mark.slow
def test_every_table_can_be_written_as_it_is(tmp_path):
    for asset, frames in (
        ("distances", derive_distances(answer_grid(answers()), demo())),
        ("human_comparison", compared(answers(), human(), demo())),
        ("human_comparison", compared(answers(), human().query("n < 0"), demo())),
        ("mono_vs_multi", derive_mono_vs_multi(answer_grid(answers(), human()), demo())),
        ("position_bias", derive_position_bias(answer_grid(answers()), demo())),
    ):
        for name, frame in frames.items():
            path, table = tmp_path / f"{name}.parquet", table_of_asset("survey", asset, name)
            write_frame(path, frame, table)
            names = table.schema_with(()).names
            assert list(pd.read_parquet(path).columns) == names
            assert frame.empty or list(frame.columns) == names
