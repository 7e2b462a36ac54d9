"""A small study of worldwise whose model is a server on this machine: it chooses, decides and reasons as is made up."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from valuesassets.instruments.worldwise.material.dimensions import HIGH, LOW
from valuesassets.instruments.worldwise.material.exemplars import read_exemplars
from valuesassets.instruments.worldwise.material.scenarios import Scenario, read_scenarios
from valuesassets.instruments.worldwise.material.value_names import read_value_names
from valuesassets.records.study import study_path
from valuesassets_tests.remote.loopback_openai import LoopbackOpenAi, showing, written

AXES = ("IDV", "PDI", "MAS")
"""A bag of words has no valid axis of the last."""
CULTURES = ("ORVA", "MULD")
P_HIGH: Mapping[str, float] = {"Orvanta": 0.8, "the Muldane Isles": 0.3, "a city": 0.5}
"""By where the persona lives."""
GAP_AXIS = "PDI"
"""Here the high pole is always decided for."""
TARGETS = "culture,axis,seed_target\n" + "".join(
    f"{culture},{axis},{target}\n" for culture, target in (("ORVA", 1.5), ("MULD", -1)) for axis in AXES
)
STUDY = """
name = "small"
title = "A small worldwise"
seed = 11

[inference]
resamples = 199

[preflight]
override = "a server that talks"

[worldwise]
scenarios = "few.json"
embedder = "lexical"
draws = 3
targets = "targets.csv"

{cultures}

[families.talker]
kind = "openai"
model_type = "multi"
model_id = "tiny-chat-0101"
prompting = {{ style = "chat", answer_prefix = "none" }}

[families.talker.endpoint]
provider = "openai"
base_url = "{base_url}"
route = "top_logprobs"
attempts = 1
concurrency = 4
"""


class Talker(LoopbackOpenAi):
    """The server.

    Attributes:
        silent: places of personas whom the server cannot answer when they are asked openly what they would do.
    """

    def __init__(self) -> None:
        super().__init__(self.say, key=None)
        self.silent: set[str] = set()
        self.scenarios = few_scenarios()
        listed = read_exemplars("bundled")
        self.sentences = {
            (axis, pole): part["text"].iloc[0] for (axis, pole), part in listed.groupby(["axis", "pole"], sort=False)
        }
        self.values = read_value_names()

    def say(self, body: dict[str, Any]) -> Any:
        prompt = body["messages"][-1]["content"]
        scenario = next(each for each in self.scenarios if each.situation in prompt)
        place = re.match("You live in (.+) and grew up there", prompt)
        p_high = P_HIGH[place[1]] if place else 0.5
        letters = dict(re.findall(r"^([AB])\. (.+)$", prompt, re.MULTILINE))
        if place and place[1] in self.silent and not letters:
            return {"error": {"message": "the model is being loaded"}}
        poles = {letter: HIGH if option == scenario.high else LOW for letter, option in letters.items()}
        if body.get("top_logprobs"):
            return showing({letter: p_high if pole == HIGH else 1 - p_high for letter, pole in poles.items()})
        pole = HIGH if p_high >= 0.5 or scenario.axis == GAP_AXIS else LOW
        if "in favour of this" in prompt:
            pole = HIGH if scenario.high in prompt else LOW
        sentence = self.sentences[scenario.axis, pole]
        if not letters:
            return written(sentence)
        of_pole = self.values[(self.values["axis"] == scenario.axis) & (self.values["pole"] == pole)]
        letter = next(letter for letter, each in poles.items() if each == pole)
        return written(f"DECISION: {letter}\nVALUES: {'; '.join(of_pole['value'])}\nREASON: {sentence}")


def few_scenarios() -> list[Scenario]:
    """Two bundled dilemmas on each of three axes."""
    return [each for each in read_scenarios() if each.axis in AXES and each.id[-1] in "12"]


def write_talking_study(folder: Path, base_url: str) -> Path:
    """The study's files."""
    (folder / "few.json").write_text(json.dumps([each.model_dump() for each in few_scenarios()]), encoding="utf-8")
    (folder / "targets.csv").write_text(TARGETS, encoding="utf-8")
    tables = study_path("demo_worldwise").read_text(encoding="utf-8").split("\n[")
    cultures = [table for table in tables if table.partition("]")[0].removeprefix("worldwise.cultures.") in CULTURES]
    path = folder / "small.toml"
    told = "\n".join(f"[{table}" for table in cultures)
    path.write_text(STUDY.format(cultures=told, base_url=base_url), encoding="utf-8")
    return path
