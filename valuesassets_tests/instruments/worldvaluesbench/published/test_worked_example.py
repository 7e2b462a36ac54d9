"""What the documentation prints of the worked example is what the example prints."""

from valuesassets.instruments.worldvaluesbench.published import worked_example
from valuesassets_tests.needs import REPOSITORY


def test_the_documentation_shows_what_the_example_prints(capsys):
    worked_example.main()
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.strip().splitlines()]
    page = (REPOSITORY / "docs" / "worldvaluesbench.md").read_text(encoding="utf-8")
    lines = {" ".join(line.split()) for line in page.splitlines()}
    assert [line for line in printed if line not in lines] == []


def test_models_that_score_alike_move_as_they_were_made_to(capsys):
    worked_example.main()
    rows = [line.rsplit(maxsplit=2)[-2:] for line in capsys.readouterr().out.strip().splitlines()[2:]]
    assert rows == [["0.00", "1.00"], ["0.00", "0.50"], ["0.00", "0.00"], ["0.00", "-1.00"]]
