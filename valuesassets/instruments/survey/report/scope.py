"""What of the survey's analyses belongs to a study: a report does not speak of what was never in it."""

from dataclasses import replace

from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.measures.cultural_map import QUESTIONS
from valuesassets.reporting.run import Run


def within_study(run: Run) -> Run:
    """The run without the analyses of people, of the map, of languages or of kinds of models that its study has not."""
    study, out = run.study, set[str]()
    if study.human.source == "none":
        out |= {"signal", "human_comparison"}
    if run.probe is not None and QUESTIONS.isdisjoint(base_id(str(each)) for each in run.probe["question_id"].unique()):
        out.add("cultural_map")
    if len({family.model_type for family in study.families.values()}) < 2:
        out.add("mono_vs_multi")
    if len(study.languages) < 2:
        out.add("reliability")
    if len(study.cells()) < 2:
        out.add("distances")
    if {"signal", "reliability"} <= out:  # no analysis that made worlds try
        out.add("simulated_worlds")
    return replace(
        run,
        analyses={name: each for name, each in run.analyses.items() if name not in out},
        found={name: each for name, each in run.found.items() if name not in out},
    )
