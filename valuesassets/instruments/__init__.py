"""Instruments turn their material into trials, and readings into statistics; here are their records, one entry each."""

from valuesassets.records.instruments import Instrument

WIRINGS = "valuesassets.orchestration.assets"

SURVEY = Instrument(
    "survey",
    settings="valuesassets.records.settings.questionnaires:Questionnaires",
    wiring=f"{WIRINGS}.survey.material:survey_assets",
    package=f"{__name__}.survey",
    jobs=f"{WIRINGS}.survey.material:survey_jobs",
    is_named_everywhere=False,
    scale=f"{__name__}.survey.material.analysis_scale:ordinal_places",
    table="questionnaires",
)
WORLDVALUESBENCH = Instrument(
    "worldvaluesbench",
    settings="valuesassets.records.settings.worldvaluesbench:WorldValuesBench",
    wiring=f"{WIRINGS}.worldvaluesbench.material:worldvaluesbench_assets",
    package=f"{__name__}.worldvaluesbench",
    part="set",
    parts=f"{__name__}.worldvaluesbench.material.parts:parts",
    commands="valuesassets.cli.worldvaluesbench",
)
PSYCH_TASKS = Instrument(
    "psych_tasks",
    settings="valuesassets.records.settings.psych_tasks:PsychTasks",
    wiring=f"{WIRINGS}.psych_tasks.material:psych_tasks_assets",
    package=f"{__name__}.psych_tasks",
    part="task",
    parts=f"{__name__}.psych_tasks.material.parts:parts",
    commands="valuesassets.cli.psych_tasks",
)
CULTURAL_ROBUSTNESS = Instrument(
    "cultural_robustness",
    settings="valuesassets.records.settings.cultural_robustness:CulturalRobustness",
    wiring=f"{WIRINGS}.cultural_robustness.material:cultural_robustness_assets",
    package=f"{__name__}.cultural_robustness",
    checks=("every_answer_is_written", "answers_come_to_an_end"),
    asks="answers",
    chat_trials="chat_trials",
    answer_pages="answer_quality",
    commands="valuesassets.cli.cultural_robustness",
)
WORLDWISE = Instrument(
    "worldwise",
    settings="valuesassets.records.settings.worldwise:Worldwise",
    wiring=f"{WIRINGS}.worldwise.material:worldwise_assets",
    package=f"{__name__}.worldwise",
    part="culture",
    parts=f"{__name__}.worldwise.material.parts:parts",
    commands="valuesassets.cli.worldwise",
)
INSTRUMENTS = (SURVEY, WORLDVALUESBENCH, PSYCH_TASKS, CULTURAL_ROBUSTNESS, WORLDWISE)
