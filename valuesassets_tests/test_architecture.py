import ast
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from valuesassets.cli.command_table import GROUPS, PROGRAM
from valuesassets.cli.groups import Entry
from valuesassets.orchestration.assets.declaring import NODE_ONLY
from valuesassets.orchestration.assets.survey.material import survey_assets
from valuesassets.orchestration.code_versions import homes
from valuesassets.records.study import load_study
from valuesassets_tests.needs import REPOSITORY

ENTRIES = [*PROGRAM.values(), *(entry for group in GROUPS.values() for entry in group.entries.values())]
PLACES = sorted({entry.place for entry in ENTRIES if isinstance(entry, Entry)})
"""Every command's module and function."""
ASSETS = sorted(asset.key.path[-1] for asset in survey_assets(load_study("demo_survey")))
LINTER = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]


@pytest.mark.parametrize("name", ASSETS)
def test_an_asset_is_derived_and_tested_in_the_file_of_its_name_or_the_shared_file_of_that_name(name):
    if name not in NODE_ONLY:
        (module,) = homes("valuesassets.instruments.survey", name)
        derived = Path(*module.split(".")).with_suffix(".py")
        assert (REPOSITORY / derived).is_file()
        tested = Path("valuesassets_tests", *derived.parts[1:]).with_name(f"test_{name}.py")
        assert (REPOSITORY / tested).is_file()


def test_the_graph_has_every_asset_of_the_architecture():
    assert set(ASSETS) == {
        "questionnaire_pdf",
        "extracted_questions",
        "master_questions",
        "aligned_questions",
        "trials",
        "reference_models",
        "sampled_answers",
        "negative_controls",
        "preflight",
        "readings",
        "probe_distributions",
        "calibration",
        "question_answers",
        "quality_report",
        "respondents",
        "human_distributions",
        "human_means",
        "item_statistics",
        "reliability",
        "signal",
        "simulated_worlds",
        "distances",
        "human_comparison",
        "mono_vs_multi",
        "position_bias",
        "cultural_map",
        "report",
        "replication_bundle",
    }


def test_a_study_without_reference_families_has_none_trained_and_calibrates_itself():
    names = {asset.key.path[-1] for asset in survey_assets(load_study("evs2017"))}
    assert not names & {"reference_models", "sampled_answers", "calibration", "negative_controls"}
    assert names - {"self_calibration"} < set(ASSETS)
    assert "self_calibration" in names - set(ASSETS)


def loaded_by(code: str) -> list[str]:
    """The modules that a fresh process has imported after some code, as the last line that it prints."""
    code += "; import sys; print(*sys.modules)"
    return (
        subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
        .stdout.splitlines()[-1]
        .split()
    )


@pytest.mark.slow
def test_the_graph_is_loaded_without_models_pictures_or_any_derivation():
    """The servers of the UI and every run load it, and pay for whatever is imported then."""
    loaded = loaded_by("from valuesassets.definitions import defs; defs().get_repository_def()")
    assert "valuesassets.orchestration.assets.survey.material" in loaded
    unwanted = ("torch", "transformers", "matplotlib", "scipy", "rich", "sqlalchemy", "valuesassets.instruments.survey")
    unwanted += ("valuesassets.comparing", "valuesassets.figures", "valuesassets.answers", "valuesassets.people")
    entries = {"valuesassets.instruments.survey.analyses"}
    assert not [name for name in {*loaded} - entries if name.startswith(tuple(f"{each}." for each in unwanted))]


@pytest.mark.slow
def test_all_tables_are_declared_without_what_measures():
    """Each run that writes a table has them declared."""
    loaded = loaded_by("from valuesassets.orchestration.instruments import declare_own_tables; declare_own_tables()")
    assert "valuesassets.instruments.cultural_robustness.tables" in loaded
    assert not {"scipy", "matplotlib", "torch", "valuesassets.measure"} & {*loaded}


HEAVY = {"pandas", "numpy", "pyarrow", "scipy", "matplotlib", "torch", "dagster", "requests"}


def test_the_command_line_imports_no_command_before_it_knows_which():
    loaded = loaded_by("from valuesassets.cli.app import app; from typer.main import get_command; get_command(app)")
    assert "valuesassets.cli.groups" in loaded
    assert not {*HEAVY, "pydantic", "rich", "valuesassets.records.study"} & {*loaded}
    assert not {place.partition(":")[0] for place in PLACES} & {*loaded}


def test_the_command_line_imports_no_frames_and_no_numbers_before_a_command_runs():
    loaded = loaded_by(f"import {', '.join({place.partition(':')[0] for place in PLACES})}")
    assert "valuesassets.cli.psych_tasks_read" in loaded
    assert not HEAVY & {*loaded}


