"""Small files of exemplars and of answers made anywhere, and what stands in them."""

import json

import pandas as pd

from valuesassets.instruments.worldwise.material.dimensions import AXES

PAIRS = {
    "freedom choice self": "family duty together",
    "freedom career self": "family respect together",
    "freedom travel self": "family feast together",
    "freedom money self": "family house together",
    "freedom time self": "family meal together",
    "freedom views self": "family peace together",
}
"""Sentences whose words alone distinguish the poles."""


def exemplar_lines(axes=AXES):
    """Lines of a file of exemplars in which every axis has the pairs above, with a word of its own."""
    lines = ["axis,pole,pair,text"]
    for axis in axes:
        for number, (high, low) in enumerate(PAIRS.items()):
            lines += [f"{axis},high,{axis}-{number},{axis} {high}", f"{axis},low,{axis}-{number},{axis} {low}"]
    return lines


def answer(number=0, **given):
    """One answer with all its columns."""
    return {
        "response_id": f"r{number}",
        "scenario_id": "S1",
        "axis": "IDV",
        "model": "m",
        "culture": "unprompted",
        "decision": "Option A",
        "values": ["Freedom"],
        "explanation": "I want freedom. It is my choice.",
    } | given


def many_answers():
    """Two models, two scenarios, two cultures and none: the culture HIG speaks of freedom, LOW of family."""
    texts = {
        "HIG": ("I want freedom for my self. The choice is mine.", ["Freedom"]),
        "LOW": ("My family comes first. We stay together.", ["Family"]),
        "unprompted": ("I weigh freedom. I weigh family.", ["Freedom", "Family"]),
    }
    places = [
        (model, scenario, culture) for model in "mn" for scenario in (("S1", "IDV"), ("S2", "PDI")) for culture in texts
    ]
    return [
        answer(
            number,
            scenario_id=scenario,
            axis=axis,
            model=model,
            culture=culture,
            values=texts[culture][1],
            explanation=f"{texts[culture][0]} Answer {number}.",
        )
        for number, (model, (scenario, axis), culture) in enumerate(places)
    ]


def write_lines(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_answers(path, listed):
    """Answers in the format that the ending of the path names."""
    if path.suffix == ".json":
        path.write_text(json.dumps(listed))
    elif path.suffix == ".jsonl":
        write_lines(path, map(json.dumps, listed))
    elif path.suffix == ".parquet":
        pd.DataFrame(listed).to_parquet(path)
    else:
        pd.DataFrame([each | {"values": "; ".join(each["values"])} for each in listed]).to_csv(path, index=False)
    return path
