"""Dilemmas, cultures, values, sentences and answers that cannot be used: the commands of worldwise."""

import json
from collections.abc import Callable
from pathlib import Path

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import all_of, files, put
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, JAPAN, dilemmas

TRIALS = "worldwise trials --scenarios dilemmas.json --cultures cultures.json --output trials.parquet"
REASON = "worldwise reason --model tiny --scenarios dilemmas.json --output reasons.parquet"
SCORE = "worldwise score --responses answers.jsonl --exemplars exemplars.csv --embedder lexical --output scores"
ANSWER = {
    "response_id": "r1",
    "scenario_id": "IVR-x1",
    "axis": "IVR",
    "model": "m",
    "culture": "Japan",
    "decision": "Go and hear the band.",
    "values": ["Fun"],
    "explanation": "I want to hear them.",
}
PAIRS = "".join(
    f'IVR,{pole},p{n},"{pole} sentence number {n} of its own."\n' for n in range(4) for pole in ("high", "low")
)
EXEMPLARS = f"axis,pole,pair,text\n{PAIRS}"
VALUES = "value,axis,pole\nFun,IVR,high\nPropriety,IVR,low\n"
TARGETS = "culture,axis,seed_target\nJapan,IVR,-0.5\n"


def made(**contents: object) -> Callable[[Path], object]:
    """Good files, but for those whose content is given by what stands before the dot."""
    good = {
        "dilemmas.json": DILEMMAS,
        "cultures.json": {"JPN": JAPAN},
        "exemplars.csv": EXEMPLARS,
        "values.csv": VALUES,
        "targets.csv": TARGETS,
        "answers.jsonl": json.dumps(ANSWER) + "\n",
    }

    def make(folder: Path) -> None:
        for name, content in good.items():
            put(folder / name, contents.get(name.partition(".")[0], content))

    return make


def bad(name: str, message: str, command: str = TRIALS, code: int = 1, **contents: object) -> Case:
    return Case(name, command, message, made(**contents), code)


def answer(**changes: object) -> str:
    """A file of one answer, with these keys; without those that are None."""
    return json.dumps({name: value for name, value in (ANSWER | changes).items() if value is not None}) + "\n"


