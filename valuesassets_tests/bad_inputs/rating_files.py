"""Ratings that cannot be scored, and people who cannot be asked: `worldvaluesbench evaluate`."""

from collections.abc import Callable
from pathlib import Path

from valuesassets.instruments.worldvaluesbench.material.stored_dataset import write_dataset
from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.instruments.worldvaluesbench.rated_people import drawn_scores, people_of

COMMAND = "worldvaluesbench evaluate --dataset data --questions Q1,Q2 --probe all --resamples 20 --output scores"
TSV = "QUESTION_ID\tPARTICIPANT_ID\tSCORE\n"
CSV = "question_id,B_COUNTRY,H_URBRURAL,Q275,response_value,prob\n"
SAMPLES = "Question\tQuestion Category\tContinent\tUrban / Rural\tEducation\tD_INTERVIEW\n"
HEADERS = "QUESTION_ID PARTICIPANT_ID SCORE, or question_id, attributes such as B_COUNTRY, response_value, prob"


def made(n_per_group: int = 5, **texts: str) -> Callable[[Path], object]:
    """A data set of eight groups, good ratings, and files of these texts."""

    def make(folder: Path) -> None:
        dataset = people_of(n_per_group)
        write_dataset(dataset, folder / "data")
        drawn_scores(dataset, 1).to_csv(folder / "good.tsv", sep="\t", index=False)
        for name, text in texts.items():
            (folder / f"{name}.tsv").write_text(text)

    return make


def bad(name: str, ratings: str, message: str) -> Case:
    return Case(name, f"{COMMAND} --ratings m=bad.tsv", f"bad.tsv: {message}", made(bad=ratings))


def bad_samples(name: str, samples: str, message: str) -> Case:
    command = COMMAND.replace("--probe all", "--probe samples.tsv")
    return Case(name, f"{command} --ratings m=good.tsv", f"samples.tsv: {message}", made(samples=SAMPLES + samples))


CASES = [
    bad(
        "ratings without a header",
        "Q1\t156070001\t3\n",
        f"row 1: 'Q1, 156070001, 3' is no header; {HEADERS} was expected; add that line",
    ),
    bad("a header alone", TSV, "holds no rating below its header; a row for each was expected; name another file"),
    bad("no ratings at all", "", "is an empty file, a table of ratings was expected; name another file"),
    bad(
        "a rating of an unknown question",
        f"{TSV}Q1\t156070001\t3\nQ999\t156070001\t3\n",
        "row 3: question_id: found Q999, ids such as Q1 to Q259, Q234A were expected; mend or remove it",
    ),
    bad(
        "a rating for somebody unknown",
        f"{TSV}Q1\t42\t3\n",
        "row 2: person 42: nobody in the data set has this id; is it another version of the data?",
    ),
    bad(
        "two ratings for one person and question",
        f"{TSV}Q1\t156070001\t3\nQ1\t156070001\t4\n",
        "row 3: Q1, 156070001 stands in row 2 too; one rating of each person and question was expected; keep one",
    ),
    bad(
        "a fraction for a rating",
        f"{TSV}Q1\t156070001\t2.5\n",
        "row 2: SCORE: found 2.5, a whole number was expected; round it, or leave it empty",
    ),
    bad(
        "words for a rating",
        f"{TSV}Q1\t156070001\tquite important\n",
        "row 2: SCORE: found quite important, a number was expected; mend it, or leave it empty if there is none",
    ),
    bad(
        "a row that is cut off",
        f"{TSV}Q1\t156070001\t3\nQ2\t1560\n",
        "not a table: Expected 3 columns, got 2: [...]; mend the file there",
    ),
    bad(
        "a quotation mark that takes in rows",
        f'{TSV}Q1\t156070001\t3\nQ1\t"156070002\t3\nQ1\t1560\n',
        "line 3: a quotation mark takes in what follows it; close it in its field, double it or leave it out",
    ),
    bad(
        "ratings of questions that are not asked",
        f"{TSV}Q3\t156070001\t3\n",
        "rates nothing that is asked; is it of this probe?",
    ),
    bad(
        "probabilities that do not sum to 1",
        f"{CSV}Q1,156,1,2,1,.5\nQ1,156,1,2,2,.4\n",
        "row 2: probabilities of Q1 for B_COUNTRY=156,H_URBRURAL=1,Q275=2 sum to 0.9, 1 was expected; give every "
        "answer, normalised",
    ),
    bad(
        "a distribution for a background that nobody has",
        f"{CSV}Q1,250,1,2,1,1\n",
        "Q1: nobody in the data set is B_COUNTRY=250,H_URBRURAL=1,Q275=2; give codes as the survey has them, or remove "
        "its rows",
    ),
    bad(
        "a probability of an answer off the scale",
        f"{CSV}Q1,156,1,2,5,1\n",
        "row 2: response_value: found 5 of Q1, 1 to 4 was expected; mend it",
    ),
    Case(
        "ratings that are not there",
        f"{COMMAND} --ratings m=godo.tsv",
        "godo.tsv: no such file; did you mean good.tsv?",
        made(),
    ),
    Case(
        "answers without attributes that depend on them",
        f"{COMMAND} --ratings m=good.tsv --without m=bad.tsv",
        "bad.tsv: Q1 is rated for B_COUNTRY=156,H_URBRURAL=1,Q275=2, not without attributes; leave them empty or give "
        "the file as ratings with attributes",
        made(bad=f"{CSV}Q1,156,1,2,1,1\n"),
    ),
    Case(
        "no ratings named",
        COMMAND,
        "ratings: none given; name a model and its file: --ratings NAME=FILE",
        made(),
    ),
    Case(
        "a control's name for a model",
        f"{COMMAND} --ratings majority=good.tsv",
        "--ratings majority=...: this name stands for a control; choose another",
        made(),
    ),
    Case(
        "ratings without a name",
        f"{COMMAND} --ratings good.tsv",
        "Invalid value: --ratings good.tsv: a name and a file were expected, as --ratings mine=mine.tsv; see "
        "`valuesassets worldvaluesbench evaluate --help`",
        made(),
        code=2,
    ),
    Case(
        "no data set",
        f"{COMMAND} --ratings m=good.tsv".replace("--dataset data", "--dataset dta"),
        "dta: no such folder; did you mean data?; `valuesassets worldvaluesbench dataset` writes one",
        made(),
    ),
    Case(
        "groups of fewer people than are needed",
        f"{COMMAND} --ratings m=good.tsv --min-group 9",
        "probe: no group has 9 people who answered; two groups are needed: lower min_group or ask more",
        made(),
    ),
    Case(
        "nobody to draw",
        f"{COMMAND.replace('--probe all', '--probe 5')} --ratings m=good.tsv",
        "probe: no group with more than 5 people of the split test who answered: 40 people, of whom 40 have all of "
        "continent, settlement, education; ask for fewer",
        made(),
    ),
    bad_samples(
        "a probe with somebody who is not in the data set",
        "Q1\tc\tAsia\tUrban\tTertiary\t7\n",
        "row 2: person 7: nobody in the data set has this id; is it another version of the data?",
    ),
    Case(
        "a probe of one group",
        f"{COMMAND.replace('--probe all', '--probe samples.tsv')} --ratings m=good.tsv",
        "probe: only Asia urban lower_secondary has 5 people who answered; two groups are needed: lower min_group or "
        "ask more",
        made(samples=SAMPLES + "".join(f"Q1\tc\tAsia\tUrban\tLower Secondary\t15607000{n}\n" for n in range(1, 6))),
    ),
]
