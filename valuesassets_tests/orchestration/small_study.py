"""Studies small enough to run in a test: two or three languages, or two questions; few training steps."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from valuesassets.records.study import study_path
from valuesassets_tests.needs import REPOSITORY

LANGUAGES = ("eng", "fra")
THREE_LANGUAGES = ("deu", "eng", "fra")
RATINGS = """
name = "small"
title = "A small WorldValuesBench"
owners = ["team:values"]
seed = 11

[phantom]
steps = 30
samples = 50

[inference]
resamples = 199
worlds = 2

[worldvaluesbench]
answers = "planted"
people = 800
slopes = { aware = 0.8, contrary = -0.4 }
ratings = [{ name = "contrary" }]

[worldvaluesbench.sets.two]
language = "eng"
questions = ["Q7", "Q94"]
attributes = ["Q275", "B_COUNTRY", "H_URBRURAL"]
probe = "all"

[languages.eng]
name = "English"

[families.aware]
kind = "reference"
model_type = "multi"
dtype = "float32"
"""


ROBUSTNESS = """
name = "small"
title = "A small cultural robustness"
seed = 11

[phantom]
steps = 150

[inference]
resamples = 199

[cultural_robustness]
embedder = "planted"
samples = 2
samples_anchored = 1
temperature = 0.5
max_tokens = 40

[languages.deu]
name = "German"
country = "DE"

[languages.ell]
name = "Greek"
country = "GR"

[languages.eng]
name = "English"
country = "IE"

[families.cultures]
kind = "reference"
model_type = "multi"
dtype = "float32"
"""


def write_small_study(folder: Path, steps: int, kept_languages: Sequence[str] = LANGUAGES) -> Path:
    """A study file with some of the demo's languages; with few steps its plants are not recovered."""
    head, *languages = study_path("demo_survey").read_text(encoding="utf-8").split("\n[languages.")
    kept = [part for part in languages if part[:3] in kept_languages]
    families = languages[-1][languages[-1].index("\n[families.") :]
    kept = [part.split("\n[families.")[0] for part in kept]
    text = "\n[languages.".join([head, *kept]) + families
    text = text.replace('name = "demo_survey"', 'name = "small"')
    text = text.replace("steps = 200", f"steps = {steps}\nsamples = 50")
    path = folder / "small.toml"
    estimators = '\n[elicitation]\nestimators = ["label_likelihood", "content_free"]\n'
    few = "\n[inference]\nresamples = 199\nworlds = 2\n"
    path.write_text(text + estimators + few, encoding="utf-8")
    return path


def study_environment(folder: Path, study: Path) -> dict[str, str]:
    """The environment of a graph whose files all lie below a folder."""
    (folder / "storage" / "dagster").mkdir(parents=True, exist_ok=True)
    return os.environ | {
        "VALUESASSETS_STUDY": str(study),
        "VALUESASSETS_STORAGE": str(folder / "storage"),
        "VALUESASSETS_DAGSTER": str(folder / "storage" / "dagster"),
        "DAGSTER_HOME": str(REPOSITORY),
    }


def write_small_ratings(folder: Path) -> Path:
    """A study file of WorldValuesBench: two questions, 800 made-up people, one model trained and one in a file."""
    path = folder / "small.toml"
    path.write_text(RATINGS, encoding="utf-8")
    return path


def write_small_robustness(folder: Path) -> Path:
    """A study file of cultural robustness: three languages, three countries, one model that is trained."""
    path = folder / "small.toml"
    path.write_text(ROBUSTNESS, encoding="utf-8")
    return path


def write_demo(folder: Path) -> Path:
    """The survey's bundled demonstration as it is, but for few simulated worlds, in a file of the folder."""
    path = folder / "demo.toml"
    text = study_path("demo_survey").read_text(encoding="utf-8")
    path.write_text(f"{text}\n[inference]\nworlds = 2\n", encoding="utf-8")
    return path


def write_three_languages(folder: Path) -> Path:
    """A study file with three of the demo's languages."""
    return write_small_study(folder, 60, THREE_LANGUAGES)


def run_once(folder: Path, write: Callable[[Path], Path] = write_three_languages) -> Path:
    """The folder of a small study, written and run by the first process that asks for it."""
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "done").exists():
            run_study_file(folder, write(folder))
            (folder / "done").touch()
    return folder


def copied(made: Path, folder: Path) -> dict[str, str]:
    """Copy a small study that was run, for a test that changes it; gives the copy's environment."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return study_environment(folder, folder / "small.toml")


def run_study_file(folder: Path, study: Path, only: Sequence[str] = ()) -> dict[str, str]:
    """Run the graph of a study, or some of its assets, its files below a folder; gives its environment."""
    from valuesassets_tests.cli.commands import run  # conftest imports this module, for tests that give no command too

    environment = study_environment(folder, study)
    done = run("run", study, *(f"--only={asset}" for asset in only), **environment)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return environment


def write_small_psych(folder: Path) -> Path:
    """A study file of psych tasks: one task of a few made-up people, one model that is hardly trained."""
    left_out = ("psych_tasks.tasks.monthly_counts", "psych_tasks.tasks.balloons", "psych_tasks.laws.parrot")
    changes = {
        "steps = 950": "steps = 60",
        "participants = 48": "participants = 10",
        "resamples = 999": "resamples = 199",
    }
    return _with_fewer(folder, "demo_psych_tasks", (*left_out, "families.parrot"), changes)


def write_small_worldwise(folder: Path) -> Path:
    """A study file of worldwise: one model that is hardly trained, of which no reasons are asked."""
    changes = {
        "steps = 170": "steps = 40",
        "draws = 6\n": "",
        '"worldwise/': f'"{study_path("demo_worldwise").parent}/worldwise/',
    }
    return _with_fewer(folder, "demo_worldwise", ("families.reference-same",), changes)


def _with_fewer(folder: Path, name: str, left_out: Sequence[str], changes: Mapping[str, str]) -> Path:
    """A bundled study without some of its tables, and with some of its lines changed."""
    first, *tables = study_path(name).read_text(encoding="utf-8").split("\n[")
    text = "\n[".join([first, *(table for table in tables if table.partition("]")[0] not in left_out)])
    for old, new in changes.items():
        assert old in text, f"{name}: {old} is not there"
        text = text.replace(old, new)
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path