CASES = [
    bad(
        "an unknown axis",
        "dilemmas.json: scenario 1 (IVR-x1): key 'axis': one of IDV, PDI, MAS, UAI, LTO, IVR was expected (found "
        '"IND")',
        dilemmas=dilemmas(axis="IND"),
    ),
    bad(
        "one dilemma under two ids",
        "dilemmas.json: scenario 2 (IVR-x2): its text is that of IVR-x1; keep one",
        dilemmas=[DILEMMAS[0], {**DILEMMAS[0], "id": "IVR-x2"}],
    ),
    bad(
        "two dilemmas of one id",
        "dilemmas.json: scenario 2: id IVR-x1 is that of scenario 1; rename one",
        dilemmas=[DILEMMAS[0], {**DILEMMAS[1], "id": "IVR-x1"}],
    ),
    bad(
        "equal options",
        'dilemmas.json: scenario 1 (IVR-x1): both options are "Go and hear the band."; write two that differ',
        dilemmas=dilemmas(low=DILEMMAS[0]["high"]),
    ),
    bad(
        "an empty option",
        "dilemmas.json: scenario 1 (IVR-x1): key 'low': text that is not empty was expected (found \" \")",
        dilemmas=dilemmas(low="  "),
    ),
    bad(
        "an option that is missing",
        "dilemmas.json: scenario 1 (IVR-x1): key 'low' is missing; add it",
        dilemmas=dilemmas(low=None),
    ),
    bad(
        "an axis with one dilemma",
        "dilemmas.json: IVR-x1 is the only scenario on IVR, at least 2 were expected; add one or leave it out",
        dilemmas=[DILEMMAS[0]],
    ),
    bad(
        "an object for an array of dilemmas",
        "dilemmas.json: an object found, an array of scenarios was expected; mend it",
        dilemmas={"dilemmas": DILEMMAS},
    ),
    bad(
        "dilemmas that are no JSON",
        "dilemmas.json: line 1, column 1: not JSON (Expecting value); mend the file there",
        dilemmas="id,axis\n",
    ),
    bad(
        "a culture without a place",
        "cultures.json: JPN: key 'place' is missing; add it",
        cultures={"JPN": {k: v for k, v in JAPAN.items() if k != "place"}},
    ),
    bad(
        "a culture that is called as a control is",
        "cultures.json: placebo: is the name of a control, which is asked anyway; leave it out or rename it",
        cultures={"placebo": JAPAN},
    ),
    bad(
        "a culture of two lines",
        "cultures.json: JPN: key 'place': text like ^[^\\r\\n]*$ was expected (found \"Japan\\nand Korea\")",
        cultures={"JPN": JAPAN | {"place": "Japan\nand Korea"}},
    ),
    bad(
        "no cultures in a file of them",
        'cultures.json: an empty object found, an object such as {"JPN": {...}} was expected; mend it',
        cultures={},
    ),
    bad(
        "a wording that there is not",
        "Invalid value: --wordings 3: some of 0,1,2 was expected, each once; see `valuesassets worldwise trials "
        "--help`",
        f"{TRIALS} --wordings 3",
        code=2,
    ),
    bad(
        "a form that there is not",
        "Invalid value: --forms decide,close: some of decide,open,advocate was expected, each once; see "
        "`valuesassets worldwise reason --help`",
        f"{REASON} --forms decide,close",
        code=2,
    ),
    bad(
        "a budget for a model that is loaded here",
        "Invalid value: --concurrency, --budget-requests: for a model behind an API; name its --base-url, or "
        "leave them out; see `valuesassets worldwise reason --help`",
        f"{REASON} --budget-requests 5",
        code=2,
    ),
    bad(
        "a value of a pole that there is not",
        "values.csv: line 3: pole 'left' found, one of high, low was expected",
        f"{REASON} --values values.csv",
        values=VALUES.replace("low", "left"),
    ),
    bad(
        "a value that stands there twice",
        "values.csv: line 4: value fun stands in line 2 already; keep one",
        f"{REASON} --values values.csv",
        values=f"{VALUES}fun,IVR,low\n",
    ),
    bad(
        "values of one pole alone",
        "values.csv: all values of IVR are high; add some of the other pole",
        f"{REASON} --values values.csv",
        values="value,axis,pole\nFun,IVR,high\n",
    ),
    bad(
        "a model that is not there",
        "./tiny: no such folder; check the path, or give a hub id such as owner/name",
        REASON.replace("tiny", "./tiny"),
    ),
    bad(
        "half a pair of sentences",
        "exemplars.csv: row 8: pair p3 has IVR high; one high and one low sentence of one axis were expected; mend it",
        SCORE,
        exemplars=EXEMPLARS.rsplit("IVR", 1)[0],
    ),
    bad(
        "a pair with its poles alike",
        "exemplars.csv: row 2: pair p0 has IVR high, IVR high; one high and one low sentence of one axis were "
        "expected; mend it",
        SCORE,
        exemplars=EXEMPLARS.replace("low,p0", "high,p0"),
    ),
    bad(
        "sentences without a column",
        "exemplars.csv: row 1: no column pole (found axis, side, pair, text); a table (CSV) with columns axis, "
        "pole, pair, text was expected; add it",
        SCORE,
        exemplars=EXEMPLARS.replace("pole", "side", 1),
    ),
    bad(
        "a sentence twice",
        "exemplars.csv: row 9: the text of row 8 again ('high sentence number 3 of its own.'), each once was "
        "expected; remove one",
        SCORE,
        exemplars=EXEMPLARS.replace("low sentence number 3", "high sentence number 3"),
    ),
    bad(
        "answers without a column",
        "answers.jsonl: line 1: no explanation found, response_id, scenario_id, axis, model, culture, decision, "
        "values, explanation were expected; add it",
        SCORE,
        answers=answer(explanation=None),
    ),
    bad(
        "an answer of an unknown axis",
        "answers.jsonl: line 1: axis 'XYZ' found, one of IDV, PDI, MAS, UAI, LTO, IVR was expected; mend it",
        SCORE,
        answers=answer(axis="XYZ"),
    ),
    bad(
        "answers of a culture without a target",
        "targets.csv: targets of Japan found, the answers are of Peru; call the cultures by one name",
        f"{SCORE} --targets targets.csv",
        answers=answer(culture="Peru"),
    ),
    bad(
        "two answers of one id",
        "answers.jsonl: line 2: response_id 'r1' stands in line 1 too; each once was expected",
        SCORE,
        answers=answer() * 2,
    ),
    bad(
        "no answers",
        "answers.jsonl: is an empty file, a file of JSON lines was expected; name another file",
        SCORE,
        answers="",
    ),
    bad(
        "an embedder that is not there",
        "./embedder: no such folder; check the path",
        SCORE.replace("lexical", "./embedder"),
    ),
    Case(
        "an embedder whose weights are a pickle",
        SCORE.replace("lexical", "./embedder"),
        "./embedder: its weights are in pytorch_model.bin, which can hold code; save them as safetensors "
        "(save_pretrained does)",
        all_of(made(), files({"embedder/modules.json": [], "embedder/pytorch_model.bin": b"\x80\x02."})),
    ),
    bad(
        "scores where a file lies",
        "values.csv: cannot be written: values.csv is a file, not a folder; choose another folder",
        SCORE.replace("output scores", "output values.csv"),
    ),
]