@pytest.mark.slow
def test_the_pure_library_imports_without_dagster_or_torch():
    layers = ("records", "measure", "answers", "people", "comparing", "figures", "reporting", "remote", "instruments")
    pure = [
        path.relative_to(REPOSITORY).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        for layer in layers
        for path in (REPOSITORY / "valuesassets" / layer).rglob("*.py")
    ]
    assert len(pure) > 100
    # A finder that refuses, not a None in sys.modules: scipy looks there to see whether torch was imported.
    code = textwrap.dedent(
        f"""
        import gc, importlib, sys

        before = gc.get_threshold()

        class Refuse:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in ("dagster", "torch", "transformers"):
                    raise ImportError(name + " was imported")

        sys.meta_path.insert(0, Refuse())
        for name in {pure!r}:
            importlib.import_module(name)
        assert gc.get_threshold() == before  # how often garbage is looked for is for who imports a library to say
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_orchestration_keeps_its_annotations():
    for path in (REPOSITORY / "valuesassets" / "orchestration").rglob("*.py"):
        names = [n.names for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
        assert "annotations" not in {alias.name for aliases in names for alias in aliases}, path


BROKEN = [
    ("One way", "valuesassets/records/trials.py", "valuesassets.instruments.survey.trials.trials"),
    ("desk looks after Dagster", "valuesassets/desk/__init__.py", "valuesassets.measure.distances"),
    (
        "Instruments are independent",
        "valuesassets/instruments/toy/__init__.py",
        "valuesassets.instruments.survey.trials.trials",
    ),
    ("Dagster only where the graph is", "valuesassets/measure/distances.py", "dagster"),
    ("torch and transformers only where", "valuesassets/figures/style.py", "torch"),
    ("No pictures in the numeric core", "valuesassets/answers/orders.py", "matplotlib"),
    ("Dagster only where the graph is", "valuesassets/remote/keys.py", "dagster"),
    ("torch and transformers only where", "valuesassets/remote/cost.py", "torch"),
    ("No pictures in the numeric core", "valuesassets/remote/answer_cache.py", "matplotlib"),
    ("What is asked behind an API", "valuesassets/remote/client.py", "valuesassets.measure.distances"),
    ("The node runs models", "valuesassets/node/__main__.py", "valuesassets.answers.orders"),
    ("slurm_runner stands alone", "slurm_runner/__init__.py", "valuesassets.records.errors"),
    ("Stored numbers are computed again", "valuesassets_tests/recomputed/basics.py", "valuesassets.measure.distances"),
]
"""Contracts by the first words of their names, each with a module and an import that breaks it."""


@pytest.fixture(scope="module")
def linted(tmp_path_factory):
    """What the linter says of a copy of the sources: as they are, and after every contract was broken."""
    folder = tmp_path_factory.mktemp("linted")
    for part in ("valuesassets", "slurm_runner", "valuesassets_tests"):
        shutil.copytree(REPOSITORY / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "pyproject.toml", folder)
    sound = lint(folder)
    for _, module, imported in BROKEN:
        (folder / module).parent.mkdir(exist_ok=True)
        with open(folder / module, "a") as source:
            source.write(f"\nimport {imported}\n")
    broken = lint(folder)
    (folder / "valuesassets" / "helpers").mkdir()
    (folder / "valuesassets" / "helpers" / "__init__.py").touch()
    return sound, broken, lint(folder)


def lint(folder):
    return subprocess.run(LINTER, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("contract", "module", "imported"), BROKEN)
def test_breaking_a_contract_on_purpose_fails_the_linter(linted, contract, module, imported):
    sound, broken, _ = linted
    assert sound.returncode == 0, sound.stdout
    assert broken.returncode == 1
    (verdict,) = [line for line in broken.stdout.splitlines() if line.startswith(contract) and line.endswith("BROKEN")]
    said = broken.stdout.split(f"\n{verdict.removesuffix('BROKEN').rstrip()}\n", 1)[1]
    name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert f"{name} -> {imported}" in said


@pytest.mark.slow
def test_a_package_that_has_no_place_in_the_layers_fails_the_linter(linted):
    assert "helpers" not in linted[1].stdout
    assert linted[2].returncode == 1
    assert "valuesassets.helpers" in linted[2].stdout


def test_every_contract_is_broken_on_purpose():
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    unbroken = [each["name"] for each in contracts if not any(each["name"].startswith(name) for name, *_ in BROKEN)]
    assert unbroken == []
